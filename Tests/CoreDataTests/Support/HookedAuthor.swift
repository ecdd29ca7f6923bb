import CoreData
import Foundation

/// An author that records every hook called, and lets a test act inside some.
final class HookedAuthor: NSManagedObject {
  var events: [String] = []
  var inWillSave: ((HookedAuthor) -> Void)?
  var inDidSave: ((HookedAuthor) -> Void)?

  override func awakeFromInsert() { events.append("awakeFromInsert age \(value(forKey: "age") ?? "nil")") }
  override func awakeFromFetch() { events.append("awakeFromFetch") }
  override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
    events.append("snapshot \(flags.rawValue)")
  }
  override func prepareForDeletion() { events.append("prepareForDeletion books \(objects("books").count)") }
  override func willTurnIntoFault() { events.append("willTurnIntoFault") }
  override func didTurnIntoFault() { events.append("didTurnIntoFault") }
  override func didSave() {
    events.append("didSave")
    inDidSave?(self)
  }
  override func willSave() {
    events.append(isDeleted ? "willSave deleted" : "willSave")
    inWillSave?(self)
  }

  /// The library with authors of this class.
  static func model() -> NSManagedObjectModel {
    let model = LibraryModel.make()
    model.entitiesByName["Author"]!.managedObjectClassName = NSStringFromClass(HookedAuthor.self)
    return model
  }
}

extension NSManagedObjectContext {
  /// Inserts an author that records its hooks.
  func hookedAuthor(_ name: String) -> HookedAuthor { insert("Author", ["name": name]) as! HookedAuthor }

  /// Returns the author of this name.
  func author(named name: String) throws -> NSManagedObject? {
    try all("Author", where: NSPredicate(format: "name == %@", name)).first
  }
}
