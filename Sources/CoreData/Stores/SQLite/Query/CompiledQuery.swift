import CoreDataModelSchema
import CoreDataPredicateLanguage
import CoreDataSQLiteBinding

/// The SQL of a fetch, shared by all fetches of the same shape.
final class CompiledQuery: Sendable {
  let sql: SQLText
  let parameters: [QueryParameter]
  let reader: RowReader
  let content: FetchPlan.Content
  /// Whether a row may occur more than once: for each of several equal values by which it was looked up.
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

extension CompiledQuery {
  /// Compiles `plan` with the constants that `PredicateShape` found; `reader` decodes the selected columns.
  ///
  /// - Throws: `UntranslatableQueryError`.
  convenience init(
    _ plan: FetchPlan, _ constants: [PredicateValue], purpose: QueryShape.Purpose, mapping: StoreMapping,
    reader: RowReader
  ) throws {
    let query = try QueryCompiler.compile(
      plan, constants, purpose: purpose, mapping: mapping,
      lists: SelectLists(values: reader.selectList, identities: reader.identityList))
    self.init(
      sql: SQLText(query.fragment.text), parameters: query.fragment.parameters, reader: reader,
      content: plan.content, mayRepeat: query.mayRepeat)
  }
}
