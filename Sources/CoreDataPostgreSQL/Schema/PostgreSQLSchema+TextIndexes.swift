import CoreData
import CoreDataModelSchema

/// Indexes on folded text, which an attribute's user info requests.
enum PostgreSQLTextIndex: String, CaseIterable {
  /// For `==[cd]`, `BEGINSWITH[cd]` and comparisons with `[cd]`.
  case folded
  /// For `CONTAINS[cd]`, with the extension `pg_trgm`.
  case trigram

  /// Key in the user info of an attribute: names of indexes, separated by commas.
  static let userInfoKey = "postgresql.index"

  /// Returns the indexes that a user info requests.
  static func asked(in userInfo: [String: String]) -> Set<PostgreSQLTextIndex> {
    let words = userInfo[userInfoKey]?.split { !$0.isLetter } ?? []
    return Set(words.compactMap { PostgreSQLTextIndex(rawValue: String($0)) })
  }
}

extension PostgreSQLSchema {
  /// Creates the extension for trigrams if it is available. Otherwise the index is omitted, and its queries
  /// scan the table.
  private static let _extension = """
    DO 'BEGIN CREATE EXTENSION IF NOT EXISTS pg_trgm; EXCEPTION WHEN insufficient_privilege OR undefined_file OR \
    feature_not_supported THEN NULL; END'
    """

  var textIndexes: [String] { textIndexes(of: Set(mapping.tables.map(\.name))) }

  /// Returns the statements for some of the tables.
  func textIndexes(of tables: Set<String>) -> [String] {
    var result: [String] = []
    for layout in mapping.layout.layouts {
      let table = mapping.table(of: layout.entityNumber)
      guard tables.contains(table.name) else { continue }
      for slot in layout.slots.indices where layout.slots[slot].owner == layout.entityNumber {
        guard let attribute = layout.slots[slot].attribute,
          case .attribute(let column) = mapping.storage(of: slot, in: layout.entityNumber),
          table.columns[column].content == .string
        else { continue }
        let folded = "\(quotedSchema).fold_cd(\(table.columns[column].name))"
        let asked = PostgreSQLTextIndex.asked(in: attribute.traits.userInfo)
        if asked.contains(.folded) { result.append("CREATE INDEX ON \(table.name) (\(folded))") }
        if asked.contains(.trigram) {
          result.append(Self._extension)
          // The extension may be installed in any schema.
          let start = PostgreSQLNames.literal("CREATE INDEX ON \(table.name) USING gin (\(folded) ")
          let body = """
            DECLARE place text := (SELECT pg_catalog.quote_ident(n.nspname) FROM pg_catalog.pg_extension e \
            JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_trgm'); \
            BEGIN IF place IS NOT NULL THEN EXECUTE \(start) || place || '.gin_trgm_ops)'; END IF; END
            """
          result.append("DO \(PostgreSQLNames.literal(body))")
        }
      }
    }
    return result
  }
}
