import CoreData
import CoreDataModelSchema
import CoreDataStoreTools
import CoreDataToolKit
import Foundation

/// Unsaved changes, to be reviewed and saved or discarded: one context for all pages of the explorer.
final class EditSession: @unchecked Sendable {
  // Unchecked: the context, its undo manager and `_drafts` are used in blocks of the context's queue only.

  /// An object that a form edits: a stored or a new one.
  enum Target: Sendable, Hashable {
    case stored(entity: String, key: Int64)
    /// A new object, by its number in the session.
    case draft(Int)
  }

  /// The reasons why a change is rejected, by property.
  struct Refusal: Error, Sendable {
    /// Messages by property; general ones under "".
    var messages: [String: [String]]
  }

  /// The object does not exist.
  struct Missing: Error, Sendable {}

  let author: String
  let layout: ModelLayout
  let coordinator: NSPersistentStoreCoordinator
  private let _context: NSManagedObjectContext
  private let _undo = UndoManager()
  private let _identifier: String
  private var _drafts: [NSManagedObject] = []
  /// Retained so that the context keeps the values that a form has shown, and detects when the store's
  /// differ.
  private var _held: Set<NSManagedObject> = []

  /// Opens the store for writing.
  ///
  /// - Throws: `ToolFailure`.
  init(_ store: ExploredStore, author: String) throws(ToolFailure) {
    try store.model.expectExact(store.name)
    guard store.model.differences == nil else {
      throw ToolFailure(
        .badInput,
        "'\(store.name)' was written with another version of the model, so it cannot be edited by this one. Leave out '--model', or "
          + "give the version that it was written with.")
    }
    self.author = author
    layout = store.layout
    do {
      coordinator = NSPersistentStoreCoordinator(
        managedObjectModel: try StoreFileFacts.managedObjectModel(store.model.schema))
      let opened = try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: store.path),
        options: [
          NSPersistentStoreTimeoutOption: 5.0, NSMigratePersistentStoresAutomaticallyOption: false,
          // A store that has a history continues to record it.
          NSPersistentHistoryTrackingKey: Self._keepsHistory(store.path),
        ])
      guard !opened.isReadOnly else {
        throw ToolFailure(
          .badInput, "'\(store.name)' may not be written. Change its permissions, or leave out '--edit'.")
      }
      _identifier = opened.identifier ?? ""
    } catch {
      throw StoreInput.failure(error, store.path)
    }
    _context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    _context.persistentStoreCoordinator = coordinator
    _context.mergePolicy = NSMergePolicy.error
    _context.transactionAuthor = author
    _undo.groupsByEvent = false
    _context.undoManager = _undo
  }

  private static func _keepsHistory(_ path: String) -> Bool {
    let found = try? StoreFileFacts.open(path: path).firstValue(
      "SELECT 1 FROM sqlite_master WHERE name = 'ATRANSACTION'")
    return (found ?? nil) != nil
  }

  // MARK: Objects

  private func _object(_ target: Target) throws -> NSManagedObject {
    switch target {
    case .draft(let number):
      guard _drafts.indices.contains(number), _drafts[number].managedObjectContext != nil,
        !_drafts[number].isDeleted
      else {
        throw Missing()
      }
      return _drafts[number]
    case .stored(let entity, let key):
      let allowed = CharacterSet.urlPathAllowed.subtracting(CharacterSet(charactersIn: "/"))
      guard let name = entity.addingPercentEncoding(withAllowedCharacters: allowed),
        let url = URL(string: "x-coredata://\(_identifier)/\(name)/p\(key)"),
        let id = coordinator.managedObjectID(forURIRepresentation: url),
        let object = try? _context.existingObject(with: id)
      else { throw Missing() }
      return object
    }
  }

  /// Returns the target that refers to an object.
  private func _target(_ object: NSManagedObject) -> Target {
    if object.objectID.isTemporaryID, let number = _drafts.firstIndex(of: object) { return .draft(number) }
    return .stored(entity: object.entity.name ?? "", key: TableKeys.key(object.objectID) ?? 0)
  }

  /// The values of an object's form.
  ///
  /// - Throws: `Missing`.
  func form(_ target: Target) throws -> EditForm {
    try _context.performAndWait {
      let object = try _object(target)
      // An unchanged object shows the stored values.
      if !object.hasChanges, !object.objectID.isTemporaryID { _context.refresh(object, mergeChanges: true) }
      _held.insert(object)
      return EditForm(object, target, layout, name: _name)
    }
  }

  /// The form of a new object.
  func form(ofNew entity: PropertyLayout) -> EditForm { EditForm(new: entity, layout) }

  private func _name(_ object: NSManagedObject) -> String {
    switch _target(object) {
    case .draft(let number): "new \(number + 1)"
    case .stored(let entity, let key): "\(entity)/p\(key)"
    }
  }

  /// The object that a form names: `Author/p3`, `new 2`.
  private func _named(_ text: String, _ destination: PropertyLayout) -> NSManagedObject? {
    let target: Target?
    if text.hasPrefix("new "), let number = Int(text.dropFirst(4)) {
      target = .draft(number - 1)
    } else if let slash = text.range(of: "/p", options: .backwards),
      let key = Int64(text[slash.upperBound...])
    {
      target = .stored(entity: String(text[..<slash.lowerBound]), key: key)
    } else {
      target = Int64(text).map { .stored(entity: destination.entityName, key: $0) }
    }
    guard let target, let object = try? _object(target),
      let layout = object.entity.name.flatMap({ layout.layoutsByName[$0] }), layout.isKind(of: destination)
    else { return nil }
    return object
  }

  // MARK: Changes

  /// Runs changes as one undo step; rolls them back if they are rejected.
  private func _step<Result>(_ name: String, _ body: () throws -> Result) throws -> Result {
    _undo.beginUndoGrouping()
    do {
      let result = try body()
      _context.processPendingChanges()
      _undo.setActionName(name)
      _undo.endUndoGrouping()
      return result
    } catch {
      _context.processPendingChanges()
      _undo.endUndoGrouping()
      _undo.undoNestedGroup()
      _context.processPendingChanges()
      throw error
    }
  }

  /// Applies a submitted form.
  ///
  /// - Throws: `Refusal`, `Missing`.
  func change(_ target: Target, _ entries: [EditForm.Entry]) throws {
    try _context.performAndWait {
      let object = try _object(target)
      try _step("change of \(_name(object))") {
        try _apply(entries, to: object)
        try Self._validating {
          try object.objectID.isTemporaryID ? object.validateForInsert() : object.validateForUpdate()
        }
      }
      _held.insert(object)
    }
  }

  /// Creates an object from a submitted form.
  ///
  /// - Throws: `Refusal`.
  func insert(_ entity: PropertyLayout, _ entries: [EditForm.Entry]) throws {
    try _context.performAndWait {
      try _step("new \(entity.entityName)") {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity.entityName, into: _context)
        _drafts.append(object)
        try _apply(entries, to: object)
        try Self._validating { try object.validateForInsert() }
      }
    }
  }

  /// Deletes an object, if its relationships allow it.
  ///
  /// - Throws: `Refusal`, `Missing`.
  func delete(_ target: Target) throws {
    try _context.performAndWait {
      let object = try _object(target)
      _held.insert(object)
      try _step("deletion of \(_name(object))") {
        try Self._validating { try object.validateForDelete() }
        _context.delete(object)
      }
    }
  }

  private func _apply(_ entries: [EditForm.Entry], to object: NSManagedObject) throws {
    guard let entity = object.entity.name.flatMap({ layout.layoutsByName[$0] }) else { throw Missing() }
    var refusal = Refusal(messages: [:])
    for entry in entries {
      guard let slot = entity.slot(named: entry.name) else { continue }
      do {
        // Set only the fields that the user changed; the others may have changed in the store meanwhile.
        let current = EditForm.text(object, entity.slots[slot], _name)
        guard entry.text != entry.base else { continue }
        if current != entry.base, current != entry.text {
          throw EditForm.Problem(
            "has changed meanwhile, to \(current.map { "'\($0)'" } ?? "nil"). Look at it, and enter your value again"
          )
        }
        let value = try EditForm.value(entry.text, entity.slots[slot], layout) { _named($0, $1) }
        object.setValue(value, forKey: entry.name)
      } catch {
        refusal.messages[entry.name, default: []].append("\(error)")
      }
    }
    guard refusal.messages.isEmpty else { throw refusal }
  }

  /// Translates validation errors to messages by property.
  private static func _validating(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch {
      throw refusal(error)
    }
  }

  static func refusal(_ error: any Error) -> Refusal {
    let cocoa = error as NSError
    let all = cocoa.userInfo[NSDetailedErrorsKey] as? [any Error] ?? [error]
    var refusal = Refusal(messages: [:])
    for error in all {
      let detail = error as NSError
      let key = detail.userInfo[NSValidationKeyErrorKey] as? String ?? ""
      refusal.messages[key, default: []].append(error.debugText)
    }
    return refusal
  }

  // MARK: All changes

  /// Number of objects that are new, changed or deleted.
  var changeCount: Int {
    _context.performAndWait {
      _context.insertedObjects.count + _context.updatedObjects.count + _context.deletedObjects.count
    }
  }

  /// Returns all changes as a save would write them.
  func changes() -> EditChanges {
    _context.performAndWait {
      var objects: [EditChanges.Object] = []
      func add(_ found: Set<NSManagedObject>, _ kind: EditChanges.Kind) {
        for object in found.sorted(by: { _name($0).localizedStandardCompare(_name($1)) == .orderedAscending })
        {
          objects.append(
            EditChanges.Object(object, kind, _target(object), name: _name(object), layout, _name))
        }
      }
      add(_context.insertedObjects, .inserted)
      add(_context.updatedObjects.filter { $0.hasPersistentChangedValues }, .updated)
      add(_context.deletedObjects, .deleted)
      return EditChanges(
        objects: objects, undo: _undo.canUndo ? _undo.undoActionName : nil,
        redo: _undo.canRedo ? _undo.redoActionName : nil)
    }
  }

  func undo() {
    _context.performAndWait {
      if _undo.canUndo { _undo.undo() }
      _context.processPendingChanges()
    }
  }

  func redo() {
    _context.performAndWait {
      if _undo.canRedo { _undo.redo() }
      _context.processPendingChanges()
    }
  }

  /// Drops all changes.
  func discard() {
    _context.performAndWait {
      _context.rollback()
      _forget()
    }
  }

  private func _forget() {
    _undo.removeAllActions()
    _drafts = []
    _held = []
    _context.reset()
  }

  /// How a save resolves conflicts with the store.
  enum Settlement: String, Sendable {
    /// The save fails and reports the conflicts.
    case none
    case mine
    case theirs
  }

  /// Saves all changes in one transaction.
  ///
  /// - Throws: `EditConflicts` if the store's objects have changed, `Refusal`, a Cocoa error.
  func save(_ settlement: Settlement) throws {
    try _context.performAndWait {
      switch settlement {
      case .none: _context.mergePolicy = NSMergePolicy.error
      case .mine: _context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      case .theirs: _context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
      }
      defer { _context.mergePolicy = NSMergePolicy.error }
      do {
        try _context.save()
        _forget()
      } catch {
        if let conflicts = EditConflicts(error, layout, _name) { throw conflicts }
        if (1550...1699).contains((error as NSError).code) { throw Self.refusal(error) }
        throw error
      }
    }
  }
}
