import CoreDataPredicateLanguage
import Foundation

/// A sort descriptor for a textual key path. Immutable.
final class KeyedSortDescriptor: NSSortDescriptor {
  /// Nil: sorts by the objects themselves.
  let keyPathText: String?
  let comparison: FetchPlan.SortTerm.Comparison
  /// Replaces the default comparison, if set.
  let custom: Comparator?
  private let _path: [String]?

  init(
    _ key: String?, ascending: Bool, comparison: FetchPlan.SortTerm.Comparison = .binary,
    custom: Comparator? = nil
  ) {
    keyPathText = key
    self.comparison = comparison
    self.custom = custom
    if let key, key != "self" {
      guard let path = KeyPathText.components(key) else {
        programmerError("NSInvalidArgumentException: “\(key)” is not a key path to sort by.")
      }
      _path = path
    } else {
      _path = nil
    }
    // Foundation supports only Swift key paths; pass one that is never used, since `compare` is overridden.
    super.init(keyPath: \Any.self, ascending: ascending, comparator: custom ?? { _, _ in .orderedSame })
  }

  convenience init(_ key: String?, ascending: Bool, selector: String?) {
    let name = selector ?? "compare:"
    guard let comparison = FetchPlan.SortTerm.Comparison.all.first(where: { $0.selectorName == name }) else {
      let known = FetchPlan.SortTerm.Comparison.all.map(\.selectorName).joined(separator: ", ")
      programmerError(
        "NSInvalidArgumentException: sorting by “\(name)” is not possible; known are \(known).")
    }
    self.init(key, ascending: ascending, comparison: comparison)
  }

  var selectorName: String? { custom == nil ? comparison.selectorName : nil }

  /// Compares two objects. Traps if their values have no order, where Core Data raises.
  override func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
    do {
      let (left, right) = (try _value(of: object1), try _value(of: object2))
      let result =
        if let custom { custom(left.any ?? NSNull(), right.any ?? NSNull()) } else {
          try left.sorted(against: right, comparison.ordering)
        }
      if ascending || result == .orderedSame { return result }
      return result == .orderedAscending ? .orderedDescending : .orderedAscending
    } catch {
      programmerError(
        "NSInvalidArgumentException: sorting by “\(keyPathText ?? "self")” is not possible: \(error)")
    }
  }

  private func _value(of object: Any) throws -> PredicateValue {
    let subject = ObjectSubject(object)
    guard let _path else { return subject.predicateValue }
    return try ExpressionTree.keyPath(_path).value(for: subject)
  }

  override var reversedSortDescriptor: Any {
    KeyedSortDescriptor(keyPathText, ascending: !ascending, comparison: comparison, custom: custom)
  }

  override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? KeyedSortDescriptor else { return false }
    if self === other { return true }
    return keyPathText == other.keyPathText && ascending == other.ascending && comparison == other.comparison
      && custom == nil && other.custom == nil
  }

  override var hash: Int {
    var hasher = Hasher()
    hasher.combine(keyPathText)
    hasher.combine(ascending)
    return hasher.finalize()
  }

  override var description: String {
    "(\(keyPathText ?? "self"), \(ascending ? "ascending" : "descending"), \(selectorName ?? "closure"))"
  }
}
