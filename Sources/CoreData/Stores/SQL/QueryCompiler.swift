import CoreDataModelSchema
import CoreDataPredicateLanguage

/// The SQL of a fetch, before a database prepares it.
package struct QueryText: Sendable {
  package let fragment: SQLFragment
  /// Whether a row may occur more than once: for each of several equal values by which it was looked up.
  package let mayRepeat: Bool
}

/// Columns that a fetch selects from the table alias `t0`.
package struct SelectLists: Sendable {
  /// For objects with values.
  package let values: String
  /// For IDs only.
  package let identities: String

  package init(values: String, identities: String) {
    self.values = values
    self.identities = identities
  }
}

/// Translates one fetch to SQL.
///
/// Visits every part of the predicate exactly once and in order, so that constants get the numbers that
/// `PredicateShape` assigns.
package struct QueryCompiler {
  package let mapping: StoreMapping
  package var dialect: any SQLDialect { mapping.dialect }
  package let entityName: String
  package var aliases = AliasSupply()
  /// The evaluated object, SELF.
  package let evaluated: QueryScope
  /// The objects bound to variables of enclosing subqueries.
  package var variables: [String: QueryScope] = [:]
  /// Columns of a dictionary fetch by name, for its sort descriptors and HAVING condition.
  package var columns: [String: (fragment: SQLFragment, kind: ValueKind)] = [:]
  /// Whether rows are found by values of a unique attribute, one after the other.
  package var looksUpUniqueValues = false
  /// Whether `sum:` and similar functions aggregate rows in this clause.
  package var aggregatesRows = false
  private let _constants: [PredicateValue]
  private var _used = 0
  private var _depth = 0
  /// The FROM clause.
  package let source: SelectSource

  private static let _maximumDepth = 400

  package init(plan: FetchPlan, constants: [PredicateValue], mapping: StoreMapping) {
    self.mapping = mapping
    entityName = plan.layout.entityName
    _constants = constants
    let alias = aliases.next()
    source = SelectSource("\(mapping.table(of: plan.layout.entityNumber).name) \(alias)")
    evaluated = QueryScope(layout: plan.layout, alias: alias, source: source, mapping: mapping)
  }

  /// Compiles `plan` with the constants that `PredicateShape` found.
  ///
  /// - Throws: `UntranslatableQueryError`.
  package static func compile(
    _ plan: FetchPlan, _ constants: [PredicateValue], purpose: QueryShape.Purpose, mapping: StoreMapping,
    lists: SelectLists
  ) throws -> QueryText {
    var compiler = QueryCompiler(plan: plan, constants: constants, mapping: mapping)
    let fragment = try compiler._statement(plan, purpose, lists)
    return QueryText(fragment: fragment, mayRepeat: compiler.looksUpUniqueValues)
  }

  /// Compiles a dictionary fetch with the constants that `TableShape` found.
  ///
  /// - Throws: `UntranslatableQueryError`.
  package static func compile(
    _ plan: DictionaryPlan, _ constants: [PredicateValue], mapping: StoreMapping, spaces: [ObjectIDSpace]
  ) throws -> (fragment: SQLFragment, cells: [SelectedCell]) {
    var compiler = QueryCompiler(plan: plan.rows, constants: constants, mapping: mapping)
    let condition = try compiler.whereClause(plan.rows)
    let selection = try compiler.select(plan, spaces)
    let grouping = try compiler.group(plan)
    try compiler.checkConstants()
    let order = try compiler._order(plan.rows.sort)
    let fragment: SQLFragment = """
      SELECT \(sql: plan.isDistinct ? "DISTINCT " : "")\(selection.list) FROM \(sql: compiler.source.text)\
      \(condition)\(grouping)\(order)\(compiler._window(plan.rows))
      """
    return (fragment, selection.cells)
  }

  private mutating func _statement(
    _ plan: FetchPlan, _ purpose: QueryShape.Purpose, _ lists: SelectLists
  ) throws -> SQLFragment {
    let isWindowed = plan.limit > 0 || plan.offset > 0
    if purpose == .objects, !isWindowed, let lookUp = try uniqueLookUp(plan) {
      try checkConstants()
      let order = try _order(plan.sort)
      let filter = _entityFilter(plan).map { " AND \($0)" as SQLFragment } ?? ""
      let columns = plan.content == .identity ? lists.identities : lists.values
      return """
        SELECT \(sql: columns) FROM \(lookUp.values) JOIN \(sql: source.text) \
        WHERE \(lookUp.column) = \(dialect.unindexed("v.value", .string))\(filter)\(order)
        """
    }
    let condition = try whereClause(plan)
    try checkConstants()
    if purpose == .count {
      if !isWindowed {
        return "SELECT \(sql: dialect.functionPrefix)COUNT(*) FROM \(sql: source.text)\(condition)"
      }
      return
        "SELECT \(sql: dialect.functionPrefix)COUNT(*) FROM (SELECT 1 FROM \(sql: source.text)\(condition)\(_window(plan)))\(sql: dialect.subselectName)"
    }
    // Sorting may join tables, so it must precede reading the FROM clause.
    let order = try _order(plan.sort)
    let columns = plan.content == .identity ? lists.identities : lists.values
    return "SELECT \(sql: columns) FROM \(sql: source.text)\(condition)\(order)\(_window(plan))"
  }

  package mutating func whereClause(_ plan: FetchPlan) throws -> SQLFragment {
    var members: [SQLFragment] = []
    if let filter = _entityFilter(plan) { members.append(filter) }
    if let predicate = plan.predicate {
      let condition = try self.condition(predicate)
      members.append(members.isEmpty ? condition : parenthesized(predicate, condition))
    }
    return members.isEmpty ? "" : " WHERE \(SQLFragment.joined(members, by: "AND"))"
  }

  package func checkConstants() throws {
    guard _used == _constants.count else {
      throw untranslatable(
        "the predicate", "\(_used) of its \(_constants.count) constants found a place in SQL")
    }
  }

  /// Excludes rows of other entities in the same table; nil if there are none.
  private func _entityFilter(_ plan: FetchPlan) -> SQLFragment? {
    let table = mapping.table(of: plan.layout.entityNumber)
    let wanted = plan.includesSubentities ? plan.layout.family : [plan.layout.entityNumber]
    let present = mapping.layout.layout(numbered: table.rootNumber).family
    guard wanted.count < present.count else { return nil }
    let numbers = wanted.map { String(mapping.numbers.stored(for: $0)) }
    if numbers.count == 1 { return "t0.\(sql: dialect.entityColumn) = \(sql: numbers[0])" }
    return "t0.\(sql: dialect.entityColumn) IN (\(sql: numbers.joined(separator: ", ")))"
  }

  private func _window(_ plan: FetchPlan) -> SQLFragment {
    dialect.window(hasLimit: plan.limit > 0, hasOffset: plan.offset > 0)
  }

  private mutating func _order(_ terms: [FetchPlan.SortTerm]) throws -> SQLFragment {
    guard !terms.isEmpty else { return "" }
    var list: [SQLFragment] = []
    for term in terms {
      let outline = "sort descriptor '\(term.keyPath.joined(separator: "."))'"
      if term.keyPath.count == 1, evaluated.layout.slot(named: term.keyPath[0]) == nil,
        let column = columns[term.keyPath[0]]
      {
        list.append(try _ordered(column.fragment, column.kind, term, outline))
        continue
      }
      switch try resolve(term.keyPath[...], from: evaluated, outline: outline, goesIntoValues: false) {
      case .scalar(let column, let kind):
        list.append(try _ordered(column, kind, term, outline))
      case .object(let scope):
        list.append(try _ordered(SQLFragment(text: scope.identity), .other, term, outline))
      default:
        throw untranslatable(outline, "only attributes and to-one relationships have an order")
      }
    }
    return " ORDER BY \(SQLFragment.list(list))"
  }

  private func _ordered(
    _ value: SQLFragment, _ kind: ValueKind, _ term: FetchPlan.SortTerm, _ outline: String
  ) throws -> SQLFragment {
    guard let order = dialect.ordered(value, kind, term.comparison, ascending: term.ascending) else {
      throw untranslatable(outline, "\(dialect.name) has no such order of texts")
    }
    return order
  }

  // MARK: Bookkeeping

  /// Consumes the next constant.
  ///
  /// - Returns: Its number.
  /// - Throws: `UntranslatableQueryError` if the next constant is not `value`.
  package mutating func consumeConstant(_ value: PredicateValue) throws -> Int {
    guard _used < _constants.count, _constants[_used] == value else {
      throw untranslatable("a constant", "it was met out of order")
    }
    _used += 1
    return _used - 1
  }

  package func untranslatable(_ expression: String, _ reason: String) -> UntranslatableQueryError {
    UntranslatableQueryError(entity: entityName, expression: expression, reason: reason)
  }

  /// Runs `body` one level deeper. A malicious predicate thus causes an error instead of a stack overflow.
  package mutating func deeper<Result>(_ body: (inout QueryCompiler) throws -> Result) throws -> Result {
    guard _depth < Self._maximumDepth else {
      throw untranslatable("the predicate", "it is nested more than \(Self._maximumDepth) levels deep")
    }
    _depth += 1
    defer { _depth -= 1 }
    return try body(&self)
  }
}
