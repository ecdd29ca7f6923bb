import CoreDataPredicateLanguage
import CoreDataSQLiteBinding
import Foundation

/// Collations that sort texts according to comparison selectors.
enum SQLCollations {
  static func name(_ comparison: FetchPlan.SortTerm.Comparison) -> String? {
    switch comparison {
    case .binary: nil
    case .caseInsensitive: "NSCollateNoCase"
    case .localized: "NSCollateLocaleSensitive"
    case .localizedCaseInsensitive: "NSCollateLocaleSensitiveNoCase"
    case .localizedStandard: "NSCollateFinderlike"
    }
  }

  /// Returns the suffix of a column in ORDER BY.
  static func clause(_ comparison: FetchPlan.SortTerm.Comparison) -> String {
    name(comparison).map { " COLLATE " + $0 } ?? ""
  }

  static func register(on connection: Connection) throws {
    for comparison: FetchPlan.SortTerm.Comparison in [
      .caseInsensitive, .localized, .localizedCaseInsensitive, .localizedStandard,
    ] {
      guard let name = name(comparison) else { continue }
      let ordering = _ordering(comparison)
      try connection.register(collation: name) { left, right in
        StringComparison.compare(left, right, ordering).rawValue
      }
    }
  }

  private static func _ordering(_ comparison: FetchPlan.SortTerm.Comparison) -> StringComparison.Ordering {
    switch comparison {
    case .binary: .binary
    case .caseInsensitive: .caseInsensitive
    case .localized: .localized
    case .localizedCaseInsensitive: .localizedCaseInsensitive
    case .localizedStandard: .localizedStandard
    }
  }
}
