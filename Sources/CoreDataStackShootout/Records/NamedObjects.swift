import CoreData

/// The objects of an import to which later records lead by the names that their store gives them: by ID once they are saved.
final class NamedObjects: @unchecked Sendable {
  // Unchecked: used on the importing context's queue only.
  private let _wanted: Set<Int>
  private var _ids: [Int: NSManagedObjectID] = [:]
  private var _unsaved: [Int: NSManagedObject] = [:]

  /// - Parameter wanted: The numbers of the names that records use.
  init(_ wanted: Set<Int>) { _wanted = wanted }

  /// Begins an import.
  func reset() { (_ids, _unsaved) = ([:], [:]) }

  func note(_ object: NSManagedObject, as name: Int) {
    if _wanted.contains(name) { _unsaved[name] = object }
  }

  func object(_ name: Int, in context: NSManagedObjectContext) throws -> NSManagedObject {
    if let object = _unsaved[name] { return object }
    guard let id = _ids[name] else {
      throw StoreCheck.Failure(description: "a record leads to an object that no record before it makes")
    }
    return context.object(with: id)
  }

  /// Has the new objects' IDs last beyond the save of a child context, after which they are still temporary.
  func willSave(in context: NSManagedObjectContext) throws {
    guard context.parent != nil, !_unsaved.isEmpty else { return }
    try context.obtainPermanentIDs(for: Array(_unsaved.values))
  }

  /// Lets go of the objects that the last save has stored.
  func saved() {
    for (name, object) in _unsaved { _ids[name] = object.objectID }
    _unsaved = [:]
  }
}
