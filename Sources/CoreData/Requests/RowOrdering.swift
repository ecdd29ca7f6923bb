import CoreDataModelSchema
import CoreDataPredicateLanguage
import Foundation

/// The order of a fetch, in memory: on cells if all keys are attributes, otherwise on objects.
struct RowOrdering {
  let plan: FetchPlan

  init(_ plan: FetchPlan) { self.plan = plan }

  /// Compares two Rows; nil if a key crosses a relationship.
  var bySlot: ((Row?, Row?) -> Int)? {
    var keys: [(slot: Int, term: FetchPlan.SortTerm)] = []
    for term in plan.sort {
      guard term.keyPath.count == 1, let slot = plan.layout.slot(named: term.keyPath[0]),
        plan.layout.slots[slot].isAttribute
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

  /// Whether a key refers to the object itself.
  static func namesTheObject(_ key: String) -> Bool { key == "self" || key == "SELF" || key == "objectID" }

  /// Returns a cell that can be ordered: a to-one is ordered by its primary key.
  static func orderable(_ value: Value) -> Value {
    switch value {
    case .reference(let key): .int(key.reference)
    case .pending(let id): place(of: id.canonical)
    default: value
    }
  }

  /// Returns an object's sort cell: by primary key, unsaved ones last.
  static func place(of id: NSManagedObjectID) -> Value { .int(id.key?.reference ?? .max) }

  /// Compares as the SQLite store does: null first.
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
    switch (left, right) {
    case (.uuid(let l), .uuid(let r)):
      return withUnsafeBytes(of: l.uuid) { l in withUnsafeBytes(of: r.uuid) { _order($0, l) } }
    case (.data(let l), .data(let r)): return l.withUnsafeBytes { l in r.withUnsafeBytes { _order($0, l) } }
    default: return Value.order(left, right) ?? 0
    }
  }

  private static func _order(_ right: UnsafeRawBufferPointer, _ left: UnsafeRawBufferPointer) -> Int {
    if left.elementsEqual(right) { return 0 }
    return left.lexicographicallyPrecedes(right) ? -1 : 1
  }

  /// Checks that sort keys follow to-one relationships to a property, as SQL requires.
  static func check(_ terms: [FetchPlan.SortTerm], of layout: PropertyLayout, in model: ModelLayout) throws {
    for term in terms {
      func problem(_ reason: String) -> CocoaError {
        CocoaError.coreData(
          NSCoreDataError,
          "A fetch of '\(layout.entityName)' cannot be sorted by '\(term.keyPath.joined(separator: "."))': \(reason)."
        )
      }
      var place = layout
      for (index, key) in term.keyPath.enumerated() {
        let isLast = index == term.keyPath.count - 1
        if isLast, namesTheObject(key) { break }
        guard let slot = place.slot(named: key) else {
          throw problem("keypath \(key) not found in entity \(place.entityName)")
        }
        guard let relationship = place.slots[slot].relationship else {
          if case .attribute(let attribute) = place.slots[slot].kind,
            isLast || attribute.hasElement(at: term.keyPath[(index + 1)...])
          {
            break
          }
          throw problem("the attribute '\(key)' has no property '\(term.keyPath[index + 1])'")
        }
        if relationship.isToMany { throw problem("to-many key not allowed here") }
        place = model.layout(numbered: relationship.destination)
      }
    }
  }
}
