import CoreDataPredicateLanguage
import CoreDataSQLiteBinding

/// How SQLite spells a query, with the functions and collations that `SQLFunctions` registers.
struct SQLiteDialect: SQLDialect {
  var name: String { "SQLite" }
  var keyColumn: String { StoreVocabulary.primaryKey }
  var entityColumn: String { StoreVocabulary.entity }
  var subselectName: String { "" }
  var joinsUniqueValues: Bool { true }

  // MARK: Values

  func column(_ name: String, _ content: ColumnContent) -> String { name }

  func constant(_ parameter: QueryParameter, _ value: PredicateValue) -> SQLFragment {
    SQLFragment(parameter)
  }

  var now: SQLFragment { SQLFragment(.now) }

  /// A unary plus hides a column from the query planner.
  func unindexed(_ value: SQLFragment, _ kind: ValueKind) -> SQLFragment { "+\(value)" }

  /// The columns' affinities do it.
  func comparable(
    _ left: SQLFragment, _ leftKind: ValueKind, _ right: SQLFragment, _ rightKind: ValueKind
  ) -> (SQLFragment, SQLFragment) { (left, right) }

  // MARK: Collections

  func values(_ parameter: QueryParameter, _ kind: ValueKind) -> SQLFragment {
    "\(sql: ValueArray.tableName)(\(parameter)) v"
  }

  func isMember(_ subject: SQLFragment, _ kind: ValueKind, of parameter: QueryParameter) -> SQLFragment {
    // A column without a type counts as one of bytes, and numbers would equal no text; the sign takes that
    // from it, so that the text's affinity decides, as it does with one number.
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
        // A range, so that an index on the attribute serves.
        return "(\(text) >= \(pattern) AND \(text) < \(QueryParameter.constant(constant, .endOfPrefix)))"
      case .endsWith: return "substr(\(text), -length(\(pattern))) = \(pattern)"
      case .contains: return "instr(\(text), \(pattern)) > 0"
      case .equal, .like, .matches: break
      }
    }
    let numbers = "\(operation.rawValue), \(options.rawValue)"
    return "\(sql: StringFunction.test)(\(text), \(pattern), \(sql: numbers))"
  }

  func compare(
    _ left: SQLFragment, _ symbol: String, _ right: SQLFragment, _ options: PredicateTree.Comparison.Options
  ) -> SQLFragment? {
    "\(sql: StringFunction.compare)(\(left), \(right), \(sql: String(options.rawValue))) \(sql: symbol) 0"
  }

  // MARK: Functions

  private static let _forms: [String: SQLFunctionForm] = [
    "add:to:": .infix("+", .number),
    "from:subtract:": .infix("-", .number),
    "multiply:by:": .infix("*", .number),
    "divide:by:": .infix("/", .number),
    "modulus:by:": .call("NSCoreDataModulus", .number),
    "bitwiseAnd:with:": .infix("&", .number),
    "bitwiseOr:with:": .infix("|", .number),
    "leftshift:by:": .infix("<<", .number),
    "rightshift:by:": .infix(">>", .number),
    "bitwiseXor:with:": .call("NSCoreDataBitwiseXor", .number),
    "onesComplement:": .call("~", .number),
    "abs:": .call("abs", .number),
    "sqrt:": .call("NSCoreDataSqrt", .number),
    "raise:toPower:": .call("NSCoreDataPow", .number),
    "exp:": .call("NSCoreDataExp", .number),
    "ln:": .call("NSCoreDataLn", .number),
    "log:": .call("NSCoreDataLog", .number),
    "floor:": .call("NSCoreDataFloor", .number),
    "ceiling:": .call("NSCoreDataCeiling", .number),
    "trunc:": .call("NSCoreDataTrunc", .number),
    "length:": .call("NSCoreDataLength", .number),
    "uppercase:": .call("NSCoreDataUppercase", .string),
    "lowercase:": .call("NSCoreDataLowercase", .string),
    "canonical:": .call("NSCoreDataCanonical", .string),
    "random": .call("NSCoreDataRandom", .number),
    "randomn:": .call("NSCoreDataRandomBelow", .number),
  ]

  func function(_ name: String) -> SQLFunctionForm? { Self._forms[name] }

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

  func aggregate(_ name: String, _ value: SQLFragment, _ kind: ValueKind) -> SQLFragment? {
    switch name {
    case "sum": "IFNULL(SUM(\(value)), 0)"
    case "avg", "average": "AVG(\(value))"
    case "min": "MIN(\(value))"
    case "max": "MAX(\(value))"
    default: SQLStatistics.name(name + ":").map { "\(sql: $0)(\(value))" }
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

/// Names of the SQL functions for texts.
enum StringFunction {
  /// (text, pattern, operation, options): 1, 0 or NULL.
  static let test = "NSCoreDataStringSearch"
  /// (left, right, options): -1, 0, 1 or NULL.
  static let compare = "NSCoreDataStringCompare"
}
