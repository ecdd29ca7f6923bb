import CoreDataModelSchema
import CoreDataPredicateLanguage

/// How to read one column of a dictionary fetch.
package enum SelectedCell: Sendable {
  case declared(CellDecoder)
  /// The database's own type, in this column of the result.
  case natural(Int32)
}

/// A dictionary fetch without its constants.
package struct TableShape: Hashable, Sendable {
  private let _rows: QueryShape
  private let _names: [String]
  private let _types: [AttributeType]
  private let _columns: [PredicateShape]
  private let _groups: [PredicateShape]
  private let _having: PredicateShape?
  private let _isDistinct: Bool

  /// Splits a plan into its shape and the constants to bind: of the predicate, the columns, the groups, the
  /// HAVING condition.
  package static func taking(_ plan: DictionaryPlan) -> (shape: TableShape, constants: [PredicateValue]) {
    let rows = QueryShape.taking(plan.rows, .objects)
    let columns = plan.columns.map { PredicateShape.taking($0.expression) }
    let groups = plan.groups.map { PredicateShape.taking($0) }
    let having = plan.having.map { PredicateShape.taking($0) }
    let shape = TableShape(
      _rows: rows.shape, _names: plan.columns.map(\.name), _types: plan.columns.map(\.type),
      _columns: columns.map(\.shape), _groups: groups.map(\.shape), _having: having?.shape,
      _isDistinct: plan.isDistinct)
    let constants = rows.constants + columns.flatMap(\.constants) + groups.flatMap(\.constants)
    return (shape, constants + (having?.constants ?? []))
  }
}

/// Columns, groups and aggregates.
extension QueryCompiler {
  package mutating func select(
    _ plan: DictionaryPlan, _ spaces: [ObjectIDSpace]
  ) throws -> (list: SQLFragment, cells: [SelectedCell]) {
    aggregatesRows = plan.isGrouped
    defer { aggregatesRows = false }
    var list: [SQLFragment] = []
    var cells: [SelectedCell] = []
    for column in plan.columns {
      let outline = "the column '\(column.name)'"
      let place = Int32(list.count)
      let operand = try self.operand(column.expression)
      if case .object(let scope) = operand {
        let space = spaces[scope.layout.entityNumber - 1]
        let fragment = SQLFragment(text: scope.identity)
        list.append(fragment)
        columns[column.name] = (fragment, .other)
        guard mapping.table(of: scope.layout.entityNumber).hasSubentities else {
          cells.append(.declared(CellDecoder(slot: 0, column: place, content: .reference(space))))
          continue
        }
        list.append(SQLFragment(text: scope.entity(&aliases)))
        cells.append(
          .declared(
            CellDecoder(
              slot: 0, column: place, content: .polymorphicReference(space, entityColumn: place + 1))))
        continue
      }
      if case .entity = operand { throw untranslatable(outline, "an entity is no value to be shown") }
      if case .entityName = operand {
        throw untranslatable(outline, "the name of an entity is not in the store")
      }
      let fragment = try scalar(operand, operand.kind.conversion, column.expression.outline)
      list.append(fragment)
      columns[column.name] = (fragment, operand.kind)
      if let content = Self._content(column.type, operand.kind) {
        cells.append(.declared(CellDecoder(slot: 0, column: place, content: content)))
      } else {
        cells.append(.natural(place))
      }
    }
    return (SQLFragment.list(list), cells)
  }

  private static func _content(_ type: AttributeType, _ kind: ValueKind) -> CellDecoder.Content? {
    switch type.form {
    case .integer16, .integer32, .integer64: .int
    case .boolean: .bool
    case .double, .float, .date: .double
    case .decimal: .decimal
    case .string, .uri: .string
    case .uuid: .uuid
    case .binaryData: kind == .opaque ? .externalData : .data
    case .transformable: .transformable
    case .undefined, .objectID, .composite: nil
    }
  }

  /// GROUP BY and HAVING.
  package mutating func group(_ plan: DictionaryPlan) throws -> SQLFragment {
    guard !plan.groups.isEmpty else { return "" }
    var keys: [SQLFragment] = []
    for expression in plan.groups {
      keys.append(try scalar(operand(expression), .natural, expression.outline))
    }
    let list = SQLFragment.list(keys)
    guard let having = plan.having else { return " GROUP BY \(list)" }
    return " GROUP BY \(list) HAVING \(try condition(having))"
  }

  /// Compiles an aggregate over the rows of a group.
  package mutating func rowAggregate(
    _ function: PredicateFunction, _ argument: ExpressionTree, _ expression: ExpressionTree
  ) throws -> Operand {
    aggregatesRows = false
    defer { aggregatesRows = true }
    let operand = try self.operand(argument)
    if case .scalar(_, let kind) = operand, kind.isOpaque, function != .count {
      throw untranslatable(
        expression.outline, "transformable and externally stored values have no order and no sum")
    }
    if case .object = operand, function != .count {
      throw untranslatable(expression.outline, "objects can only be counted")
    }
    let value = try scalar(operand, operand.kind.conversion, argument.outline)
    if function == .count { return .scalar("\(sql: dialect.functionPrefix)COUNT(\(value))", .number) }
    guard let aggregate = dialect.aggregate(function, value, operand.kind) else {
      throw untranslatable(
        expression.outline, "\(dialect.name) has no such aggregate; fetch the values and compute it from them"
      )
    }
    switch function {
    case .min, .max: return .scalar(aggregate, operand.kind)
    case .sum, .average: return .scalar(aggregate, .number)
    default:
      guard operand.kind == .number else { throw untranslatable(expression.outline, "it needs numbers") }
      return .scalar(aggregate, .number)
    }
  }
}
