import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation

/// Opens a store file on one permanent connection: SQLite recovers the file, an empty one gets its tables,
/// and metadata, versions and history are read from there, under SQLite's own locks.
///
/// A migration runs on the connection, between the initializer and `open`. A store opened read-only is read
/// through `UntouchedFile` instead.
struct StoreOpening {
  /// An opened store.
  struct Opened {
    let path: String
    let options: SQLiteStoreOptions
    let identifier: String
    let mapping: StoreMapping
    let pool: ConnectionPool
    let isNew: Bool
    /// Nil if no history is recorded.
    let history: HistoryJournal?
  }

  /// Path of the real file.
  var path: String { _file.path }
  /// Whether opening created the store.
  let isNew: Bool
  let connection: Connection
  /// The file's metadata as last read.
  private(set) var metadata: [String: Any]
  private let _file: SQLiteStoreFile
  /// Opens a read-only store.
  private let _untouched: UntouchedFile
  private let _expected: StoreMapping
  let options: SQLiteStoreOptions

  /// - Parameters:
  ///   - initialMetadata: Metadata of a new store; ignored for an existing store.
  /// - Throws: `StoreOpenError`; `UnsupportedModelError` for a model that SQLite cannot store.
  init(url: URL, layout: ModelLayout, options: SQLiteStoreOptions, initialMetadata: [String: Any]) throws {
    let file = SQLiteStoreFile(url: url, timeout: options.timeout)
    _file = file
    PrivateCopy.removeAbandoned()
    OpenStores.shared.retireStrayLogs(at: file.path)
    let untouched = file.untouched()
    _untouched = untouched
    _expected = try MappingBuilder.mapping(for: layout)
    let mapping = _expected
    (self.options, connection, isNew, metadata) = try file.translating {
      var options = options
      // A store in memory contains only what opening creates.
      if !options.isReadOnly || file.isInMemory {
        do {
          guard file.location.isWritable() else { throw file.unwritable() }
          let (connection, isNew) = try Self._openForWriting(file, mapping, options, initialMetadata)
          if try Self._canMaintainIndexes(file, connection) {
            if !file.isInMemory { Self._removeAbandonedSibling(of: file, connection, options) }
            return (options, connection, isNew, try StoreMetadata.read(connection, path: file.path))
          }
          options.isReadOnly = true
        } catch StoreOpenError.unwritable(_, let error) {
          guard try !file.isVacant() else { throw file.unwritable(error) }
          Console.warn(
            "the store at \(file.path) is added read-only, because the file or the directory that it is in cannot be "
              + "written. Set NSReadOnlyPersistentStoreOption if that is intended.")
          options.isReadOnly = true
        }
      }
      try file.checkIsFile(mayBeMissing: false)
      let connection = try Self._openForReading(untouched, options)
      return (options, connection, false, try StoreMetadata.read(connection, path: file.path))
    }
  }

  // MARK: Connections

  /// Opens the file for writing, or creates it with its tables.
  private static func _openForWriting(
    _ file: SQLiteStoreFile, _ mapping: StoreMapping, _ options: SQLiteStoreOptions,
    _ metadata: [String: Any]
  ) throws -> (Connection, isNew: Bool) {
    let deadline = Deadline(seconds: options.timeout)
    // Check first, so that an unsupported model or invalid pragmas leave no file behind.
    var creation: StoreCreation?
    func newCreation() throws -> StoreCreation {
      try StoreCreation(mapping, metadata: metadata, keepsModel: !file.isInMemory)
    }
    if file.isInMemory || !FileManager.default.fileExists(atPath: file.path) { creation = try newCreation() }
    try options.check()
    let connection =
      try file.isInMemory
      ? Connection(path: ":memory:", busyTimeout: options.timeout) : file.openForWriting(creates: true)
    do {
      let isEmpty = try SQLiteStoreFile.isEmpty(connection)
      try _configure(connection, options, isNew: isEmpty) {
        try _setJournalMode(connection, file, options, deadline)
      }
      guard isEmpty else { return (connection, false) }
      let made = try creation ?? newCreation()
      return (connection, try deadline.retrying { try made.run(on: connection) })
    } catch let error as SQLiteError where file.isUnwritable(error) {
      throw file.unwritable(error)
    }
  }

  /// Whether SQLite has the module of the R-trees that triggers in the file maintain.
  private static func _canMaintainIndexes(_ file: SQLiteStoreFile, _ connection: Connection) throws -> Bool {
    let triggers = try ForeignSchema.triggersWithoutModule(connection)
    guard let first = triggers.first else { return true }
    Console.warn(
      "the store at \(file.path) is added read-only, because it has R-tree indexes (trigger \(first)) and SQLite was built "
        + "without the module rtree. Set NSReadOnlyPersistentStoreOption if that is intended.")
    return false
  }

  private static func _removeAbandonedSibling(
    of file: SQLiteStoreFile, _ connection: Connection, _ options: SQLiteStoreOptions
  ) {
    connection.setBusyTimeout(0)
    let files = StoreFiles(file.location)
    files.removeAbandonedSibling(on: connection)
    StorePlacement.forget(at: files)
    connection.setBusyTimeout(options.timeout)
  }

  private static func _openForReading(
    _ untouched: UntouchedFile, _ options: SQLiteStoreOptions
  ) throws -> Connection {
    let connection = try untouched.open()
    try _configure(connection, options)
    return connection
  }

  /// - Parameter setJournalMode: For the first connection.
  private static func _configure(
    _ connection: Connection, _ options: SQLiteStoreOptions, isNew: Bool = false,
    setJournalMode: () throws -> Void = {}
  ) throws {
    for statement in try options.pragmaStatements(isNew: isNew) { try connection.execute(statement) }
    try setJournalMode()
    try connection.execute(options.synchronousStatement())
    try ForeignSchema.bound(connection)
    try SQLFunctions.register(on: connection)
    if let trace = options.trace { connection.trace(showsValues: options.tracesValues, trace) }
  }

  /// Sets the requested journal mode. SQLite can do so only while no other connection reads, or, to disable
  /// the log, while no other one is open; otherwise the file keeps its log.
  private static func _setJournalMode(
    _ connection: Connection, _ file: SQLiteStoreFile, _ options: SQLiteStoreOptions, _ deadline: Deadline
  ) throws {
    let statement = try options.journalModeStatement()
    let hasLog = try connection.pragma("journal_mode")?.lowercased() == "wal"
    guard hasLog, options.journalMode != "wal" else {
      return try deadline.retrying { try connection.execute(statement) }
    }
    do {
      try Deadline(seconds: min(deadline.remaining, 1)).retrying { try connection.execute(statement) }
    } catch let error as SQLiteError where error.isBusy {
      Console.warn(
        "the store at \(file.path) keeps its write-ahead log: the journal mode \(options.journalMode) can be set only "
          + "while no other connection has the store open.")
    }
  }

  // MARK: Between the two phases

  /// Rereads the metadata after a migration.
  mutating func readMetadata() throws {
    metadata = try _file.translating { try StoreMetadata.read(connection, path: _file.path) }
  }

  /// Whether the metadata's property list is missing or unreadable, which leaves only UUID and type.
  func hasDamagedMetadata() throws -> Bool {
    try _file.translating { try !StoreMetadata.hasPropertyList(connection) }
  }

  /// Whether the store has a history of its transactions, current or past.
  func keepsHistory() throws -> Bool { try _file.translating { try HistoryTables.exist(on: connection) } }

  // MARK: Binding

  /// Finds the model's tables in the file, and makes the connection the first of a pool.
  ///
  /// - Parameter reports: Collects the reports of derived-attribute triggers on any connection.
  /// - Throws: `StoreOpenError`.
  func open(_ reports: DerivedReports) throws -> Opened {
    try _file.translating {
      if let statement = try options.lockingModeStatement() { try connection.execute(statement) }
      try reports.listen(on: connection)
      let mapping = try isNew ? _expected : _bind()
      let trust = try options.isReadOnly ? nil : SchemaTrust(mapping, on: connection)
      try trust?.apply(to: connection)
      if !isNew, !options.isReadOnly { try _checkSpatialIndexes() }
      let history = try _history(mapping)
      if !options.isReadOnly {
        if options.analyzes { try connection.execute("ANALYZE") }
        if options.vacuums { try connection.execute("VACUUM") }
      }
      return Opened(
        path: _file.path, options: options,
        identifier: metadata[StoreMetadata.uuidKey] as? String ?? "",
        mapping: mapping, pool: try _pool(reports, trust), isNew: isNew, history: history)
    }
  }

  private func _pool(_ reports: DerivedReports, _ trust: SchemaTrust?) throws -> ConnectionPool {
    let file = _file, untouched = _untouched, options = options
    // A read-only file is left alone, including its locks.
    let hasLog =
      try !options.isReadOnly && !options.locksExclusively
      && connection.pragma("journal_mode")?.lowercased() == "wal"
    return ConnectionPool(
      connection, maximumReads: options.maximumReaders,
      hasOne: file.isInMemory || !options.isReadOnly && options.locksExclusively, holdsReads: hasLog,
      replacesFaulty: !file.isInMemory,
      files: file.isInMemory || options.isReadOnly ? nil : DatabaseFiles(path: file.path)
    ) {
      let connection = try options.isReadOnly ? untouched.open() : file.openAnother()
      try Self._configure(connection, options)
      if let statement = try options.lockingModeStatement() { try connection.execute(statement) }
      try reports.listen(on: connection)
      try trust?.apply(to: connection)
      return connection
    }
  }

  /// Returns the store's history if it is recorded, and creates its tables if necessary. A read-only store
  /// shows its existing history.
  private func _history(_ mapping: StoreMapping) throws -> HistoryJournal? {
    let isThere = try HistoryTables.exist(on: connection)
    guard options.isReadOnly ? isThere : options.tracksHistory else { return nil }
    let layout = HistoryLayout(
      mapping, propertyOrders: ModelCache.propertyOrders(connection, path: _file.path))
    if options.isReadOnly {
      do {
        let tables = try HistoryTables.read(connection, path: _file.path)
        return HistoryJournal(tables, layout: layout, mapping: mapping)
      } catch is StoreOpenError {
        // Objects are readable despite history tables of unknown form. A failed read is an error.
        return nil
      }
    }
    let tables = try connection.transaction {
      try HistoryTables.prepare(connection, tombstoneCount: layout.tombstoneCount, path: _file.path)
    }
    return HistoryJournal(tables, layout: layout, mapping: mapping)
  }

  /// Warns about R-tree indexes of the model that no trigger of Core Data's text maintains. They stay as they
  /// are: this engine does not use such an index, and the form that Core Data would maintain is not known.
  private func _checkSpatialIndexes() throws {
    let names = _expected.layout.schema.entities.flatMap { entity in
      entity.indexes.filter { $0.elements.contains(where: \.isRTree) }
        .map { SpatialIndex.name(entity.name, $0.name) }
    }
    if names.isEmpty { return }
    let schema = try ForeignSchema(connection)
    let maintained = Set(schema.spatialIndexes.map(\.name))
    for name in names where schema.spatialTables.contains(name) && !maintained.contains(name) {
      Console.warnOnce(
        about: "R-tree \(_file.path) \(name)",
        "the R-tree index \(name) of the store \(_file.path) is not kept up to date here, because the file has no triggers "
          + "for it that are known: Core Data may not find by it what is written from now on. Open the store read-only "
          + "(NSReadOnlyPersistentStoreOption) to keep it whole.")
    }
  }

  /// Returns the mapping of an existing file.
  private func _bind() throws -> StoreMapping {
    let type = metadata[StoreMetadata.typeKey] as? String ?? StoreMetadata.typeName
    guard type == StoreMetadata.typeName else {
      throw StoreOpenError.typeMismatch(
        path: _file.path, found: "its metadata says it is a store of type \(type)")
    }
    let layout = _expected.layout
    let binder = SchemaBinder(connection, path: _file.path)
    let numbers = try binder.numbers(for: layout)
    let mapping =
      numbers == _expected.numbers ? _expected : try MappingBuilder.mapping(for: layout, numbers: numbers)
    return try binder.bind(mapping)
  }
}
