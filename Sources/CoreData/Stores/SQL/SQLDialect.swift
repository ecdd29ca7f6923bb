import CoreDataPredicateLanguage

/// The SQL syntax of one database, for the query compiler.
///
/// The compiler decides on the structure of a query: joins, conditions, subselects. The dialect decides on
/// key column names, parameters, functions, collations, null order and limits. It is used when a query of a
/// new shape is compiled, never per row.
package protocol SQLDialect: Sendable {
  /// Name of the database for messages.
  var name: String { get }
  /// Column of the primary key.
  var keyColumn: String { get }
  /// Column of the entity number.
  var entityColumn: String { get }
  /// The suffix of a subselect in a FROM clause, if it needs a name.
  var subselectName: String { get }
  /// What precedes the name of one of the database's own functions, where another one of that name could take its place.
  var functionPrefix: String { get }
  /// Whether rows are found fastest through a join with a list of unique values.
  var joinsUniqueValues: Bool { get }

  // MARK: Values

  /// Returns a column as a value in a condition.
  func column(_ name: String, _ content: ColumnContent) -> String
  /// Returns a constant of the predicate, bound with the given conversion.
  func constant(_ parameter: QueryParameter, _ value: PredicateValue) -> SQLFragment
  /// The time of the fetch.
  var now: SQLFragment { get }
  /// Returns a value in a form that uses no index.
  func unindexed(_ value: SQLFragment, _ kind: ValueKind) -> SQLFragment
  /// Returns two values in a form that operators can compare.
  func comparable(
    _ left: SQLFragment, _ leftKind: ValueKind, _ right: SQLFragment, _ rightKind: ValueKind
  ) -> (SQLFragment, SQLFragment)

  // MARK: Collections

  /// Returns a table of many values with one column, `value`, under the alias `v`.
  func values(_ parameter: QueryParameter, _ kind: ValueKind) -> SQLFragment
  /// Tests whether a value is in a list.
  func isMember(_ subject: SQLFragment, _ kind: ValueKind, of parameter: QueryParameter) -> SQLFragment

  // MARK: Texts

  /// Converts a number to text.
  func text(ofNumber value: SQLFragment) -> SQLFragment
  /// Compiles a test of two texts.
  ///
  /// - Parameter pattern: The number of the right side, if it is a constant, non-empty text.
  /// - Returns: Nil for a test that the database does not support.
  func test(
    _ operation: StringOperation, _ text: SQLFragment, _ pattern: SQLFragment, constant: Int?,
    _ options: PredicateTree.Comparison.Options
  ) -> SQLFragment?
  /// Compiles the form of a text that is the same for all texts that are equal under the options; nil if the
  /// database has none.
  func key(of text: SQLFragment, _ options: PredicateTree.Comparison.Options) -> SQLFragment?
  /// Compiles `<`, `<=`, `>`, `>=` of two texts with options.
  func compare(
    _ left: SQLFragment, _ symbol: String, _ right: SQLFragment, _ options: PredicateTree.Comparison.Options
  ) -> SQLFragment?

  // MARK: Functions

  /// Returns the form of a predefined function of values; nil for one that the compiler writes itself, and
  /// for one that the database lacks.
  func function(_ function: PredicateFunction) -> SQLFunctionForm?
  /// Compiles the quotient of two whole numbers, without its fraction; nil if the database's operator does so.
  var wholeQuotient: (@Sendable (SQLFragment, SQLFragment) -> SQLFragment)? { get }
  /// Returns a dividend in a form whose quotient keeps its fraction.
  func exactDividend(_ value: SQLFragment) -> SQLFragment
  /// Compiles CAST(value, 'Type'); nil if the database does not support the conversion.
  func cast(_ value: SQLFragment, _ kind: ValueKind, to type: String) -> (SQLFragment, ValueKind)?
  /// Compiles a property of an attribute's value in a key path; nil if there is none of that name.
  func property(_ name: String, of value: SQLFragment, _ kind: ValueKind) -> (SQLFragment, ValueKind)?
  /// Returns an aggregate other than `count`; nil if the database lacks it.
  func aggregate(_ function: PredicateFunction, _ value: SQLFragment, _ kind: ValueKind) -> SQLFragment?

  // MARK: Clauses

  /// Compiles a term of ORDER BY, nulls first in ascending order; nil for an unsupported order.
  func ordered(
    _ value: SQLFragment, _ kind: ValueKind, _ comparison: FetchPlan.SortTerm.Comparison, ascending: Bool
  ) -> SQLFragment?
  /// Compiles LIMIT and OFFSET.
  func window(hasLimit: Bool, hasOffset: Bool) -> SQLFragment
}

/// The SQL form of a function.
package enum SQLFunctionForm {
  case infix(String, ValueKind)
  case call(String, ValueKind)
}
