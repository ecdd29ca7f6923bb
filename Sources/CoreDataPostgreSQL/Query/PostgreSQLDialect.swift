import CoreData
import CoreDataPredicateLanguage

/// How PostgreSQL spells a query, with the functions of `PostgreSQLFunctions`.
///
/// A question mark stands for a parameter until `PostgreSQLQuery` numbers it. A question mark before a letter
/// in braces stands for a list of values, whose kind the letter names.
struct PostgreSQLDialect: SQLDialect {
  let schema: String
  private let _s: String
  /// Quoted names of columns that have an index on their folded text in some table.
  private let _indexes: [PostgreSQLTextIndex: Set<String>]

  init(schema: String, indexes: [PostgreSQLTextIndex: Set<String>]) {
    self.schema = schema
    _s = PostgreSQLNames.quoted(schema)
    _indexes = indexes
  }

  /// Returns whether a text is an indexed column. Matches a column of the same name in another table too,
  /// which is harmless: expressions for an index are correct without one.
  private func _has(_ index: PostgreSQLTextIndex, _ text: SQLFragment) -> Bool {
    guard let columns = _indexes[index], text.parameters.isEmpty, let dot = text.text.firstIndex(of: ".")
    else {
      return false
    }
    return columns.contains(String(text.text[text.text.index(after: dot)...]))
  }

  var name: String { "PostgreSQL" }
  var keyColumn: String { "\"id\"" }
  var entityColumn: String { "\"entity\"" }
  var subselectName: String { " AS s" }
  var functionPrefix: String { "pg_catalog." }
  var joinsUniqueValues: Bool { false }

  // MARK: Values

  /// PostgreSQL has no boolean arithmetic.
  func column(_ name: String, _ content: ColumnContent) -> String {
    content == .bool ? "\(name)::int4" : name
  }

  func constant(_ parameter: QueryParameter, _ value: PredicateValue) -> SQLFragment {
    if case .null = value, case .constant(_, let conversion) = parameter {
      switch conversion {
      // Without a type it fits beside any other type.
      case .natural, .uuid, .member(_, .natural), .member(_, .uuid): return "NULL"
      default: break
      }
    }
    return SQLFragment(parameter)
  }

  var now: SQLFragment { SQLFragment(.now) }

  func unindexed(_ value: SQLFragment, _ kind: ValueKind) -> SQLFragment {
    switch kind {
    case .string: "(\(value) || '')"
    case .number, .date: "(\(value) + 0)"
    default: value
    }
  }

  func comparable(
    _ left: SQLFragment, _ leftKind: ValueKind, _ right: SQLFragment, _ rightKind: ValueKind
  ) -> (SQLFragment, SQLFragment) {
    switch (leftKind, rightKind) {
    case (.string, .number), (.string, .date): (left, text(ofNumber: right))
    case (.number, .string), (.date, .string):
      // A constant text beside a number is parsed as a number; a column's text is compared as text.
      right.text == "?"
        ? (left, "\(sql: _s).text_number(\(right))") : (text(ofNumber: left), right)
    default: (left, right)
    }
  }

  // MARK: Collections

  /// Returns the letter for a list of values of a kind.
  private func _list(_ parameter: QueryParameter, _ kind: ValueKind) -> SQLFragment {
    let letter =
      switch kind {
      case .string: "s"
      case .number, .date: "n"
      case .uuid: "u"
      case .data, .transformed, .opaque: "b"
      case .other: "o"
      }
    return "\(parameter){\(sql: letter)}"
  }

  func values(_ parameter: QueryParameter, _ kind: ValueKind) -> SQLFragment {
    "pg_catalog.unnest(\(_list(parameter, kind))) AS v(value)"
  }

  /// The server hashes a subselect in any plan, but not `= ANY`.
  func isMember(_ subject: SQLFragment, _ kind: ValueKind, of parameter: QueryParameter) -> SQLFragment {
    "\(subject) IN (SELECT pg_catalog.unnest(\(_list(parameter, kind))))"
  }

  // MARK: Texts

  func text(ofNumber value: SQLFragment) -> SQLFragment { "\(sql: _s).number_text(\(value))" }

  /// Returns the folding function for the options; nil if the locale decides.
  private func _fold(_ options: PredicateTree.Comparison.Options) -> String? {
    if options.isEmpty || options.contains(.normalized) { return "" }
    if options.contains(.localeSensitive) { return nil }
    switch (options.contains(.caseInsensitive), options.contains(.diacriticInsensitive)) {
    case (true, true): return "\(_s).fold_cd"
    case (true, false): return "\(_s).fold_c"
    default: return "\(_s).fold_d"
    }
  }

  func test(
    _ operation: StringOperation, _ text: SQLFragment, _ pattern: SQLFragment, constant: Int?,
    _ options: PredicateTree.Comparison.Options
  ) -> SQLFragment? {
    guard let fold = _fold(options) else { return nil }
    let isFolded = !fold.isEmpty
    func folded(_ value: SQLFragment) -> SQLFragment { isFolded ? "\(sql: fold)(\(value))" : value }
    let keepsMarks = isFolded && !options.contains(.diacriticInsensitive)
    switch operation {
    case .equal: return "\(folded(text)) = \(folded(pattern))"
    case .contains:
      if isFolded, options.contains(.caseInsensitive), !keepsMarks, _has(.trigram, text) {
        return "\(folded(text)) LIKE \(sql: _s).like_anywhere(\(folded(pattern)))"
      }
      if keepsMarks { return "\(sql: _s).contains_c(\(folded(text)), \(folded(pattern)))" }
      return "pg_catalog.strpos(\(folded(text)), \(folded(pattern))) > 0"
    case .beginsWith:
      if let constant, !isFolded {
        // A range can use the attribute's index.
        return "(\(text) >= \(pattern) AND \(text) < \(QueryParameter.constant(constant, .endOfPrefix)))"
      }
      if isFolded, options.contains(.caseInsensitive), !keepsMarks, _has(.folded, text) {
        let prefix = folded(pattern)
        return "(\(folded(text)) >= \(prefix) AND \(folded(text)) < \(sql: _s).after_prefix(\(prefix)))"
      }
      if keepsMarks { return "\(sql: _s).begins_c(\(folded(text)), \(folded(pattern)))" }
      return "pg_catalog.starts_with(\(folded(text)), \(folded(pattern)))"
    case .endsWith:
      return "pg_catalog.right(\(folded(text)), pg_catalog.length(\(folded(pattern)))) = \(folded(pattern))"
    case .like:
      guard let constant = Self._constant(pattern) else { return nil }
      let expression = QueryParameter.constant(
        constant, .pattern(.like, options: UInt8(truncatingIfNeeded: options.rawValue)))
      return "\(folded(text)) ~ \(expression)"
    case .matches:
      guard let constant = Self._constant(pattern), !options.contains(.diacriticInsensitive) || !isFolded
      else { return nil }
      let expression = QueryParameter.constant(
        constant, .pattern(.matches, options: UInt8(truncatingIfNeeded: options.rawValue)))
      return "\(sql: _s).\(sql: isFolded ? "matches_c" : "matches")(\(text), \(expression))"
    }
  }

  /// Returns the index of a pattern that is a constant, even an empty one.
  private static func _constant(_ pattern: SQLFragment) -> Int? {
    guard pattern.text == "?", case .constant(let index, .natural)? = pattern.parameters.first else {
      return nil
    }
    return index
  }

  func key(of text: SQLFragment, _ options: PredicateTree.Comparison.Options) -> SQLFragment? {
    _fold(options).map { $0.isEmpty ? text : "\(sql: $0)(\(text))" }
  }

  func compare(
    _ left: SQLFragment, _ symbol: String, _ right: SQLFragment, _ options: PredicateTree.Comparison.Options
  ) -> SQLFragment? {
    guard let fold = _fold(options), !fold.isEmpty else { return nil }
    return "\(sql: fold)(\(left)) \(sql: symbol) \(sql: fold)(\(right))"
  }

  // MARK: Functions

  func function(_ function: PredicateFunction) -> SQLFunctionForm? {
    let (name, kind): (String, ValueKind)
    switch function {
    case .add: (name, kind) = ("add", .number)
    case .subtract: (name, kind) = ("sub", .number)
    case .multiply: (name, kind) = ("mul", .number)
    case .divide: (name, kind) = ("div", .number)
    case .modulus: (name, kind) = ("mod", .number)
    case .raise: (name, kind) = ("raised", .number)
    case .bitwiseAnd: (name, kind) = ("band", .number)
    case .bitwiseOr: (name, kind) = ("bor", .number)
    case .bitwiseXor: (name, kind) = ("bxor", .number)
    case .leftShift: (name, kind) = ("shl", .number)
    case .rightShift: (name, kind) = ("shr", .number)
    case .onesComplement: (name, kind) = ("bnot", .number)
    case .absolute: (name, kind) = ("absolute", .number)
    case .squareRoot: (name, kind) = ("square_root", .number)
    case .exponential: (name, kind) = ("exponential", .number)
    case .naturalLogarithm: (name, kind) = ("natural_log", .number)
    case .decimalLogarithm: (name, kind) = ("decimal_log", .number)
    case .floor: (name, kind) = ("rounded_down", .number)
    case .ceiling: (name, kind) = ("rounded_up", .number)
    case .truncate: (name, kind) = ("truncated", .number)
    case .random: (name, kind) = ("random_whole", .number)
    case .randomBelow: (name, kind) = ("random_below", .number)
    case .uppercase: (name, kind) = ("upper_case", .string)
    case .lowercase: (name, kind) = ("lower_case", .string)
    case .length: (name, kind) = ("utf16_length", .number)
    case .canonical, .distance, .fetch, .first, .last, .size: return nil
    // The compiler writes these itself.
    case .count, .sum, .min, .max, .average, .median, .mode, .standardDeviation, .now, .unindexed, .cast,
      .element:
      return nil
    }
    return .call("\(_s).\(name)", kind)
  }

  /// The server computes whole numbers as numeric, whose quotients have fractions.
  var wholeQuotient: (@Sendable (SQLFragment, SQLFragment) -> SQLFragment)? {
    { dividend, divisor in "pg_catalog.div((\(dividend))::numeric, NULLIF((\(divisor))::numeric, 0))" }
  }

  func exactDividend(_ value: SQLFragment) -> SQLFragment { value }

  func cast(_ value: SQLFragment, _ kind: ValueKind, to type: String) -> (SQLFragment, ValueKind)? {
    switch (type, kind) {
    case ("NSNumber", .number), ("NSNumber", .date), ("NSDecimalNumber", .number): (value, .number)
    case ("NSNumber", .string), ("NSDecimalNumber", .string):
      ("\(sql: _s).text_number(\(value))", .number)
    case ("NSString", .string), ("NSURL", .string): (value, .string)
    case ("NSString", .number): (text(ofNumber: value), .string)
    case ("NSDate", .date), ("NSDate", .number): (value, .date)
    case ("NSDate", .string): ("\(sql: _s).text_number(\(value))", .date)
    case ("NSUUID", .uuid), ("NSData", .data): (value, kind)
    default: nil
    }
  }

  func property(_ name: String, of value: SQLFragment, _ kind: ValueKind) -> (SQLFragment, ValueKind)? {
    switch (name, kind) {
    case ("self", _), ("description", .string), ("absoluteString", .string): (value, kind)
    case ("stringValue", .number), ("description", .number): (text(ofNumber: value), .string)
    case ("intValue", .number), ("integerValue", .number), ("longLongValue", .number):
      ("pg_catalog.trunc((\(value))::numeric)", .number)
    case ("doubleValue", .number), ("floatValue", .number): ("(\(value))::float8", .number)
    case ("boolValue", .number): ("(\(value) <> 0)::int4", .number)
    case ("length", .string): ("\(sql: _s).utf16_length(\(value))", .number)
    case ("uppercaseString", .string): ("\(sql: _s).upper_case(\(value))", .string)
    case ("lowercaseString", .string): ("\(sql: _s).lower_case(\(value))", .string)
    default: nil
    }
  }

  func aggregate(_ function: PredicateFunction, _ value: SQLFragment, _ kind: ValueKind) -> SQLFragment? {
    switch function {
    case .sum: "COALESCE(pg_catalog.SUM(\(value)), 0)"
    case .average: "(pg_catalog.SUM(\(value))::float8 / NULLIF(pg_catalog.COUNT(\(value)), 0))"
    case .min: _extreme("MIN", "", value, kind)
    case .max: _extreme("MAX", " DESC", value, kind)
    case .median: "pg_catalog.percentile_cont(0.5) WITHIN GROUP (ORDER BY (\(value))::float8)"
    case .mode: "pg_catalog.mode() WITHIN GROUP (ORDER BY \(value))"
    case .standardDeviation: "pg_catalog.stddev_pop((\(value))::float8)"
    default: nil
    }
  }

  /// The server has no MIN and MAX for UUIDs and bytes.
  private func _extreme(_ name: String, _ order: String, _ value: SQLFragment, _ kind: ValueKind)
    -> SQLFragment
  {
    switch kind {
    case .uuid, .data:
      "(pg_catalog.array_agg(\(value) ORDER BY \(value)\(sql: order)) FILTER (WHERE \(value) IS NOT NULL))[1]"
    default: "pg_catalog.\(sql: name)(\(value))"
    }
  }

  // MARK: Clauses

  func ordered(
    _ value: SQLFragment, _ kind: ValueKind, _ comparison: FetchPlan.SortTerm.Comparison, ascending: Bool
  ) -> SQLFragment? {
    var term = value
    if kind == .string {
      switch comparison {
      case .binary: break
      case .caseInsensitive: term = "\(sql: _s).fold_c(\(value))"
      case .localized: term = "\(value) COLLATE \(sql: _s).\(sql: PostgreSQLCollations.localized.name)"
      case .localizedCaseInsensitive:
        term = "\(value) COLLATE \(sql: _s).\(sql: PostgreSQLCollations.localizedCaseInsensitive.name)"
      case .localizedStandard:
        term = "\(value) COLLATE \(sql: _s).\(sql: PostgreSQLCollations.localizedStandard.name)"
      }
    }
    // A key is never NULL, and its index can be used only without the clause.
    let isKey = value.parameters.isEmpty && value.text == "t0.\(keyColumn)"
    let direction = ascending ? (isKey ? "" : " NULLS FIRST") : (isKey ? " DESC" : " DESC NULLS LAST")
    return "\(term)\(sql: direction)"
  }

  func window(hasLimit: Bool, hasOffset: Bool) -> SQLFragment {
    switch (hasLimit, hasOffset) {
    case (false, false): ""
    case (true, false): " LIMIT \(QueryParameter.limit)"
    case (true, true): " LIMIT \(QueryParameter.limit) OFFSET \(QueryParameter.offset)"
    case (false, true): " OFFSET \(QueryParameter.offset)"
    }
  }
}
