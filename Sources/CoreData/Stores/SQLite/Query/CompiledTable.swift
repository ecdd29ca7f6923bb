import CoreDataModelSchema
import CoreDataPredicateLanguage
import CoreDataSQLiteBinding

/// The SQL of a dictionary fetch, shared by all of the same shape.
final class CompiledTable: Sendable {
  let sql: SQLText
  let parameters: [QueryParameter]
  /// How each column is read.
  let cells: [SelectedCell]

  init(sql: SQLText, parameters: [QueryParameter], cells: [SelectedCell]) {
    self.sql = sql
    self.parameters = parameters
    self.cells = cells
  }
}

extension SelectedCell {
  func value(_ statement: Statement, _ context: RowReader.Context) throws -> Value {
    switch self {
    case .declared(let decoder): return try decoder.value(statement, context) ?? .null
    case .natural(let column):
      switch statement.value(column) {
      case .null: return .null
      case .int(let number): return .int(number)
      case .double(let number): return .double(number)
      case .text(let text): return .string(text)
      case .blob(let bytes): return .data(.init(bytes))
      }
    }
  }
}

extension CompiledTable {
  /// Compiles a dictionary fetch with the constants that `TableShape` found.
  ///
  /// - Throws: `UntranslatableQueryError`.
  convenience init(
    _ plan: DictionaryPlan, _ constants: [PredicateValue], mapping: StoreMapping, context: RowReader.Context
  ) throws {
    let (fragment, cells) = try QueryCompiler.compile(
      plan, constants, mapping: mapping, spaces: context.spaces)
    self.init(sql: SQLText(fragment.text), parameters: fragment.parameters, cells: cells)
  }
}
