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

extension CompiledQuery {
  /// Compiles `plan`, whose constants are given as `PredicateShape` found them; `reader` decodes what the SQL
  /// selects.
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
