import CoreData
import Foundation

/// Records each call of its methods, in the manager's user information.
final class NotingPolicy: NSEntityMigrationPolicy {
  private func note(_ what: String, _ mapping: NSEntityMapping, _ manager: NSMigrationManager) {
    var notes = manager.userInfo?["notes"] as? [String] ?? []
    notes.append("\(what) \(mapping.name ?? "")")
    manager.userInfo = (manager.userInfo ?? [:]).merging(["notes": notes]) { $1 }
  }

  override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
    note("begin", mapping, manager)
  }

  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    note("create", mapping, manager)
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
  }

  override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
    note("created", mapping, manager)
  }

  override func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    note("relate", mapping, manager)
    try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
  }

  override func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager)
    throws
  {
    note("related", mapping, manager)
  }

  override func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager)
    throws
  {
    note("validate", mapping, manager)
  }

  override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {
    note("end", mapping, manager)
  }
}

/// Keeps books of more than 300 pages, and creates two of each.
final class SplittingPolicy: NSEntityMigrationPolicy {
  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    guard (sInstance.value(forKey: "pages") as? Int ?? 0) > 300 else { return }
    for part in 1...2 {
      let work = NSEntityDescription.insertNewObject(forEntityName: "Work", into: manager.destinationContext)
      work.setValue("\(sInstance.value(forKey: "title") as? String ?? "") \(part)", forKey: "title")
      manager.associate(sourceInstance: sInstance, withDestinationInstance: work, for: mapping)
    }
  }
}

/// Creates one house before any author, where other mappings can find it.
final class SharingPolicy: NSEntityMigrationPolicy {
  override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
    let house = NSEntityDescription.insertNewObject(forEntityName: "House", into: manager.destinationContext)
    house.setValue("Murray", forKey: "name")
    manager.userInfo = ["house": house]
  }

  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    let house = manager.userInfo?["house"] as? NSManagedObject
    let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance])
    made.first?.setValue(house?.value(forKey: "name"), forKey: "initial")
  }
}

/// Implements a function that a mapping's expression calls.
final class AnsweringPolicy: NSEntityMigrationPolicy, SelectorPerforming {
  func perform(_ selector: String, with arguments: [Any?]) throws -> Any? {
    guard selector == "initialOf:", let name = arguments.first as? String else { return nil }
    return name.prefix(1).uppercased()
  }
}

/// Implements a function that a mapping's expression calls on the manager.
final class AnsweringManager: NSMigrationManager, SelectorPerforming {
  func perform(_ selector: String, with arguments: [Any?]) throws -> Any? {
    guard selector == "initialOf:", let name = arguments.first as? String else { return nil }
    return name.prefix(1).uppercased()
  }
}

/// Fails at the step named in the mapping's user information.
final class FailingPolicy: NSEntityMigrationPolicy {
  struct Failure: Error, Equatable { let place: String }

  private func fail(_ place: String, _ mapping: NSEntityMapping) throws {
    if mapping.userInfo?["fails"] as? String == place { throw Failure(place: place) }
  }

  override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
    try fail("creation", mapping)
  }

  override func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager)
    throws
  {
    try fail("relationships", mapping)
  }

  override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {
    try fail("end", mapping)
  }
}

/// Cancels the migration from inside, as another thread would.
final class CancellingPolicy: NSEntityMigrationPolicy {
  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    manager.cancelMigrationWithError(CocoaError(CocoaError.Code(rawValue: NSMigrationCancelledError)))
  }
}

/// Inspects the manager while objects are created.
final class WatchingPolicy: NSEntityMigrationPolicy {
  override func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
    var info = manager.userInfo ?? [:]
    info["progress"] = (info["progress"] as? [Float] ?? []) + [manager.migrationProgress]
    info["mapping"] = manager.currentEntityMapping.name
    info["classes"] = (info["classes"] as? [String] ?? []) + [String(describing: type(of: dInstance))]
    manager.userInfo = info
  }
}
