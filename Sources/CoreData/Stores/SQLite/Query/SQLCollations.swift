import SQLiteBinding

/// Collations by which texts are sorted as their comparison selectors say.
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

  /// What follows a column in ORDER BY.
  static func clause(_ comparison: FetchPlan.SortTerm.Comparison) -> String {
    name(comparison).map { " COLLATE " + $0 } ?? ""
  }

  static func register(on connection: Connection) throws {
    for comparison: FetchPlan.SortTerm.Comparison in [
      .caseInsensitive, .localized, .localizedCaseInsensitive, .localizedStandard,
    ] {
      guard let name = name(comparison) else { continue }
      try connection.register(collation: name) { left, right in
        StringSemantics.current.order(
          String(decoding: left, as: UTF8.self), String(decoding: right, as: UTF8.self), comparison)
      }
    }
  }
}
