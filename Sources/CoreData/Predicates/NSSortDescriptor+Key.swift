import Foundation
import PredicateLanguage

extension ClassCluster where Self: NSSortDescriptor {
  /// Makes a sort descriptor for a key path: numbers and dates by value, strings byte by byte, nil first.
  public init(key: String?, ascending: Bool) {
    self = Self.answer(KeyedSortDescriptor(key, ascending: ascending), "A sort descriptor by key")
  }

  /// Makes a sort descriptor for a key path that compares strings by a selector.
  ///
  /// A string, as there are no selectors here: `"compare:"`, `"caseInsensitiveCompare:"`,
  /// `"localizedCompare:"`, `"localizedCaseInsensitiveCompare:"` or `"localizedStandardCompare:"`. Traps for
  /// any other.
  public init(key: String?, ascending: Bool, selector: String?) {
    let descriptor = KeyedSortDescriptor(key, ascending: ascending, selector: selector)
    self = Self.answer(descriptor, "A sort descriptor by key")
  }

  /// Makes a sort descriptor for a key path whose values a closure compares, nil as NSNull. No store can
  /// translate it.
  public init(key: String?, ascending: Bool, comparator: @escaping Comparator) {
    let descriptor = KeyedSortDescriptor(key, ascending: ascending, custom: comparator)
    self = Self.answer(descriptor, "A sort descriptor by key")
  }
}

extension NSSortDescriptor {
  /// The key path; nil if it sorts by the objects themselves or by a Swift key path.
  public var key: String? { (self as? KeyedSortDescriptor)?.keyPathText }

  /// Selector that values are compared by; nil if a closure or a Swift key path decides. A string, as there
  /// are no selectors here.
  public var selector: String? { (self as? KeyedSortDescriptor)?.selectorName }

  /// What a store is asked: key path, direction and comparison.
  /// - Throws: `SortTermError` if the descriptor has no key or compares by a closure.
  func sortTerm() throws -> FetchPlan.SortTerm {
    guard let keyed = self as? KeyedSortDescriptor else {
      // Foundation's own, by a Swift key path. A closure of its own would not show, and is ignored.
      if type(of: keyPath).rootType is NSManagedObject.Type {
        return FetchPlan.SortTerm(keyPath: try KeyRecorder.path(of: keyPath), ascending: ascending, comparison: .binary)
      }
      throw SortTermError.noKey(description)
    }
    guard keyed.custom == nil else { throw SortTermError.closure(keyed.keyPathText ?? "self") }
    guard let text = keyed.keyPathText, let path = KeyPathText.components(text) else {
      throw SortTermError.noKey(keyed.keyPathText ?? "nil")
    }
    return FetchPlan.SortTerm(keyPath: path, ascending: ascending, comparison: keyed.comparison)
  }
}

/// Why a sort descriptor cannot be translated for a store.
enum SortTermError: Error, Hashable, CustomStringConvertible {
  case noKey(String)
  case closure(String)

  var description: String {
    switch self {
    case .noKey(let text): "A fetch is sorted by keys, and this sort descriptor has none: \(text)."
    case .closure(let key):
      "The sort descriptor for “\(key)” compares by a closure, which no store can carry out."
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
