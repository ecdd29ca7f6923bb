import CoreDataModelSchema
import Foundation

/// Keeps the objects of an `NSAtomicStore` in memory and updates its nodes with each save.
final class AtomicStoreEngine: ManagedObjectStoring, @unchecked Sendable {
  // Unchecked: the tables have their own lock; the store's methods are called only under `_turn`. The store
  // owns this engine and outlives it.
  private unowned let _store: NSAtomicStore
  private let _memory: MemoryStoreEngine
  /// Recursive: updating a node may read relationships, which enters the engine again.
  private let _turn = NSRecursiveLock()

  init(_ store: NSAtomicStore, _ model: FrozenModel) {
    _store = store
    _memory = MemoryStoreEngine(
      model, key: store.key, store: store, metadata: [:], references: store.key.references)
  }

  /// Adopts the nodes that the store has loaded.
  ///
  /// - Throws: A Cocoa error for values that do not fit the model.
  func adopt(_ nodes: Set<NSAtomicStoreCacheNode>) throws {
    var changes = ChangeSet()
    var places: [ObjectKey: Int] = [:]
    for node in nodes.ordered(by: { ($0.objectID.key?.reference ?? 0) < ($1.objectID.key?.reference ?? 0) }) {
      guard let key = node.objectID.key else { continue }
      places[key] = changes.inserted.count
      changes.inserted.append(ChangeSet.Insertion(id: NSManagedObjectID(key), row: try _row(node, key)))
    }
    _setHiddenToOnes(in: &changes, places)
    _ = try _memory.save(changes)
  }

  /// Points the members of to-manys without inverse at their owner. No property of their nodes does.
  private func _setHiddenToOnes(in changes: inout ChangeSet, _ places: [ObjectKey: Int]) {
    for owner in changes.inserted {
      guard let key = owner.id.key else { continue }
      for slot in key.space.layout.toManySlots {
        guard case .toMany(let delta) = owner.row[slot],
          let inverse = key.space.layout.slots[slot].relationship?.inverseSlot
        else { continue }
        for member in delta.added.compactMap(\.key) where member.space.layout.slots[inverse].isHidden {
          guard let place = places[member] else { continue }
          var row = changes.inserted[place].row
          row.set(.reference(key), at: inverse)
          changes.inserted[place] = ChangeSet.Insertion(id: changes.inserted[place].id, row: row)
        }
      }
    }
  }

  private func _row(_ node: NSAtomicStoreCacheNode, _ key: ObjectKey) throws -> Row {
    let layout = key.space.layout
    let shape = key.space.entity.shape
    var row = Row(count: layout.slots.count, version: 1)
    for slot in layout.slots.indices where !layout.slots[slot].isTransient {
      guard let property = shape.properties[slot], let value = node.value(forKey: property.name) else {
        continue
      }
      if let coding = shape.codings[slot] {
        do {
          row.set(try coding.value(from: value), at: slot)
        } catch {
          throw CocoaError.coreData(
            NSCoreDataError, "The store at \(_store.url?.path ?? "?") has loaded an \(error).")
        }
      } else if layout.slots[slot].isToMany {
        let members = try _nodes(value, property.name, key).map(\.objectID)
        let order = layout.slots[slot].relationship!.isOrdered ? members : nil
        row.set(.toMany(ToManyDelta(added: members, removed: [], order: order)), at: slot)
      } else if let target = try _nodes(value, property.name, key).first?.objectID.key {
        row.set(.reference(target), at: slot)
      }
    }
    return row
  }

  private func _nodes(_ value: Any, _ name: String, _ key: ObjectKey) throws -> [NSAtomicStoreCacheNode] {
    switch value {
    case let node as NSAtomicStoreCacheNode: return [node]
    case let nodes as Set<NSAtomicStoreCacheNode>: return Array(nodes)
    case let nodes as [NSAtomicStoreCacheNode]: return nodes
    case let nodes as NSOrderedSet: if let found = nodes.array as? [NSAtomicStoreCacheNode] { return found }
    case let nodes as NSSet: if let found = nodes.allObjects as? [NSAtomicStoreCacheNode] { return found }
    default: break
    }
    throw CocoaError.coreData(
      NSCoreDataError,
      "The store at \(_store.url?.path ?? "?") has loaded a \(type(of: value)) for \(key.space.layout.entityName).\(name); "
        + "a relationship's value is a node or a set of nodes.")
  }

  // MARK: Reading

  var spaces: [ObjectIDSpace] { _memory.spaces }
  var evaluatesPredicates: Bool { true }

  func fetch(_ plan: FetchPlan) throws -> [StoredObject] { try _memory.fetch(plan) }
  func count(_ plan: FetchPlan) throws -> Int { try _memory.count(plan) }
  func table(_ plan: DictionaryPlan) throws -> [[Value]] { try _memory.table(plan) }
  func rows(for keys: [ObjectKey]) throws -> [Row?] { try _memory.rows(for: keys) }
  func related(to owners: [ObjectKey], slot: Int) throws -> [[ObjectKey]] {
    try _memory.related(to: owners, slot: slot)
  }

  // MARK: Writing

  func obtainPermanentIDs(for ids: [NSManagedObjectID], in context: NSManagedObjectContext) throws {
    _turn.withLock {
      for id in ids where id.permanent == nil {
        let reference = _store.newReferenceObject(for: context.registry.objectOrFault(id))
        id.link(to: _store.objectID(for: id.entity, withReferenceObject: reference))
        context.adoptPermanentID(of: id)
      }
    }
  }

  func save(
    _ changes: ChangeSet, in context: NSManagedObjectContext, along others: () throws -> Void
  ) throws -> SaveOutcome {
    try _turn.withLock {
      let conflicts = _memory.conflicts(in: changes)
      guard conflicts.isEmpty else { throw StoreConflictError(conflicts: conflicts) }
      try obtainPermanentIDs(for: changes.inserted.map(\.id), in: context)
      try others()
      let (tables, followed) = _memory.prepare(changes)
      let neighbours = try _neighbours(of: followed)
      let before = NodesBefore(changes, followed, neighbours.map(\.node), in: _store)
      let new = changes.inserted.map { _store.newCacheNode(for: context.registry.objectOrFault($0.id)) }
      if !new.isEmpty { _store.addCacheNodes(Set(new)) }
      for update in changes.updated {
        guard let node = _store.cacheNode(for: update.id) else { continue }
        _store.updateCacheNode(node, from: context.registry.objectOrFault(update.id))
      }
      _follow(followed, neighbours)
      let gone = changes.deleted.map(\.id) + followed.deleted.map { NSManagedObjectID($0) }
      let deleted = gone.compactMap { _store.cacheNode(for: $0) }
      if !deleted.isEmpty {
        _store.willRemoveCacheNodes(Set(deleted))
        _store.dropCacheNodes(deleted.compactMap(\.objectID.key))
      }
      do {
        try CustomStoreError.marking { try _store.save() }
      } catch {
        before.restore()
        throw error
      }
      _memory.install(tables)
      return SaveOutcome(followed: followed)
    }
  }

  /// A relationship of a node that refers to deleted nodes.
  private typealias Neighbour = (node: NSAtomicStoreCacheNode, name: String)

  /// Returns the relationships that refer to the rows that rules cascade to.
  private func _neighbours(of followed: FollowedRules) throws -> [Neighbour] {
    var result: [Neighbour] = []
    for (key, row) in zip(followed.deleted, try rows(for: followed.deleted)) {
      let layout = key.space.layout
      for (slot, description) in layout.slots.enumerated() {
        guard let relationship = description.relationship, let inverse = relationship.inverseSlot else {
          continue
        }
        let targets =
          relationship.isToMany
          ? (relationship.isManyToMany ? try related(to: [key], slot: slot)[0] : [])
          : (row?[slot].key).map { [$0] } ?? []
        for target in targets {
          guard let node = _store.cacheNode(for: NSManagedObjectID(target)) else { continue }
          result.append((node, target.space.layout.slots[inverse].name))
        }
      }
    }
    return result
  }

  /// Applies the changes that delete rules make beyond a save to the nodes. Leaves nodes whose relationships
  /// the store keeps in its own form to the store.
  private func _follow(_ followed: FollowedRules, _ neighbours: [Neighbour]) {
    for cut in followed.cut {
      let node = _store.cacheNode(for: NSManagedObjectID(cut.key))
      cut.slots.forEach { node?.setValue(nil, forKey: cut.key.space.layout.slots[$0].name) }
    }
    let gone = Set(followed.deleted)
    func isGone(_ node: NSAtomicStoreCacheNode) -> Bool { node.objectID.key.map(gone.contains) ?? false }
    for (node, name) in neighbours {
      switch node.value(forKey: name) {
      case let other as NSAtomicStoreCacheNode: if isGone(other) { node.setValue(nil, forKey: name) }
      case let others as Set<NSAtomicStoreCacheNode>:
        node.setValue(others.filter { !isGone($0) }, forKey: name)
      case let others as [NSAtomicStoreCacheNode]: node.setValue(others.filter { !isGone($0) }, forKey: name)
      case let others as NSOrderedSet:
        guard let nodes = others.array as? [NSAtomicStoreCacheNode] else { continue }
        node.setValue(NSOrderedSet(array: nodes.filter { !isGone($0) }), forKey: name)
      default: continue
      }
    }
  }

  /// The nodes before a save, to restore them when the file cannot be written.
  private struct NodesBefore {
    private let _store: NSAtomicStore
    private let _inserted: [ObjectKey]
    private let _values: [(node: NSAtomicStoreCacheNode, values: NSMutableDictionary?)]

    init(
      _ changes: ChangeSet, _ followed: FollowedRules, _ others: [NSAtomicStoreCacheNode],
      in store: NSAtomicStore
    ) {
      _store = store
      _inserted = changes.inserted.compactMap(\.id.key)
      let rules = (followed.cut.map(\.key) + followed.deleted).map { NSManagedObjectID($0) }
      let nodes = (changes.updated.map(\.id) + changes.deleted.map(\.id) + rules).compactMap(store.cacheNode)
      _values = (nodes + others).map { ($0, $0.propertyCache?.mutableCopy() as? NSMutableDictionary) }
    }

    func restore() {
      _store.dropCacheNodes(_inserted)
      for (node, values) in _values { node.propertyCache = values }
      _store.addCacheNodes(Set(_values.map(\.node)))
    }
  }

  // MARK: Metadata

  var metadata: [String: Any] { _store.metadata ?? [:] }

  /// The store writes them in the save that follows.
  func setMetadata(_ metadata: [String: Any]) throws {}

  func close() { _memory.close() }
}
