import CoreDataPredicateLanguage

/// How one database spells what the query compiler has to say.
///
/// The compiler knows the tree of a query: which tables are joined, which conditions hold, where a subselect stands. Names
/// of key columns, parameters, functions, collations, the order of nulls and limits are the dialect's. A dialect is asked
/// when a query of a new shape is compiled, never for a row.
package protocol SQLDialect: Sendable {
  /// Name of the database in messages.
  var name: String { get }
  /// Column of the primary key.
  var keyColumn: String { get }
  /// Column of the entity's number.
  var entityColumn: String { get }
  /// What follows a subselect in a FROM clause, where it needs a name.
  var subselectName: String { get }
  /// Whether rows are best found through a join with a list of unique values.
  var joinsUniqueValues: Bool { get }

  // MARK: Values

  /// A column as a value in a condition.
  func column(_ name: String, _ content: ColumnContent) -> String
  /// A constant of the predicate, bound as the conversion says.
  func constant(_ parameter: QueryParameter, _ value: PredicateValue) -> SQLFragment
  /// The moment of the fetch.
  var now: SQLFragment { get }
  /// A value that no index serves.
  func unindexed(_ value: SQLFragment, _ kind: ValueKind) -> SQLFragment
  /// Two values in a form in which an operator can compare them.
  func comparable(
    _ left: SQLFragment, _ leftKind: ValueKind, _ right: SQLFragment, _ rightKind: ValueKind
  ) -> (SQLFragment, SQLFragment)

  // MARK: Collections

  /// A table of many values with one column, `value`, under the alias `v`.
  func values(_ parameter: QueryParameter, _ kind: ValueKind) -> SQLFragment
  /// Whether a value is one of many.
  func isMember(_ subject: SQLFragment, _ kind: ValueKind, of parameter: QueryParameter) -> SQLFragment

  // MARK: Texts

  /// What a number reads as.
  func text(ofNumber value: SQLFragment) -> SQLFragment
  /// A test of two texts.
  ///
  /// - Parameter pattern: The number of the right side, if it is a constant text that is not empty.
  /// - Returns: Nil for a test that the database has not.
  func test(
    _ operation: StringOperation, _ text: SQLFragment, _ pattern: SQLFragment, constant: Int?,
    _ options: PredicateTree.Comparison.Options
  ) -> SQLFragment?
  /// `<`, `<=`, `>`, `>=` of two texts with options.
  func compare(
    _ left: SQLFragment, _ symbol: String, _ right: SQLFragment, _ options: PredicateTree.Comparison.Options
  ) -> SQLFragment?

  // MARK: Functions

  /// A predefined function of values; nil for one that the compiler writes itself, and for one that the database has not.
  func function(_ function: PredicateFunction) -> SQLFunctionForm?
  /// CAST(value, 'Type'); nil for what the database cannot turn into the type.
  func cast(_ value: SQLFragment, _ kind: ValueKind, to type: String) -> (SQLFragment, ValueKind)?
  /// What a key path that goes on behind an attribute asks of its value; nil if there is no such property.
  func property(_ name: String, of value: SQLFragment, _ kind: ValueKind) -> (SQLFragment, ValueKind)?
  /// An aggregate but `count`; nil if the database has none.
  func aggregate(_ function: PredicateFunction, _ value: SQLFragment, _ kind: ValueKind) -> SQLFragment?

  // MARK: Clauses

  /// A term of ORDER BY, nulls first in ascending order; nil for an order that the database has not.
  func ordered(
    _ value: SQLFragment, _ kind: ValueKind, _ comparison: FetchPlan.SortTerm.Comparison, ascending: Bool
  ) -> SQLFragment?
  /// LIMIT and OFFSET.
  func window(hasLimit: Bool, hasOffset: Bool) -> SQLFragment
}

/// How a function of values is said in SQL.
package enum SQLFunctionForm {
  case infix(String, ValueKind)
  case call(String, ValueKind)
}
