import CoreDataPredicateLanguage
import Foundation

extension ClassCluster where Self: NSSortDescriptor {
  /// Creates a sort descriptor for a key path: numbers and dates by value, strings byte by byte, nil first.
  ///
  /// ```swift
  /// request.sortDescriptors = [
  ///   NSSortDescriptor(key: "author.name", ascending: true),
  ///   NSSortDescriptor(key: "published", ascending: false),
  /// ]
  /// ```
  public init(key: String?, ascending: Bool) {
    self = Self.answer(KeyedSortDescriptor(key, ascending: ascending), "A sort descriptor by key")
  }

  /// Creates a sort descriptor for a key path that compares strings by a selector.
  ///
  /// The selector is a string, since this platform has no selectors: `"compare:"`,
  /// `"caseInsensitiveCompare:"`, `"localizedCompare:"`, `"localizedCaseInsensitiveCompare:"` or
  /// `"localizedStandardCompare:"`. Traps for any other.
  ///
  /// ```swift
  /// request.sortDescriptors = [
  ///   NSSortDescriptor(key: "title", ascending: true, selector: "localizedStandardCompare:")
  /// ]
  /// ```
  public init(key: String?, ascending: Bool, selector: String?) {
    let descriptor = KeyedSortDescriptor(key, ascending: ascending, selector: selector)
    self = Self.answer(descriptor, "A sort descriptor by key")
  }

  /// Creates a sort descriptor for a key path that compares values by a closure, with nil as NSNull. Stores
  /// cannot translate it.
  ///
  /// ```swift
  /// let byLength = NSSortDescriptor(key: "title", ascending: true) { left, right in
  ///   let (left, right) = ((left as? String)?.count ?? 0, (right as? String)?.count ?? 0)
  ///   return left < right ? .orderedAscending : left > right ? .orderedDescending : .orderedSame
  /// }
  /// let sorted = try context.fetch(request).sorted { byLength.compare($0, to: $1) == .orderedAscending }
  /// ```
  public init(key: String?, ascending: Bool, comparator: @escaping Comparator) {
    let descriptor = KeyedSortDescriptor(key, ascending: ascending, custom: comparator)
    self = Self.answer(descriptor, "A sort descriptor by key")
  }
}

/// Detects whether a sort descriptor by Swift key path has Foundation's natural order or a caller's closure.
/// The former is always the same function. `NSSortDescriptor` has no API for this; a test verifies it.
enum NaturalOrder {
  private struct Stored {
    let comparator: Comparator
  }

  static func isThat(of descriptor: NSSortDescriptor) -> Bool {
    _function(of: descriptor.comparator) == _natural
  }

  private static let _natural = _function(
    of: NSSortDescriptor(keyPath: \String.count, ascending: true).comparator)

  /// Returns the code address of a closure. Wrapped in a structure, so that the closure is not re-abstracted.
  private static func _function(of comparator: @escaping Comparator) -> UInt {
    withUnsafeBytes(of: Stored(comparator: comparator)) { $0.load(as: UInt.self) }
  }
}

extension NSSortDescriptor {
  /// The key path; nil for sorting by the objects themselves or by a Swift key path.
  public var key: String? { (self as? KeyedSortDescriptor)?.keyPathText }

  /// The selector that compares values; nil for a closure or a Swift key path. A string, since this platform
  /// has no selectors.
  public var selector: String? { (self as? KeyedSortDescriptor)?.selectorName }
}

/// The reason why a sort descriptor cannot be translated for a store.
enum SortTermError: Error, Hashable, CustomStringConvertible {
  case noKey(String)
  case closure(String)

  var description: String {
    switch self {
    case .noKey(let text): "A fetch is sorted by keys, and this sort descriptor has none: \(text)."
    case .closure(let key):
      "The sort descriptor for “\(key)” compares by a closure: unsupported NSSortDescriptor (comparator blocks are not "
        + "supported). Sort by a selector such as localizedStandardCompare:, or sort what was fetched."
    }
  }
}

extension FetchPlan.SortTerm.Comparison {
  /// Core Data's selector for the comparison.
  var selectorName: String {
    switch self {
    case .binary: "compare:"
    case .caseInsensitive: "caseInsensitiveCompare:"
    case .localized: "localizedCompare:"
    case .localizedCaseInsensitive: "localizedCaseInsensitiveCompare:"
    case .localizedStandard: "localizedStandardCompare:"
    }
  }

  static let all: [Self] = [
    .binary, .caseInsensitive, .localized, .localizedCaseInsensitive, .localizedStandard,
  ]

  /// The equivalent string comparison in memory.
  var ordering: StringComparison.Ordering {
    switch self {
    case .binary: .binary
    case .caseInsensitive: .caseInsensitive
    case .localized: .localized
    case .localizedCaseInsensitive: .localizedCaseInsensitive
    case .localizedStandard: .localizedStandard
    }
  }
}
