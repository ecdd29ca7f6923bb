import CoreData
import CoreDataModelSchema
import CoreDataPostgreSQLBinding

/// One batch deletion inside a transaction: the rows found, the rows that cascade to, and the references to
/// them.
///
/// Every rule but Cascade clears the references to the deleted rows. Nullify fails if that would clear a mandatory
/// relationship of a remaining row. Deny rules and count limits are validation, which batches skip. Each step handles
/// all rows of an entity at once.
final class PostgreSQLBatchDeletion {
  private let _plan: FetchPlan
  private let _engine: PostgreSQLStoreEngine
  private let _connection: PostgreSQLConnection
  private let _entry: PostgreSQLHistoryEntry?

  init(
    _ plan: FetchPlan, engine: PostgreSQLStoreEngine, connection: PostgreSQLConnection,
    entry: PostgreSQLHistoryEntry?
  ) {
    _plan = plan
    _engine = engine
    _connection = connection
    _entry = entry
  }

  func run(needsKeys: Bool) throws -> BatchOutcome {
    let links = PostgreSQLRowLinks(engine: _engine, connection: _connection)
    var rules = DeleteRules(
      _engine.mapping.layout, deleting: try _engine.keys(_plan, on: _connection))
    try rules.follow(members: links.members)
    try rules.checkMandatoryInverses(members: links.members)
    if let _entry { try _entry.recordDeletions(of: rules.deleted) }
    for link in rules.links([.noAction, .nullify, .cascade, .deny]) {
      for key in try links.clear(link, sparing: rules) {
        _entry?.recordUpdate(
          of: key.reference, entity: key.space.layout.entityNumber, changed: SlotSet([link.inverse]))
      }
    }
    let count = try links.delete(rules.deletedKeys)
    return BatchOutcome(count: count, keys: needsKeys ? rules.deleted : [])
  }
}
