import CoreDataPostgreSQLBinding

/// The source of the case rules in the server's functions.
enum PostgreSQLCaseRules: Sendable {
  /// The server's ICU library.
  case icu
  /// Tables of this package's Unicode version, written into the functions. For servers built without ICU;
  /// slower.
  case tables

  /// The collation of ICU's root locale, which every server with ICU has.
  static let collation = "und-x-icu"

  /// Returns the rules that a server supports.
  init(of connection: PostgreSQLConnection) throws {
    var parameters = PostgreSQLParameters()
    parameters.add(Self.collation)
    let found = try connection.run(
      "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_collation WHERE collname = $1::text AND collprovider = 'i')",
      parameters, isRepeated: false)
    self = found.int64(0, 0) != 0 ? .icu : .tables
  }

  /// Returns whether the functions of a schema follow other rules: a database may come from a server with ICU.
  ///
  /// Functions with tables stay on a server with ICU, since indexes depend on them.
  func areNew(in schema: String, on connection: PostgreSQLConnection) throws -> Bool {
    guard case .tables = self else { return false }
    var parameters = PostgreSQLParameters()
    parameters.add(schema)
    parameters.add(Self.collation)
    let found = try connection.run(
      """
      SELECT EXISTS (SELECT 1 FROM \(PostgreSQLCatalog.functions) \
      WHERE p.proname = 'upper_case' AND pg_catalog.strpos(p.prosrc, $2::text) > 0)
      """, parameters, isRepeated: false)
    return found.int64(0, 0) != 0
  }

  // MARK: Expressions

  private static let _icu = "COLLATE \"\(collation)\""

  /// Returns SQL for the text `t` in folded case, not decomposed.
  var folded: String {
    switch self {
    case .icu:
      // The dotless i has a capital in Turkish only, and ICU makes ς of a Σ at the end of a word.
      """
      pg_catalog.translate(pg_catalog.replace(pg_catalog.lower(pg_catalog.upper(pg_catalog.lower(pg_catalog.translate(t, U&'\\0131', U&'\\+10FFFE') \(Self._icu)) \(Self._icu)) \
      \(Self._icu)), U&'\\03C2', U&'\\03C3'), U&'\\+10FFFE', U&'\\0131')
      """
    case .tables: Self._folded
    }
  }

  /// Returns SQL for the text `t` with a collation whose rules say what a letter is in a regular expression. Without
  /// ICU the database's own: "C" knows the letters of ASCII only.
  var spelled: String {
    switch self {
    case .icu: "t \(Self._icu)"
    case .tables: "t COLLATE \"default\""
    }
  }

  /// Returns SQL for the text `t` in upper case.
  var uppercased: String {
    switch self {
    case .icu: "pg_catalog.upper(t \(Self._icu))"
    case .tables: Self._uppercased
    }
  }

  /// Returns SQL for the text `t` in lower case.
  var lowercased: String {
    switch self {
    // ICU lowercases a final Σ to ς; Swift does not.
    case .icu: "pg_catalog.lower(pg_catalog.translate(t, U&'\\03A3', U&'\\03C3') \(Self._icu))"
    case .tables: Self._lowercased
    }
  }

  // MARK: Tables

  // All letters are looked at, once in a program.

  private static let _folded = _mapped { scalar in
    // As `FoldedText` does.
    if scalar.value == 0x131 { return "\u{131}" }
    let upper = scalar.properties.lowercaseMapping.unicodeScalars.map(\.properties.uppercaseMapping).joined()
    return upper.unicodeScalars.map(\.properties.lowercaseMapping).joined()
  }
  private static let _uppercased = _mapped(\.properties.uppercaseMapping)
  private static let _lowercased = _mapped(\.properties.lowercaseMapping)

  /// Letters are mapped by alphabet, since the server searches a table from its start: Latin; Greek, Cyrillic
  /// and Armenian; Georgian to rare Latin; the rest.
  private static let _alphabets: [ClosedRange<UInt32>] = [
    0x80...0x2FF, 0x300...0x58F, 0x590...0x1FFF, 0x2000...0x1FFFF,
  ]

  /// Returns SQL that maps each scalar of the text `t`.
  private static func _mapped(_ map: (Unicode.Scalar) -> String) -> String {
    let ascii = (UInt32(0x41)...0x7A).filter { map(Unicode.Scalar($0)!) != String(Unicode.Scalar($0)!) }
    var result =
      "pg_catalog.translate(t, \(_literal(ascii)), \(_literal(ascii.map { map(Unicode.Scalar($0)!) })))"
    for alphabet in _alphabets {
      var (single, several): ([(UInt32, String)], [(UInt32, String)]) = ([], [])
      for scalar in alphabet.lazy.compactMap(Unicode.Scalar.init)
      where scalar.properties.changesWhenCaseMapped {
        let mapped = map(scalar)
        if mapped.unicodeScalars.elementsEqual([scalar]) { continue }
        if mapped.unicodeScalars.count == 1 {
          single.append((scalar.value, mapped))
        } else {
          several.append((scalar.value, mapped))
        }
      }
      let all = ScalarRanges((single + several).map(\.0).sorted())
      var mapped = "t"
      for (value, text) in several {
        mapped = "pg_catalog.replace(\(mapped), \(_literal([value])), \(_literal([text])))"
      }
      mapped = "pg_catalog.translate(\(mapped), \(_literal(single.map(\.0))), \(_literal(single.map(\.1))))"
      // OFFSET 0 keeps the server from repeating the expression of the alphabet before.
      result = """
        (SELECT CASE WHEN t ~ U&'[\(all.bracketed(escape))]' THEN \(mapped) ELSE t END \
        FROM (SELECT \(result) AS t OFFSET 0) AS a)
        """
    }
    return result
  }

  private static func _literal(_ values: [UInt32]) -> String { "U&'\(values.map(escape).joined())'" }

  private static func _literal(_ texts: [String]) -> String {
    _literal(texts.flatMap { $0.unicodeScalars.map(\.value) })
  }

  /// Returns a scalar for a Unicode literal.
  static func escape(_ value: UInt32) -> String {
    let digits = String(value, radix: 16, uppercase: true)
    return "\\+" + String(repeating: "0", count: 6 - digits.count) + digits
  }
}
