import CoreDataModelSchema
import CoreDataPredicateLanguage
import Foundation
import Synchronization

/// Adapts a custom store to the engine interface.
final class IncrementalStoreEngine: ManagedObjectStoring, @unchecked Sendable {
  // Unchecked: mutable state is guarded by `_turn`, which also serializes calls of the store. The store owns
  // this engine and outlives it.
  let spaces: [ObjectIDSpace]
  private unowned let _store: NSIncrementalStore
  private let _layouts: [PropertyLayout]
  /// Recursive: a store may read from itself while it executes a request.
  private let _turn = NSRecursiveLock()
  /// Versions of the objects read or saved.
  private var _versions: [ObjectKey: Int64] = [:]
  /// To-manys that were part of the objects' values.
  private var _members: [ObjectKey: [Int: [ObjectKey]]] = [:]
  /// Objects with permanent IDs that have not been saved: the store does not know them yet.
  private var _unsaved: Set<ObjectKey> = []
  /// Objects that were reported to the store as registered in a context.
  private var _shown: Set<ObjectKey> = []

  init(_ store: NSIncrementalStore, _ model: FrozenModel) {
    _store = store
    _layouts = model.layout.layouts
    spaces = zip(model.layout.layouts, model.entities).map {
      ObjectIDSpace(
        layout: $0, entity: $1, store: store.key, persistentStore: store, references: store.key.references)
    }
  }

  // MARK: Reading

  func fetch(_ plan: FetchPlan) throws -> [StoredObject] {
    let type: NSFetchRequestResultType =
      plan.content == .identity ? .managedObjectIDResultType : .managedObjectResultType
    return try _asking { context in
      let request = _request(plan, type)
      let answer = try _store.execute(request, with: context)
      let ids = try _ids(in: answer, for: "a fetch of '\(plan.layout.entityName)'")
      _recordShown(ids)
      return ids.compactMap { id in id.key.map { StoredObject(key: $0, row: nil) } }
    }
  }

  func count(_ plan: FetchPlan) throws -> Int {
    try _asking { context in
      switch try _store.execute(_request(plan, .countResultType), with: context) {
      case let number as NSNumber: return number.intValue
      case let number as Int: return number
      case let numbers as [NSNumber] where numbers.count == 1: return numbers[0].intValue
      case let numbers as [Int] where numbers.count == 1: return numbers[0]
      case let other:
        throw _unexpected(other, "a count of '\(plan.layout.entityName)'", "an array of one NSNumber")
      }
    }
  }

  func table(_ plan: DictionaryPlan) throws -> [[Value]] {
    let source = StoredObjectSource(
      fetch: { rows in
        let found = try self.fetch(rows)
        return try zip(found, self.rows(for: found.map(\.key))).map { StoredObject(key: $0.key, row: $1) }
      },
      rows: rows,
      related: { owner, slot in try self.related(to: [owner], slot: slot)[0] })
    return try DictionaryEvaluation(source: source, layouts: _layouts).table(plan)
  }

  func rows(for keys: [ObjectKey]) throws -> [Row?] {
    try _asking { context in try keys.map { try _row(for: $0, context) } }
  }

  func related(to owners: [ObjectKey], slot: Int) throws -> [[ObjectKey]] {
    try _asking { context in
      try owners.map { owner in
        if let known = _members[owner]?[slot] { return known }
        if _unsaved.contains(owner) { return [] }
        let answer = try _ask(slot, of: owner, context)
        return try _ids(in: answer, for: _name(slot, owner)).compactMap(\.key)
      }
    }
  }

  private func _row(for key: ObjectKey, _ context: NSManagedObjectContext) throws -> Row? {
    if _unsaved.contains(key) { return nil }
    let node: NSIncrementalStoreNode
    do {
      node = try _store.newValuesForObject(with: NSManagedObjectID(key), with: context)
    } catch  where (error as NSError).code == NSManagedObjectReferentialIntegrityError {
      return nil
    }
    let shape = key.space.entity.shape
    // A store that does not count versions must not return an older version than the one saved to it.
    let version = max(Int64(clamping: node.version), _versions[key] ?? 0)
    var row = Row(count: key.space.layout.slots.count, version: version)
    var members: [Int: [ObjectKey]] = [:]
    for slot in key.space.layout.slots.indices {
      guard let property = shape.properties[slot], !key.space.layout.slots[slot].isTransient else { continue }
      let value = node.value(for: property)
      if let coding = shape.codings[slot] {
        do {
          row.set(try coding.value(from: value), at: slot)
        } catch {
          throw CocoaError.coreData(
            NSCoreDataError, "The store of type '\(_store.type)' has handed out an \(error).")
        }
      } else if key.space.layout.slots[slot].isToMany {
        if let value { members[slot] = try _ids(in: value, for: _name(slot, key)).compactMap(\.key) }
      } else {
        let target = try value ?? _ask(slot, of: key, context)
        if let other = try _id(target, for: _name(slot, key))?.key { row.set(.reference(other), at: slot) }
      }
    }
    _versions[key] = version
    _members[key] = members.isEmpty ? nil : members
    return row
  }

  private func _ask(_ slot: Int, of owner: ObjectKey, _ context: NSManagedObjectContext) throws -> Any {
    guard let relationship = owner.space.entity.shape.properties[slot] as? NSRelationshipDescription else {
      return NSNull()
    }
    return try _store.newValue(
      forRelationship: relationship, forObjectWith: NSManagedObjectID(owner), with: context)
  }

  /// Calls the store with the context that is executing on this thread; on other threads, with a temporary
  /// one.
  private func _asking<T>(_ body: (NSManagedObjectContext) throws -> T) throws -> T {
    let coordinator = _store.persistentStoreCoordinator
    if let context = ContextQueue.current, context.persistentStoreCoordinator === coordinator {
      return try _turn.withLock { try CustomStoreError.marking { try body(context) } }
    }
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait {
      try _turn.withLock { try CustomStoreError.marking { try body(context) } }
    }
  }

  private func _request(
    _ plan: FetchPlan, _ type: NSFetchRequestResultType
  ) -> NSFetchRequest<any NSFetchRequestResult> {
    let request = NSFetchRequest<any NSFetchRequestResult>()
    request.entity = spaces[plan.layout.entityNumber - 1].entity
    request.predicate = plan.predicate?.predicate
    if !plan.sort.isEmpty {
      request.sortDescriptors = plan.sort.map { term in
        KeyedSortDescriptor(
          term.keyPath.joined(separator: "."), ascending: term.ascending, comparison: term.comparison)
      }
    }
    request.fetchLimit = plan.limit
    request.fetchOffset = plan.offset
    request.includesSubentities = plan.includesSubentities
    request.resultType = type
    return request
  }

  // MARK: The store's results

  private func _ids(in answer: Any, for what: String) throws -> [NSManagedObjectID] {
    let members: [Any]
    switch answer {
    case let set as Set<NSManagedObjectID>: return Array(set)
    case let ids as [NSManagedObjectID]: return ids
    case let array as [Any]: members = array
    case let array as NSArray: members = array.map { $0 }
    case let set as NSSet: members = set.allObjects
    case let set as NSOrderedSet: members = set.array
    case is NSNull: members = []
    default: throw _unexpected(answer, what, "an array of object IDs or managed objects")
    }
    return try members.compactMap { try _id($0, for: what) }
  }

  private func _id(_ answer: Any, for what: String) throws -> NSManagedObjectID? {
    switch answer {
    case let id as NSManagedObjectID: return id
    case let object as NSManagedObject: return object.objectID
    case is NSNull: return nil
    default: throw _unexpected(answer, what, "an NSManagedObjectID")
    }
  }

  private func _unexpected(_ answer: Any, _ what: String, _ wanted: String) -> CocoaError {
    CocoaError.coreData(
      NSCoreDataError,
      "The store of type '\(_store.type)' has answered \(what) with a \(type(of: answer)); it takes \(wanted)."
    )
  }

  private func _name(_ slot: Int, _ owner: ObjectKey) -> String {
    "\(owner.space.layout.entityName).\(owner.space.layout.slots[slot].name)"
  }

  // MARK: Writing

  func obtainPermanentIDs(for ids: [NSManagedObjectID], in context: NSManagedObjectContext) throws {
    try _turn.withLock {
      let objects = ids.map { context.registry.objectOrFault($0) }
      let permanent = try CustomStoreError.marking { try _store.obtainPermanentIDs(for: objects) }
      guard permanent.count == ids.count else {
        throw _unexpected(
          permanent, "obtainPermanentIDs(for:) for \(ids.count) objects, of \(permanent.count) IDs",
          "one for each")
      }
      for (id, permanent) in zip(ids, permanent) {
        id.link(to: permanent)
        if let key = id.key { _unsaved.insert(key) }
        context.adoptPermanentID(of: id)
      }
    }
  }

  func save(
    _ changes: ChangeSet, in context: NSManagedObjectContext, along others: () throws -> Void
  ) throws -> SaveOutcome {
    try _turn.withLock {
      try _check(changes)
      let unnamed = changes.inserted.map(\.id).filter { $0.key == nil }
      if !unnamed.isEmpty { try obtainPermanentIDs(for: unnamed, in: context) }
      try others()
      let request = changes.request(in: context)
      _ = try CustomStoreError.marking { try _store.execute(request, with: context) }
      for insertion in changes.inserted {
        guard let key = insertion.id.key else { continue }
        _versions[key] = insertion.row.version
        _unsaved.remove(key)
      }
      for update in changes.updated { update.id.key.map { _versions[$0] = update.row.version } }
      for deletion in changes.deleted { deletion.id.key.map { _versions[$0] = nil } }
      // Either end of a relationship may have changed.
      if !changes.isEmpty { _members = [:] }
      _recordShown(changes.inserted.compactMap { $0.id.permanent })
      return SaveOutcome()
    }
  }

  /// Checks the expected versions of a save against those last read or saved.
  private func _check(_ changes: ChangeSet) throws {
    func conflict(_ id: NSManagedObjectID, _ base: Row) throws -> VersionConflict? {
      guard let key = id.key, let known = _versions[key], known != base.version else { return nil }
      return VersionConflict(id: id, base: base, persisted: try rows(for: [key])[0])
    }
    let conflicts =
      try changes.updated.compactMap { try conflict($0.id, $0.base) }
      + changes.deleted.compactMap { try conflict($0.id, $0.base) }
      + changes.locked.compactMap { try conflict($0.id, $0.base) }
    if !conflicts.isEmpty { throw StoreConflictError(conflicts: conflicts) }
  }

  // MARK: Registered objects

  private func _recordShown(_ ids: [NSManagedObjectID]) {
    let new = ids.filter { id in id.key.map { _shown.insert($0).inserted } ?? false }
    if !new.isEmpty { _store.managedObjectContextDidRegisterObjects(with: new) }
  }

  func didUnregister(_ ids: [NSManagedObjectID]) {
    _turn.withLock {
      let shown = ids.filter { id in id.key.map { _shown.remove($0) != nil } ?? false }
      if !shown.isEmpty { _store.managedObjectContextDidUnregisterObjects(with: shown) }
    }
  }

  // MARK: Metadata

  var metadata: [String: Any] { _store.metadata ?? [:] }

  /// The store writes them in the save that follows.
  func setMetadata(_ metadata: [String: Any]) throws {}

  func close() {}
}
