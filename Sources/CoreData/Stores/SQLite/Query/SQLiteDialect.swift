import CoreDataPredicateLanguage
import CoreDataSQLiteBinding

/// SQLite's query syntax, with the functions and collations that `SQLFunctions` registers.
struct SQLiteDialect: SQLDialect {
  var name: String { "SQLite" }
  var keyColumn: String { StoreVocabulary.primaryKey }
  var entityColumn: String { StoreVocabulary.entity }
  var subselectName: String { "" }
  var functionPrefix: String { "" }
  var joinsUniqueValues: Bool { true }

  // MARK: Values

  func column(_ name: String, _ content: ColumnContent) -> String { name }

  func constant(_ parameter: QueryParameter, _ value: PredicateValue) -> SQLFragment {
    SQLFragment(parameter)
  }

  var now: SQLFragment { SQLFragment(.now) }

  /// A unary plus hides a column from the query planner.
  func unindexed(_ value: SQLFragment, _ kind: ValueKind) -> SQLFragment { "+\(value)" }

  /// Column affinities make them comparable.
  func comparable(
    _ left: SQLFragment, _ leftKind: ValueKind, _ right: SQLFragment, _ rightKind: ValueKind
  ) -> (SQLFragment, SQLFragment) { (left, right) }

  // MARK: Collections

  func values(_ parameter: QueryParameter, _ kind: ValueKind) -> SQLFragment {
    "\(sql: ValueArray.tableName)(\(parameter)) v"
  }

  func isMember(_ subject: SQLFragment, _ kind: ValueKind, of parameter: QueryParameter) -> SQLFragment {
    // A column without a type has BLOB affinity, so numbers would equal no text. The plus removes the
    // affinity, and the text's affinity decides, as with a single number.
    let sign = kind == .string ? "+" : ""
    return "\(subject) IN (SELECT \(sql: sign)value FROM \(sql: ValueArray.tableName)(\(parameter)))"
  }

  // MARK: Texts

  func text(ofNumber value: SQLFragment) -> SQLFragment { "NSCoreDataText(\(value))" }

  func test(
    _ operation: StringOperation, _ text: SQLFragment, _ pattern: SQLFragment, constant: Int?,
    _ options: PredicateTree.Comparison.Options
  ) -> SQLFragment? {
    if !options.needsTextFunction, let constant {
      switch operation {
      case .beginsWith:
        // A range, which can use an index on the attribute.
        return "(\(text) >= \(pattern) AND \(text) < \(QueryParameter.constant(constant, .endOfPrefix)))"
      case .endsWith: return "substr(\(text), -length(\(pattern))) = \(pattern)"
      case .contains: return "instr(\(text), \(pattern)) > 0"
      case .equal, .like, .matches: break
      }
    }
    let numbers = "\(operation.rawValue), \(options.rawValue)"
    return "\(sql: StringFunction.test)(\(text), \(pattern), \(sql: numbers))"
  }

  /// Each locale has an order of its own, but no keys.
  func key(of text: SQLFragment, _ options: PredicateTree.Comparison.Options) -> SQLFragment? {
    options.contains(.localeSensitive)
      ? nil : "\(sql: StringFunction.key)(\(text), \(sql: String(options.rawValue)))"
  }

  func compare(
    _ left: SQLFragment, _ symbol: String, _ right: SQLFragment, _ options: PredicateTree.Comparison.Options
  ) -> SQLFragment? {
    "\(sql: StringFunction.compare)(\(left), \(right), \(sql: String(options.rawValue))) \(sql: symbol) 0"
  }

  // MARK: Functions

  func function(_ function: PredicateFunction) -> SQLFunctionForm? {
    switch function {
    case .add: .infix("+", .number)
    case .subtract: .infix("-", .number)
    case .multiply: .infix("*", .number)
    case .divide: .infix("/", .number)
    case .modulus: .call("NSCoreDataModulus", .number)
    case .raise: .call("NSCoreDataPow", .number)
    case .bitwiseAnd: .infix("&", .number)
    case .bitwiseOr: .infix("|", .number)
    case .bitwiseXor: .call("NSCoreDataBitwiseXor", .number)
    case .leftShift: .infix("<<", .number)
    case .rightShift: .infix(">>", .number)
    case .onesComplement: .call("~", .number)
    case .absolute: .call("abs", .number)
    case .squareRoot: .call("NSCoreDataSqrt", .number)
    case .exponential: .call("NSCoreDataExp", .number)
    case .naturalLogarithm: .call("NSCoreDataLn", .number)
    case .decimalLogarithm: .call("NSCoreDataLog", .number)
    case .floor: .call("NSCoreDataFloor", .number)
    case .ceiling: .call("NSCoreDataCeiling", .number)
    case .truncate: .call("NSCoreDataTrunc", .number)
    case .random: .call("NSCoreDataRandom", .number)
    case .randomBelow: .call("NSCoreDataRandomBelow", .number)
    case .uppercase: .call("NSCoreDataUppercase", .string)
    case .lowercase: .call("NSCoreDataLowercase", .string)
    case .canonical: .call("NSCoreDataCanonical", .string)
    case .length: .call("NSCoreDataLength", .number)
    case .distance, .fetch, .first, .last, .size: nil
    // The compiler writes these.
    case .count, .sum, .min, .max, .average, .median, .mode, .standardDeviation, .now, .unindexed, .cast,
      .element:
      nil
    }
  }

  var wholeQuotient: (@Sendable (SQLFragment, SQLFragment) -> SQLFragment)? { nil }

  /// A decimal without a fraction is stored as a whole number.
  func exactDividend(_ value: SQLFragment) -> SQLFragment { "CAST(\(value) AS REAL)" }

  func cast(_ value: SQLFragment, _ kind: ValueKind, to type: String) -> (SQLFragment, ValueKind)? {
    switch (type, kind) {
    case ("NSNumber", .number), ("NSNumber", .date), ("NSDecimalNumber", .number): (value, .number)
    case ("NSNumber", .string), ("NSDecimalNumber", .string): ("CAST(\(value) AS NUMERIC)", .number)
    case ("NSString", .string), ("NSURL", .string): (value, .string)
    case ("NSString", .number): ("NSCoreDataText(\(value))", .string)
    case ("NSDate", .date), ("NSDate", .number): (value, .date)
    case ("NSDate", .string): ("CAST(\(value) AS REAL)", .date)
    case ("NSUUID", .uuid), ("NSData", .data): (value, kind)
    default: nil
    }
  }

  func property(_ name: String, of value: SQLFragment, _ kind: ValueKind) -> (SQLFragment, ValueKind)? {
    switch (name, kind) {
    case ("self", _), ("description", .string): (value, kind)
    case ("stringValue", .number), ("description", .number): ("NSCoreDataText(\(value))", .string)
    case ("intValue", .number), ("integerValue", .number), ("longLongValue", .number):
      ("CAST(\(value) AS INTEGER)", .number)
    case ("doubleValue", .number), ("floatValue", .number): ("CAST(\(value) AS REAL)", .number)
    case ("boolValue", .number): ("(\(value) <> 0)", .number)
    case ("length", .string): ("NSCoreDataLength(\(value))", .number)
    case ("uppercaseString", .string): ("NSCoreDataUppercase(\(value))", .string)
    case ("lowercaseString", .string): ("NSCoreDataLowercase(\(value))", .string)
    case ("absoluteString", .string): (value, kind)
    default: nil
    }
  }

  func aggregate(_ function: PredicateFunction, _ value: SQLFragment, _ kind: ValueKind) -> SQLFragment? {
    switch function {
    case .sum: "IFNULL(SUM(\(value)), 0)"
    case .average: "AVG(\(value))"
    case .min: "MIN(\(value))"
    case .max: "MAX(\(value))"
    default: SQLStatistics.name(of: function).map { "\(sql: $0)(\(value))" }
    }
  }

  // MARK: Clauses

  func ordered(
    _ value: SQLFragment, _ kind: ValueKind, _ comparison: FetchPlan.SortTerm.Comparison, ascending: Bool
  ) -> SQLFragment? {
    let collation = kind == .string ? SQLCollations.clause(comparison) : ""
    return "\(value)\(sql: collation)\(sql: ascending ? "" : " DESC")"
  }

  func window(hasLimit: Bool, hasOffset: Bool) -> SQLFragment {
    switch (hasLimit, hasOffset) {
    case (false, false): ""
    case (true, false): " LIMIT \(QueryParameter.limit)"
    case (true, true): " LIMIT \(QueryParameter.limit) OFFSET \(QueryParameter.offset)"
    case (false, true): " LIMIT -1 OFFSET \(QueryParameter.offset)"
    }
  }
}

/// Names of the SQL text functions.
enum StringFunction {
  /// (text, pattern, operation, options): 1, 0 or NULL.
  static let test = "NSCoreDataStringSearch"
  /// (left, right, options): -1, 0, 1 or NULL.
  static let compare = "NSCoreDataStringCompare"
  /// (text, options): the text as comparisons with these options see it, or NULL.
  static let key = "NSCoreDataStringKey"
}
