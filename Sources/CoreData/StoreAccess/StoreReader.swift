import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation

/// Read-only access to a store file with a model. All reads until `close` see the same state.
///
/// Not for concurrent use.
package final class StoreReader {
  package let path: String
  package let layout: ModelLayout
  package let anatomy: StoreTableLayout
  /// For other queries on the same state of the file.
  package let connection: Connection
  private let _context: RowReader.Context
  private let _model: NSManagedObjectModel

  /// Opens the file.
  ///
  /// - Parameter timeout: Seconds to wait for another connection's lock.
  /// - Throws: A Cocoa error: 260 no file, 259 damaged or not a database, 134010 not a store, 134020 a model
  ///   that does not match, 134090 locked.
  package init(path: String, model: ModelSchema, timeout: Double = 5) throws {
    let url = URL(fileURLWithPath: path)
    let file = SQLiteStoreFile(url: url, timeout: timeout)
    self.path = file.path
    (layout, connection, _context, _model) = try StoreErrors.translating(url: url) {
      try SQLiteStoreError.translating {
        _ = try file.metadata()
        let model = try StoreFileFacts.managedObjectModel(model)
        let layout = try ModelLayout(ModelSchema(model))
        let connection = try file.openForReading()
        try ForeignSchema.bound(connection)
        try SQLFunctions.register(on: connection)
        try connection.execute("BEGIN")
        let binder = SchemaBinder(connection, path: file.path)
        let numbers = try binder.numbers(for: layout)
        let mapping = try binder.bind(try MappingBuilder.mapping(for: layout, numbers: numbers))
        let spaces = layout.layouts.map {
          ObjectIDSpace(layout: $0, entity: NSEntityDescription(), store: nil, persistentStore: nil)
        }
        let context = RowReader.Context(
          mapping: mapping, spaces: spaces, externalData: ExternalDataDirectory(storePath: file.path))
        return (layout, connection, context, model)
      }
    }
    anatomy = StoreTableLayout(_context.mapping)
  }

  /// Calls `body` with each row of one entity, excluding subentities, by ascending key. Holds one row in
  /// memory at a time.
  ///
  /// - Throws: Errors of `body`; a Cocoa error that names table and key for an unreadable row.
  package func forEachRow(of entity: Int, _ body: (StoredRow) throws -> Void) throws {
    let reader = RowReader(entity: entity, includesSubentities: false, context: _context)
    let table = anatomy.table(of: entity)
    let condition = table.hasSubentities ? " WHERE t0.Z_ENT = \(anatomy.storedNumber(of: entity))" : ""
    try translating {
      let statement = try connection.prepare(
        "SELECT \(reader.selectList) FROM \(table.name) t0\(condition) ORDER BY t0.Z_PK")
      while try statement.step() {
        guard let object = try reader.object(statement) else { continue }
        try body(StoredRow(object))
      }
    }
  }

  /// Returns the row of an object; nil if there is none.
  package func row(_ reference: StoredReference) throws -> StoredRow? {
    let reader = _keyReader(reference.entity)
    return try translating {
      try connection.withStatement(reader.one) { statement in
        statement.bind(reference.key, at: 1)
        return try statement.step() ? try reader.reader.object(statement).map { StoredRow($0) } : nil
      }
    }
  }

  /// Returns the members of a to-many relationship: in order if it is ordered, otherwise by entity and key.
  package func members(of owner: StoredReference, slot: Int) throws -> [StoredReference] {
    guard let query = _relationQuery(slot, owner.entity) else { return [] }
    let found = try translating {
      try connection.withStatement(query.one) { statement in
        statement.bind(owner.key, at: 1)
        var found: [StoredReference] = []
        while try statement.step() { found.append(StoredReference(try query.member(statement, _context))) }
        return found
      }
    }
    let isOrdered = layout.layout(numbered: owner.entity).slots[slot].relationship?.isOrdered ?? false
    return isOrdered ? found : found.sorted { ($0.entity, $0.key) < ($1.entity, $1.key) }
  }

  /// Returns the number of rows per entity number.
  package func counts() throws -> [Int: Int] {
    try translating {
      var result: [Int: Int] = [:]
      for table in anatomy.tables {
        // A table of one entity may contain any number in Z_ENT, and SQLite counts its rows in the smallest
        // index.
        guard table.hasSubentities else {
          try connection.query("SELECT COUNT(*) FROM \(table.name)") { row in
            if row.int64(0) > 0 { result[table.root] = Int(clamping: row.int64(0)) }
          }
          continue
        }
        try connection.query("SELECT Z_ENT, COUNT(*) FROM \(table.name) GROUP BY Z_ENT") { row in
          guard let entity = anatomy.entity(stored: row.int64(0)) else { return }
          result[entity, default: 0] += Int(clamping: row.int64(1))
        }
      }
      return result
    }
  }

  /// Ends the read. The reader cannot be used afterwards.
  package func close() { try? connection.execute("COMMIT") }

  // MARK: Prepared queries

  private var _keyReaders: [Int: KeyQuery] = [:]
  private var _relationQueries: [Int: [RelationQuery?]] = [:]
  private var _fetching: NSManagedObjectContext?

  private func _keyReader(_ entity: Int) -> KeyQuery {
    if let known = _keyReaders[entity] { return known }
    let reader = RowReader(entity: entity, includesSubentities: true, context: _context)
    let query = KeyQuery(layout.layout(numbered: entity), reader: reader, mapping: _context.mapping)
    _keyReaders[entity] = query
    return query
  }

  private func _relationQuery(_ slot: Int, _ entity: Int) -> RelationQuery? {
    if let known = _relationQueries[entity] { return known[slot] }
    let layout = layout.layout(numbered: entity)
    let queries = layout.slots.indices.map { RelationQuery(slot: $0, in: layout, context: _context) }
    _relationQueries[entity] = queries
    return queries[slot]
  }

  /// Returns a context on the same file, for operations that only the engine supports.
  func fetchingContext() throws -> NSManagedObjectContext {
    if let known = _fetching { return known }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: _model)
    // Whether model and file match has been decided before.
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: path),
      options: [
        NSReadOnlyPersistentStoreOption: true, NSIgnorePersistentStoreVersioningOption: true,
        NSPersistentStoreTimeoutOption: 5.0,
      ])
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    _fetching = context
    return context
  }

  /// Calls a function that uses `connection`, and translates SQLite's errors.
  ///
  /// - Throws: A Cocoa error.
  package func translating<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as SQLiteError {
      throw StoreErrors.cocoa(StoreOpenError(error, path: path), URL(fileURLWithPath: path))
    } catch let error as SQLiteStoreError {
      throw StoreErrors.cocoa(error, URL(fileURLWithPath: path))
    }
  }
}
