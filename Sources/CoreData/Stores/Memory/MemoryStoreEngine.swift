import CoreDataModelSchema
import CoreDataPredicateLanguage
import Foundation
import Synchronization

/// An in-memory store. Evaluates predicates with Foundation's semantics; its contents are lost with it.
final class MemoryStoreEngine: StoreEngine {
  let spaces: [ObjectIDSpace]
  private let _layout: ModelLayout
  private let _tables: Mutex<MemoryTables>
  private let _metadata: Mutex<MetadataBox>

  private struct MetadataBox: @unchecked Sendable {
    // Unchecked: property list values, which are not mutated in place; the lock guards the whole.
    var values: [String: Any]
  }

  /// - Parameter references: The reference objects behind the keys of a custom store.
  init(
    _ model: FrozenModel, key: StoreKey, store: NSPersistentStore?, metadata: [String: Any],
    references: ObjectReferences? = nil
  ) {
    _layout = model.layout
    spaces = zip(model.layout.layouts, model.entities).map {
      ObjectIDSpace(layout: $0, entity: $1, store: key, persistentStore: store, references: references)
    }
    _tables = Mutex(MemoryTables())
    _metadata = Mutex(MetadataBox(values: metadata))
  }

  /// What contradicts itself in the store, for tests.
  var inconsistencies: [String] { _tables.withLock { $0.inconsistencies } }

  // MARK: Reading

  var evaluatesPredicates: Bool { true }

  func fetch(_ plan: FetchPlan) throws -> [StoredObject] {
    let test = SlotTest(plan)
    let pin = RowPin(plan, test)
    var isIndexed = false
    var found = try _tables.withLock { tables -> [(key: Int64, record: MemoryTables.Record)] in
      try tables.candidates(root: plan.layout.rootNumber, pin: pin).filter { candidate in
        let number = candidate.record.entityNumber
        guard
          plan.includesSubentities ? plan.layout.family.contains(number) : number == plan.layout.entityNumber
        else { return false }
        if let verdict = test.verdict(candidate.record.row) { return verdict }
        guard let predicate = plan.predicate else { return true }
        if !isIndexed { tables.indexMembers(namedIn: predicate, spaces) }
        isIndexed = true
        let subject = StoredSubject(
          key: ObjectKey(space: spaces[number - 1], reference: candidate.key),
          source: MemoryValues(tables: tables, spaces: spaces))
        var evaluator = PredicateEvaluator(subject)
        return try evaluator.matches(predicate)
      }
    }
    if !plan.sort.isEmpty { found = try _sorted(found, plan) }
    let rest = found.dropFirst(plan.offset)
    return (plan.limit > 0 ? rest.prefix(plan.limit) : rest).map { candidate in
      StoredObject(
        key: ObjectKey(space: spaces[candidate.record.entityNumber - 1], reference: candidate.key),
        row: plan.content == .identity ? nil : candidate.record.row)
    }
  }

  func count(_ plan: FetchPlan) throws -> Int {
    var plan = plan
    plan.content = .identity
    plan.sort = []
    return try fetch(plan).count
  }

  func rows(for keys: [ObjectKey]) throws -> [Row?] {
    _tables.withLock { tables in
      keys.map { tables.record(root: $0.space.layout.rootNumber, $0.reference)?.row }
    }
  }

  func related(to owners: [ObjectKey], slot: Int) throws -> [[ObjectKey]] {
    _tables.withLock { tables in
      if let owner = owners.first { tables.indexMembers(of: owner.space.layout, slot: slot, spaces) }
      return owners.map { tables.members(of: $0, slot: slot, spaces: spaces) }
    }
  }

  private func _sorted(
    _ found: [(key: Int64, record: MemoryTables.Record)], _ plan: FetchPlan
  ) throws -> [(key: Int64, record: MemoryTables.Record)] {
    try RowOrdering.check(plan.sort, of: plan.layout, in: _layout)
    let keyed = _tables.withLock { tables in
      found.map { candidate in
        let keys = plan.sort.map { term in
          term.keyPath.count == 1 && RowOrdering.namesTheObject(term.keyPath[0])
            ? .int(candidate.key) : tables.cell(term.keyPath, candidate.record, _layout)
        }
        return (candidate, keys)
      }
    }
    return keyed.enumerated().sorted { left, right in
      for (index, term) in plan.sort.enumerated() {
        let verdict = RowOrdering.compare(left.element.1[index], right.element.1[index], term.comparison)
        if verdict != 0 { return term.ascending ? verdict < 0 : verdict > 0 }
      }
      return left.offset < right.offset
    }.map(\.element.0)
  }

  // MARK: Writing

  func reserveKeys(_ counts: [Int: Int]) throws -> [Int: [Int64]] {
    _tables.withLock { tables in
      var result: [Int: [Int64]] = [:]
      for (number, count) in counts {
        result[number] = tables.reserve(count, root: spaces[number - 1].layout.rootNumber)
      }
      return result
    }
  }

  /// Returns rows whose version differs from the one that a save expects.
  func conflicts(in changes: ChangeSet) -> [VersionConflict] {
    _tables.withLock { $0.conflicts(in: changes) }
  }

  /// Executes a save on a copy of the tables. All inserted objects must have keys.
  func prepare(_ changes: ChangeSet) -> (tables: MemoryTables, followed: FollowedRules) {
    var tables = _tables.withLock { $0 }
    tables.write(changes)
    let followed = tables.followRules(of: changes, _layout, spaces)
    return (tables, followed)
  }

  /// Installs the tables of a prepared save. No other save may run in between.
  func install(_ tables: MemoryTables) { _tables.withLock { $0 = tables } }

  func save(_ changes: ChangeSet, along others: () throws -> Void) throws -> SaveOutcome {
    try _tables.withLock { tables in
      let conflicts = tables.conflicts(in: changes)
      guard conflicts.isEmpty else { throw StoreConflictError(conflicts: conflicts) }
      try others()
      for insertion in changes.inserted where insertion.id.key == nil {
        let number = insertion.id.space.layout.entityNumber
        let key = tables.reserve(1, root: insertion.id.space.layout.rootNumber)[0]
        insertion.id.link(to: NSManagedObjectID(ObjectKey(space: spaces[number - 1], reference: key)))
      }
      tables.write(changes)
      return SaveOutcome(followed: tables.followRules(of: changes, _layout, spaces))
    }
  }

  // MARK: Metadata

  var metadata: [String: Any] {
    get throws { _metadata.withLock { $0 }.values }
  }

  func setMetadata(_ metadata: [String: Any]) throws {
    let box = MetadataBox(values: metadata)
    _metadata.withLock { $0 = box }
  }

  func close() { _tables.withLock { $0 = MemoryTables() } }
}

/// The tables, read while their lock is held.
private struct MemoryValues: StoredValues {
  let tables: MemoryTables
  let spaces: [ObjectIDSpace]

  func row(for key: ObjectKey) -> Row? {
    tables.record(root: key.space.layout.rootNumber, key.reference)?.row
  }

  func members(of owner: ObjectKey, slot: Int) -> [ObjectKey] {
    tables.members(of: owner, slot: slot, spaces: spaces)
  }

  func concrete(_ key: ObjectKey) -> ObjectKey {
    guard let record = tables.record(root: key.space.layout.rootNumber, key.reference) else { return key }
    return ObjectKey(space: spaces[record.entityNumber - 1], reference: key.reference)
  }
}
