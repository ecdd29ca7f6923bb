import CoreDataPredicateLanguage
import Foundation

extension ClassCluster where Self: NSSortDescriptor {
  /// Makes a sort descriptor for a key path: numbers and dates by value, strings byte by byte, nil first.
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

  /// Makes a sort descriptor for a key path that compares strings by a selector.
  ///
  /// A string, as there are no selectors here: `"compare:"`, `"caseInsensitiveCompare:"`,
  /// `"localizedCompare:"`, `"localizedCaseInsensitiveCompare:"` or `"localizedStandardCompare:"`. Traps for
  /// any other.
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

  /// Makes a sort descriptor for a key path whose values a closure compares, nil as NSNull. No store can
  /// translate it.
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

/// Tells the order that Foundation gives a sort descriptor by a Swift key path from one that a closure of the
/// caller's decides: the former is always the same function. Nothing in the interface of `NSSortDescriptor`
/// says so; a test holds it.
enum NaturalOrder {
  private struct Stored {
    let comparator: Comparator
  }

  static func isThat(of descriptor: NSSortDescriptor) -> Bool {
    _function(of: descriptor.comparator) == _natural
  }

  private static let _natural = _function(
    of: NSSortDescriptor(keyPath: \String.count, ascending: true).comparator)

  /// Address of a closure's code. Inside a structure, so that the closure is looked at as it is.
  private static func _function(of comparator: @escaping Comparator) -> UInt {
    withUnsafeBytes(of: Stored(comparator: comparator)) { $0.load(as: UInt.self) }
  }
}

extension NSSortDescriptor {
  /// The key path; nil if it sorts by the objects themselves or by a Swift key path.
  public var key: String? { (self as? KeyedSortDescriptor)?.keyPathText }

  /// Selector that values are compared by; nil if a closure or a Swift key path decides. A string, as there
  /// are no selectors here.
  public var selector: String? { (self as? KeyedSortDescriptor)?.selectorName }
}

/// Why a sort descriptor cannot be translated for a store.
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
  /// Selector by which Core Data knows the comparison.
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

  /// The same for comparing strings in memory.
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
