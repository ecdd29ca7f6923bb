import CoreData
import Foundation

/// Opens an untrusted file, reads all of it, and tries to change it: the result is data or errors.
package struct HostileRead {
  /// The contents, or the first error, in a few words.
  package private(set) var outcome = ""
  /// A violation of an invariant, in words; nil if there is none.
  package private(set) var failure: String?

  /// - Parameters:
  /// - url: The file; it must not change.
  /// - model: The model of the store from which the file was made; nil if there is none.
  package init(_ url: URL, model: NSManagedObjectModel?) throws {
    let copy = try StoreCopy(of: url)
    let before = try copy.contents()
    var parts: [String] = []
    do {
      let found = try NSManagedObjectModel.load(fromStoreAt: copy.url)
      parts.append("inside: \(Self._read(copy.url, found, isReadOnly: true))")
    } catch {
      parts.append("inside: \(Self._words(error))")
    }
    if let model { parts.append("given: \(Self._read(copy.url, model, isReadOnly: true))") }
    if try copy.contents() != before { failure = "reading changed the file" }
    if let model { parts.append("writing: \(Self._read(copy.url, model, isReadOnly: false))") }
    outcome = parts.joined(separator: "; ")
  }

  private static func _read(_ url: URL, _ model: NSManagedObjectModel, isReadOnly: Bool) -> String {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    do {
      let store = try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: url,
        options: [
          NSReadOnlyPersistentStoreOption: isReadOnly, NSIgnorePersistentStoreVersioningOption: true,
          NSPersistentStoreTimeoutOption: 2,
        ])
      defer { try? coordinator.remove(store) }
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator
      return context.performAndWait { isReadOnly ? _readAll(context, model) : _change(context, model) }
    } catch {
      return _words(error)
    }
  }

  /// Reads every property of every object, by every kind of access.
  private static func _readAll(_ context: NSManagedObjectContext, _ model: NSManagedObjectModel) -> String {
    var (count, errors) = (0, 0)
    for entity in model.entities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) {
      let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
      do {
        request.fetchLimit = 200
        let objects = try context.fetch(request)
        _ = try context.count(for: request)
        for object in objects {
          for name in entity.propertiesByName.keys
          where !(entity.propertiesByName[name] is NSFetchedPropertyDescription) {
            _ = object.value(forKey: name)
          }
          count += 1
        }
        request.sortDescriptors = entity.attributesByName.values.filter {
          !$0.isTransient && $0.attributeType == .stringAttributeType
        }
        .prefix(1).map { NSSortDescriptor(key: $0.name, ascending: true) }
        request.returnsObjectsAsFaults = false
        _ = try context.fetch(request)
      } catch {
        errors += 1
      }
    }
    return "\(count) objects, \(errors) errors"
  }

  /// Changes, inserts and deletes.
  private static func _change(_ context: NSManagedObjectContext, _ model: NSManagedObjectModel) -> String {
    var (saves, errors) = (0, 0)
    for entity in model.entities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }).prefix(6)
    where !entity.isAbstract {
      do {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
        request.fetchLimit = 3
        let objects = try context.fetch(request)
        if let first = objects.first,
          let name = entity.attributesByName.values.first(where: {
            $0.attributeType == .stringAttributeType && !$0.isTransient
              && !($0 is NSDerivedAttributeDescription)
          })?.name
        {
          first.setValue("changed", forKey: name)
        }
        if objects.count > 1 { context.delete(objects[1]) }
        _ = TrialObjects.make(entity, in: context)
        try context.save()
        saves += 1
      } catch {
        errors += 1
        context.rollback()
      }
    }
    return "\(saves) saves, \(errors) errors"
  }

  private static func _words(_ error: any Error) -> String {
    let error = error as NSError
    return "\(error.domain) \(error.code)"
  }
}
