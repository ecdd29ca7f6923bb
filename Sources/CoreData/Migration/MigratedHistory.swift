import CoreDataModelSchema

/// Carries a store's history over to the store that a mapping model has made of it.
///
/// Changes follow the objects that policies have associated, and their properties, by name or renaming
/// identifier. A deletion stays, with a key that no object has; other changes of objects without an
/// associated one are left out, as are changes of entities that no mapping maps.
struct MigratedHistory {
  /// An entity of the source and one of the destination, by number.
  private struct _Pair: Hashable {
    let old: Int
    let new: Int
  }

  /// Transactions that are written at once.
  private static let _portion = 200

  private let _source: any HistoryKeeping
  private let _destination: any HistoryKeeping
  private let _matching: SchemaMatching
  private let _objects: MigratedObjects
  /// Entity numbers in the destination by those in the source, of deleted objects.
  private let _successors: [Int: Int]
  /// New slot by old slot, of the properties that two entities have in common.
  private var _slots: [_Pair: [Int: Int]] = [:]

  init(
    from source: any HistoryKeeping, to destination: any HistoryKeeping, _ matching: SchemaMatching,
    _ objects: MigratedObjects, mappings: [NSEntityMapping]
  ) {
    _source = source
    _destination = destination
    _matching = matching
    _objects = objects
    let old = Self._numbers(source), new = Self._numbers(destination)
    _successors = Dictionary(
      mappings.compactMap { mapping in
        guard let number = mapping.sourceEntityName.flatMap({ old[$0] }),
          let successor = mapping.destinationEntityName.flatMap({ new[$0] })
        else { return nil }
        return (number, successor)
      }, uniquingKeysWith: { first, _ in first })
  }

  private static func _numbers(_ engine: any HistoryKeeping) -> [String: Int] {
    Dictionary(
      engine.spaces.map { ($0.layout.entityName, $0.layout.entityNumber) },
      uniquingKeysWith: { first, _ in first })
  }

  mutating func run() throws {
    var query = HistoryQuery()
    query.includesChanges = false
    let numbers = try _source.history(query, isWanted: { _ in true }, isChangeWanted: { _ in true }).map(
      \.number)
    query.includesChanges = true
    var next = 0
    while next < numbers.count {
      let end = min(numbers.count, next + Self._portion)
      query.through = numbers[end - 1]
      var found = try _source.history(query, isWanted: { _ in true }, isChangeWanted: { _ in true })
      let keys = try _reservedKeys(for: found)
      for index in found.indices { found[index].changes = _carried(found[index].changes ?? [], keys) }
      try _destination.appendHistory(found)
      query.after = numbers[end - 1]
      next = end
    }
  }

  /// Returns a key for each deleted object, so that none finds an object of the destination.
  private func _reservedKeys(for transactions: [HistoryTransactionRecord]) throws -> [ObjectKey: ObjectKey] {
    var deleted: [Int: [ObjectKey]] = [:]
    for change in transactions.lazy.flatMap({ $0.changes ?? [] }) where change.kind == .delete {
      guard let successor = _successors[change.key.space.layout.entityNumber] else { continue }
      deleted[successor, default: []].append(change.key)
    }
    if deleted.isEmpty { return [:] }
    let reserved = try _destination.reserveKeys(deleted.mapValues(\.count))
    var keys: [ObjectKey: ObjectKey] = [:]
    for (number, old) in deleted {
      let space = _destination.spaces[number - 1]
      for (key, reference) in zip(old, reserved[number] ?? []) {
        keys[key] = ObjectKey(space: space, reference: reference)
      }
    }
    return keys
  }

  private mutating func _carried(
    _ changes: [HistoryChangeRecord], _ deleted: [ObjectKey: ObjectKey]
  ) -> [HistoryChangeRecord] {
    var carried: [HistoryChangeRecord] = []
    for change in changes {
      let keys =
        change.kind == .delete ? [deleted[change.key]].compactMap(\.self) : _successors(of: change.key)
      for key in keys {
        let slots = _commonSlots(change.key.space.layout, key.space.layout)
        carried.append(
          HistoryChangeRecord(
            number: change.number, kind: change.kind, key: key, slots: change.slots.compactMap { slots[$0] },
            tombstone: Dictionary(
              change.tombstone.compactMap { slot, value in slots[slot].map { ($0, value) } },
              uniquingKeysWith: { first, _ in first })))
      }
    }
    return carried
  }

  private func _successors(of key: ObjectKey) -> [ObjectKey] {
    _objects.successors(of: key).map {
      ObjectKey(space: _destination.spaces[$0.entity - 1], reference: $0.reference)
    }
  }

  private mutating func _commonSlots(_ old: PropertyLayout, _ new: PropertyLayout) -> [Int: Int] {
    let pair = _Pair(old: old.entityNumber, new: new.entityNumber)
    if let known = _slots[pair] { return known }
    let attributes = _matching.attributeSources(of: new.entityName, from: old.entityName)
    let relationships = _matching.relationshipSources(of: new.entityName, from: old.entityName)
    var slots: [Int: Int] = [:]
    for (name, former) in attributes.map({ ($0, $1.property.traits.name) })
      + relationships.map({ ($0, $1.property.traits.name) })
    {
      if let slot = new.slot(named: name), let before = old.slot(named: former) { slots[before] = slot }
    }
    _slots[pair] = slots
    return slots
  }
}

/// The stored objects that policies have associated.
struct MigratedObjects {
  private var _successors: [ObjectKey: [(entity: Int, reference: Int64)]] = [:]

  /// Call it once the destination's objects are saved.
  init(_ associations: MigrationAssociations) {
    for (source, destinations) in associations.all {
      guard let key = source.objectID.key else { continue }
      _successors[key] = destinations.compactMap { destination in
        destination.isDeleted
          ? nil : destination.objectID.key.map { ($0.space.layout.entityNumber, $0.reference) }
      }
    }
  }

  /// Returns entity number and key in the destination.
  func successors(of key: ObjectKey) -> [(entity: Int, reference: Int64)] { _successors[key] ?? [] }
}
