import Foundation
import ModelSchema
import PredicateLanguage

/// The order that a fetch asks for, in memory: on cells where all keys are attributes, else on objects.
struct RowOrdering {
  private let _plan: FetchPlan

  init(_ plan: FetchPlan) { _plan = plan }

  /// Compares two Rows; nil when a key leads across a relationship.
  var bySlot: ((Row?, Row?) -> Int)? {
    var keys: [(slot: Int, term: FetchPlan.SortTerm)] = []
    for term in _plan.sort {
      guard term.keyPath.count == 1, let slot = _plan.layout.slot(named: term.keyPath[0]),
        _plan.layout.slots[slot].attribute != nil
      else { return nil }
      keys.append((slot, term))
    }
    return { left, right in
      for (slot, term) in keys {
        let verdict = Self.compare(left?[slot] ?? .null, right?[slot] ?? .null, term.comparison)
        if verdict != 0 { return term.ascending ? verdict : -verdict }
      }
      return 0
    }
  }

  /// Sorts objects by key paths.
  func sorted(_ objects: [NSManagedObject]) throws -> [NSManagedObject] {
    let keyed = try objects.enumerated().map { position, object in
      (position: position, object: object, keys: try _plan.sort.map { try Self.cell($0.keyPath, of: object) })
    }
    return keyed.sorted { left, right in
      for (index, term) in _plan.sort.enumerated() {
        let verdict = Self.compare(left.keys[index], right.keys[index], term.comparison)
        if verdict != 0 { return term.ascending ? verdict < 0 : verdict > 0 }
      }
      return left.position < right.position
    }.map(\.object)
  }

  /// The attribute cell at the end of a path over to-one relationships; null where a step is nil.
  static func cell(_ path: [String], of object: NSManagedObject) throws -> Value {
    var object = object
    for (index, step) in path.enumerated() {
      guard let slot = object._layout.slot(named: step) else {
        throw CocoaError.coreData(
          NSCoreDataError, "A sort descriptor names '\(path.joined(separator: "."))', but '\(object._layout.entityName)' has no "
            + "property '\(step)'.")
      }
      if index == path.count - 1 { return object.read(slot) }
      guard let relationship = object._layout.slots[slot].relationship, !relationship.isToMany else {
        throw CocoaError.coreData(
          NSCoreDataError, "A sort descriptor names '\(path.joined(separator: "."))', but '\(step)' is no to-one relationship.")
      }
      guard let next = object.toOne(slot) else { return .null }
      object = next
    }
    return .null
  }

  /// As the SQLite store orders: null first.
  static func compare(_ left: Value, _ right: Value, _ comparison: FetchPlan.SortTerm.Comparison) -> Int {
    switch (left.isNull, right.isNull) {
    case (true, true): return 0
    case (true, false): return -1
    case (false, true): return 1
    default: break
    }
    if comparison != .binary, case .string(let l) = left, case .string(let r) = right {
      return StringComparison.compare(l, r, comparison.ordering).rawValue
    }
    return Value.order(left, right) ?? 0
  }
}
