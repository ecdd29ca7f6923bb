import CoreDataModelSchema
import CoreDataPredicateLanguage
import CoreDataSQLiteBinding

/// A fetch as SQL: what every fetch of the same shape runs.
final class CompiledQuery: Sendable {
  let sql: SQLText
  let parameters: [QueryParameter]
  let reader: RowReader
  let content: FetchPlan.Content
  /// Whether a row may come more than once: for each of the equal values it was looked up by.
  let mayRepeat: Bool

  init(
    sql: SQLText, parameters: [QueryParameter], reader: RowReader, content: FetchPlan.Content,
    mayRepeat: Bool
  ) {
    self.mayRepeat = mayRepeat
    self.sql = sql
    self.parameters = parameters
    self.reader = reader
    self.content = content
  }
}

/// Translates one fetch to SQL.
///
/// Every part of the predicate is visited exactly once and in order, which is how constants get the numbers
/// that `PredicateShape` gives them by.
struct QueryCompiler {
  let mapping: StoreMapping
  let entityName: String
  var aliases = AliasSupply()
  /// SELF.
  let evaluated: QueryScope
  /// Objects that variables of enclosing subqueries stand for.
  var variables: [String: QueryScope] = [:]
  /// Columns of a dictionary fetch by name, for its sort descriptors and its having condition.
  var columns: [String: (fragment: SQLFragment, kind: ValueKind)] = [:]
  /// Whether the rows are found by the values of a unique attribute, one after the other.
  var looksUpUniqueValues = false
  /// Whether `sum:` and its like are taken over rows here.
  var aggregatesRows = false
  private let _constants: [PredicateValue]
  private var _used = 0
  private var _depth = 0
  private let _source: SelectSource

  private static let _maximumDepth = 400

  private init(plan: FetchPlan, constants: [PredicateValue], mapping: StoreMapping) {
    self.mapping = mapping
    entityName = plan.layout.entityName
    _constants = constants
    let alias = aliases.next()
    _source = SelectSource("\(mapping.table(of: plan.layout.entityNumber).name) \(alias)")
    evaluated = QueryScope(layout: plan.layout, alias: alias, source: _source, mapping: mapping)
  }

  /// Compiles `plan`, whose constants are given as `PredicateShape` found them; `reader` decodes what the SQL
  /// selects.
  ///
  /// - Throws: `UntranslatableQueryError`.
  static func compile(
    _ plan: FetchPlan, _ constants: [PredicateValue], purpose: QueryShape.Purpose, mapping: StoreMapping,
    reader: RowReader
  ) throws -> CompiledQuery {
    var compiler = QueryCompiler(plan: plan, constants: constants, mapping: mapping)
    let fragment = try compiler._statement(plan, purpose, reader)
    return CompiledQuery(
      sql: SQLText(fragment.text), parameters: fragment.parameters, reader: reader, content: plan.content,
      mayRepeat: compiler.looksUpUniqueValues)
  }

  /// Compiles a dictionary fetch, whose constants are given as `TableShape` found them.
  ///
  /// - Throws: `UntranslatableQueryError`.
  static func compile(
    _ plan: DictionaryPlan, _ constants: [PredicateValue], mapping: StoreMapping, context: RowReader.Context
  ) throws -> CompiledTable {
    var compiler = QueryCompiler(plan: plan.rows, constants: constants, mapping: mapping)
    let condition = try compiler._where(plan.rows)
    let selection = try compiler.select(plan, context)
    let grouping = try compiler.group(plan)
    try compiler._checkConstants()
    let order = try compiler._order(plan.rows.sort)
    let fragment: SQLFragment = """
      SELECT \(sql: plan.isDistinct ? "DISTINCT " : "")\(selection.list) FROM \(sql: compiler._source.text)\
      \(condition)\(grouping)\(order)\(compiler._window(plan.rows))
      """
    return CompiledTable(sql: SQLText(fragment.text), parameters: fragment.parameters, cells: selection.cells)
  }

  /// Compiles a batch update.
  ///
  /// - Parameter byKeys: The rows are those of the keys bound last, not those that meet the condition.
  /// - Throws: `UntranslatableQueryError`, `SQLiteStoreError`.
  static func compile(_ plan: BatchUpdatePlan, byKeys: Bool, mapping: StoreMapping) throws -> CompiledUpdate {
    let constants = try plan.constants(byKeys: byKeys, mapping: mapping)
    var compiler = QueryCompiler(plan: plan.rows, constants: constants, mapping: mapping)
    let table = mapping.table(of: plan.rows.layout.entityNumber).name
    let alone = compiler._source.text
    let values = try plan.assignments.flatMap { try compiler._assigned($0, plan) }
    let isJoined = compiler._source.text != alone
    // A value that needs other tables is looked up for each row; then the row has another name outside.
    let row = isJoined ? "b0" : "t0"
    var list = values.map { value -> SQLFragment in
      guard isJoined, value.isComputed else { return "\(sql: value.column) = \(value.fragment)" }
      let from = "FROM \(compiler._source.text) WHERE t0.Z_PK = \(row).Z_PK"
      return "\(sql: value.column) = (SELECT \(value.fragment) \(sql: from))"
    }
    list.append("Z_OPT = IFNULL(\(sql: row).Z_OPT, 0) + 1")
    let condition: SQLFragment
    if byKeys {
      condition = " WHERE \(sql: row).Z_PK IN \(sql: ValueArray.members)"
    } else {
      let plain = try compiler._where(plan.rows)
      condition =
        compiler._source.text == alone
        ? plain : " WHERE \(sql: row).Z_PK IN (SELECT t0.Z_PK FROM \(sql: compiler._source.text)\(plain))"
    }
    try compiler._checkConstants()
    let fragment: SQLFragment =
      "UPDATE \(sql: table) AS \(sql: row) SET \(SQLFragment.list(list))\(condition)"
    return CompiledUpdate(sql: fragment.text, parameters: fragment.parameters, constants: constants)
  }

  private mutating func _assigned(
    _ assignment: BatchUpdatePlan.Assignment, _ plan: BatchUpdatePlan
  ) throws -> [(column: String, fragment: SQLFragment, isComputed: Bool)] {
    switch assignment.source {
    case .value(let value):
      return try plan.columns(for: assignment.slot, value, mapping).map { column in
        (column.name, SQLFragment(.constant(try take(column.constant), column.conversion)), false)
      }
    case .expression(let expression):
      let columns = try plan.columns(for: assignment.slot, .null, mapping)
      let operand = try self.operand(expression)
      guard columns.count == 1, plan.rows.layout.slots[assignment.slot].attribute != nil else {
        throw untranslatable(expression.outline, "only attributes can be computed in a batch update")
      }
      if case .object = operand {
        throw untranslatable(expression.outline, "an attribute cannot hold an object")
      }
      return [(columns[0].name, try scalar(operand, operand.kind.conversion, expression.outline), true)]
    }
  }

  private mutating func _statement(
    _ plan: FetchPlan, _ purpose: QueryShape.Purpose, _ reader: RowReader
  ) throws -> SQLFragment {
    let isWindowed = plan.limit > 0 || plan.offset > 0
    if purpose == .objects, !isWindowed, let lookUp = try uniqueLookUp(plan) {
      try _checkConstants()
      let order = try _order(plan.sort)
      let filter = _entityFilter(plan).map { " AND \($0)" as SQLFragment } ?? ""
      let columns = plan.content == .identity ? reader.identityList : reader.selectList
      return """
        SELECT \(sql: columns) FROM \(lookUp.values) v JOIN \(sql: _source.text) \
        WHERE \(lookUp.column) = +v.value\(filter)\(order)
        """
    }
    let condition = try _where(plan)
    try _checkConstants()
    if purpose == .count {
      if !isWindowed { return "SELECT COUNT(*) FROM \(sql: _source.text)\(condition)" }
      return "SELECT COUNT(*) FROM (SELECT 1 FROM \(sql: _source.text)\(condition)\(_window(plan)))"
    }
    // The order may join tables, so it comes before the FROM clause is read.
    let order = try _order(plan.sort)
    let columns = plan.content == .identity ? reader.identityList : reader.selectList
    return "SELECT \(sql: columns) FROM \(sql: _source.text)\(condition)\(order)\(_window(plan))"
  }

  private mutating func _where(_ plan: FetchPlan) throws -> SQLFragment {
    var members: [SQLFragment] = []
    if let filter = _entityFilter(plan) { members.append(filter) }
    if let predicate = plan.predicate {
      let condition = try self.condition(predicate)
      members.append(members.isEmpty ? condition : parenthesized(predicate, condition))
    }
    return members.isEmpty ? "" : " WHERE \(SQLFragment.joined(members, by: "AND"))"
  }

  private func _checkConstants() throws {
    guard _used == _constants.count else {
      throw untranslatable(
        "the predicate", "\(_used) of its \(_constants.count) constants found a place in SQL")
    }
  }

  /// Rows of other entities in the same table are left out; nothing is asked where there are none.
  private func _entityFilter(_ plan: FetchPlan) -> SQLFragment? {
    let table = mapping.table(of: plan.layout.entityNumber)
    let wanted = plan.includesSubentities ? plan.layout.family : [plan.layout.entityNumber]
    let present = mapping.layout.layout(numbered: table.rootNumber).family
    guard wanted.count < present.count else { return nil }
    let numbers = wanted.map { String(mapping.numbers.stored(for: $0)) }
    if numbers.count == 1 { return "t0.Z_ENT = \(sql: numbers[0])" }
    return "t0.Z_ENT IN (\(sql: numbers.joined(separator: ", ")))"
  }

  private func _window(_ plan: FetchPlan) -> SQLFragment {
    switch (plan.limit > 0, plan.offset > 0) {
    case (false, false): ""
    case (true, false): " LIMIT \(QueryParameter.limit)"
    case (true, true): " LIMIT \(QueryParameter.limit) OFFSET \(QueryParameter.offset)"
    case (false, true): " LIMIT -1 OFFSET \(QueryParameter.offset)"
    }
  }

  private mutating func _order(_ terms: [FetchPlan.SortTerm]) throws -> SQLFragment {
    guard !terms.isEmpty else { return "" }
    var list: [SQLFragment] = []
    for term in terms {
      let direction = term.ascending ? "" : " DESC"
      let outline = "sort descriptor '\(term.keyPath.joined(separator: "."))'"
      if term.keyPath.count == 1, evaluated.layout.slot(named: term.keyPath[0]) == nil,
        let column = columns[term.keyPath[0]]
      {
        let collation = column.kind == .string ? SQLCollations.clause(term.comparison) : ""
        list.append("\(column.fragment)\(sql: collation)\(sql: direction)")
        continue
      }
      switch try resolve(term.keyPath[...], from: evaluated, outline: outline, goesIntoValues: false) {
      case .scalar(let column, let kind):
        let collation = kind == .string ? SQLCollations.clause(term.comparison) : ""
        list.append("\(column)\(sql: collation)\(sql: direction)")
      case .object(let scope): list.append("\(sql: scope.identity)\(sql: direction)")
      default:
        throw untranslatable(outline, "only attributes and to-one relationships have an order")
      }
    }
    return " ORDER BY \(SQLFragment.list(list))"
  }

  // MARK: Bookkeeping

  /// Number of the constant that is being visited.
  mutating func take(_ value: PredicateValue) throws -> Int {
    guard _used < _constants.count, _constants[_used] == value else {
      throw untranslatable("a constant", "it was met out of order")
    }
    _used += 1
    return _used - 1
  }

  func untranslatable(_ expression: String, _ reason: String) -> UntranslatableQueryError {
    UntranslatableQueryError(entity: entityName, expression: expression, reason: reason)
  }

  /// Runs `body` one level deeper, so that a hostile predicate ends in an error rather than without stack.
  mutating func deeper<Result>(_ body: (inout QueryCompiler) throws -> Result) throws -> Result {
    guard _depth < Self._maximumDepth else {
      throw untranslatable("the predicate", "it is nested more than \(Self._maximumDepth) levels deep")
    }
    _depth += 1
    defer { _depth -= 1 }
    return try body(&self)
  }
}
