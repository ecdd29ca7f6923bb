import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation

/// Opens a store file: makes it if it is not there, and finds its way in it if it is.
struct StoreOpening {
  /// An opened store.
  struct Opened {
    let path: String
    let identifier: String
    let mapping: StoreMapping
    let pool: ConnectionPool
    let isNew: Bool
    /// Nil when no history is kept.
    let history: HistoryJournal?
  }

  private let _file: SQLiteStoreFile
  /// How a read-only store is opened.
  private let _untouched: UntouchedFile
  private let _layout: ModelLayout
  private let _options: SQLiteStoreOptions
  private let _reports: DerivedReports

  /// - Parameter reports: Takes what the triggers of derived attributes report on any connection.
  init(url: URL, layout: ModelLayout, options: SQLiteStoreOptions, reports: DerivedReports) {
    _reports = reports
    _file = SQLiteStoreFile(url: url, timeout: options.timeout)
    _untouched = _file.untouched()
    _layout = layout
    _options = options
  }

  func open(_ initialMetadata: [String: Any]) throws -> Opened {
    do {
      return try _open(initialMetadata)
    } catch let error as SQLiteError {
      throw StoreOpenError(error, path: _file.path)
    }
  }

  private func _open(_ initialMetadata: [String: Any]) throws -> Opened {
    let expected = try MappingBuilder.mapping(for: _layout)
    var schema: [String]?
    switch _file.isInMemory ? .empty : try _file.kind() {
    case .missing where _options.isReadOnly: throw StoreOpenError.missing(path: _file.path)
    case .other: throw StoreOpenError.notADatabase(path: _file.path)
    case .missing, .empty:
      // Found out before a file is made: a model that cannot be stored leaves none behind.
      schema = try SchemaWriter(expected).statements()
    case .database: break
    }
    let writer = try _connect()
    let isEmpty = try !_options.isReadOnly && _isEmpty(writer)
    try _prepare(writer, isNew: isEmpty)
    // Another process may make the store at the same time; whoever comes second finds its tables.
    let isNew =
      try isEmpty
      && writer.transaction {
        guard try _isEmpty(writer) else { return false }
        try _create(writer, expected, schema ?? SchemaWriter(expected).statements(), initialMetadata)
        return true
      }
    let metadata = try StoreMetadata.read(writer, path: _file.path)
    let mapping = isNew ? expected : try _bind(writer, metadata, expected)
    if !isNew, !_options.isReadOnly { try _checkSpatialIndexes(writer) }
    let history = try _history(writer, mapping)
    if !_options.isReadOnly {
      if _options.analyzes { try writer.execute("ANALYZE") }
      if _options.vacuums { try writer.execute("VACUUM") }
    }
    return Opened(
      path: _file.path, identifier: metadata[StoreMetadata.uuidKey] as? String ?? "", mapping: mapping,
      pool: try _pool(writer), isNew: isNew, history: history)
  }

  /// The store's history if it is to be kept: its tables are made when they are not there yet. A store that
  /// cannot be written shows the history that it has.
  private func _history(_ writer: Connection, _ mapping: StoreMapping) throws -> HistoryJournal? {
    let isThere = try HistoryTables.exist(on: writer)
    guard _options.isReadOnly ? isThere : _options.tracksHistory else { return nil }
    let layout = HistoryLayout(
      mapping, propertyOrders: ModelCache.propertyOrders(writer, path: _file.path))
    if _options.isReadOnly {
      // Whatever is wrong with its history, its objects can be read.
      guard let tables = try? HistoryTables.read(writer, path: _file.path) else { return nil }
      return HistoryJournal(tables, layout: layout, mapping: mapping)
    }
    let tables = try writer.transaction {
      try HistoryTables.prepare(writer, tombstoneCount: layout.tombstoneCount, path: _file.path)
    }
    return HistoryJournal(tables, layout: layout, mapping: mapping)
  }

  private func _connect() throws -> Connection {
    if _file.isInMemory { return try Connection(path: ":memory:", busyTimeout: _options.timeout) }
    if _options.isReadOnly { return try _untouched.open() }
    return try Connection(path: _file.path, mode: .create, busyTimeout: _options.timeout)
  }

  private func _pool(_ writer: Connection) throws -> ConnectionPool {
    let file = _file, untouched = _untouched, options = _options, reports = _reports
    // What is opened for reading only is left alone, locks included.
    let hasLog =
      try !options.isReadOnly && writer.pragma("journal_mode")?.lowercased() == "wal"
      && writer.pragma("locking_mode")?.lowercased() == "normal"
    return ConnectionPool(
      writer, maximumReads: options.maximumReaders, hasOne: file.isInMemory, holdsReads: hasLog,
      files: file.isInMemory || options.isReadOnly ? nil : DatabaseFiles(path: file.path)
    ) {
      let connection = try options.isReadOnly ? untouched.open() : file.openAnother()
      try Self._configure(connection, options, reports, isNew: false, isFirst: false)
      return connection
    }
  }

  private func _prepare(_ writer: Connection, isNew: Bool) throws {
    try Self._configure(writer, _options, _reports, isNew: isNew, isFirst: true)
  }

  private static func _configure(
    _ connection: Connection, _ options: SQLiteStoreOptions, _ reports: DerivedReports, isNew: Bool,
    isFirst: Bool
  ) throws {
    for statement in try options.pragmaStatements(isNew: isNew) {
      // The journal mode belongs to the file, not the connection.
      if !isFirst, statement.hasPrefix("PRAGMA journal_mode") { continue }
      try connection.execute(statement)
    }
    try SQLFunctions.register(on: connection)
    try reports.listen(on: connection)
    if let trace = options.trace { connection.trace(showsValues: options.tracesValues, trace) }
  }

  private func _isEmpty(_ connection: Connection) throws -> Bool {
    try connection.firstValue("SELECT COUNT(*) FROM sqlite_master") == .int(0)
  }

  private func _create(
    _ connection: Connection, _ mapping: StoreMapping, _ schema: [String], _ metadata: [String: Any]
  ) throws {
    for statement in schema { try connection.execute(statement) }
    for layout in _layout.layouts {
      try connection.query(
        "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?, ?, ?, 0)",
        [
          .int(Int64(layout.entityNumber)), .text(layout.entityName), .int(Int64(layout.parentNumber ?? 0)),
        ])
    }
    try StoreMetadata.write(StoreMetadata.initial(metadata), to: connection)
    // Nobody can come back to a database in memory.
    if !_file.isInMemory { try ModelCache.write(_layout.schema, to: connection) }
  }

  /// Tells of R-tree indexes that nothing in the file keeps up to date: how Core Data does it is not known. The
  /// store opens all the same; nothing here reads such an index.
  private func _checkSpatialIndexes(_ connection: Connection) throws {
    for entity in _layout.schema.entities {
      for index in entity.indexes where index.elements.contains(where: \.isRTree) {
        let name = "Z_\(entity.name)_\(index.name)"
        let isThere = try connection.firstValue(
          "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", [.text(name)])
        let isKept = try connection.firstValue(
          "SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND instr(sql, ?) > 0", [.text(name)])
        guard isThere != nil, isKept == nil else { continue }
        Console.warnOnce(
          about: "R-tree \(_file.path) \(name)",
          "the R-tree index '\(entity.name).\(index.name)' of the store \(_file.path) is not kept up to date here: Core "
            + "Data will not find by it what is written from now on. Open the store read-only "
            + "(NSReadOnlyPersistentStoreOption) to keep it whole.")
      }
    }
  }

  /// The mapping as an existing file has it.
  private func _bind(
    _ connection: Connection, _ metadata: [String: Any], _ expected: StoreMapping
  ) throws -> StoreMapping {
    let type = metadata[StoreMetadata.typeKey] as? String ?? StoreMetadata.typeName
    guard type == StoreMetadata.typeName else {
      throw StoreOpenError.typeMismatch(
        path: _file.path, found: "its metadata says it is a store of type \(type)")
    }
    let binder = SchemaBinder(connection, path: _file.path)
    let numbers = try binder.numbers(for: _layout)
    let mapping =
      numbers == expected.numbers ? expected : try MappingBuilder.mapping(for: _layout, numbers: numbers)
    return try binder.bind(mapping)
  }
}
