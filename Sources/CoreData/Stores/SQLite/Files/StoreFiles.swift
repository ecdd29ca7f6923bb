import CoreDataSQLiteBinding
import Foundation

/// The files of a SQLite store: the database, SQLite's own files beside it, and external data.
struct StoreFiles {
  /// The real database file, with symbolic links resolved.
  let url: URL
  private let _location: StoreLocation
  private let _directory: ExternalDataDirectory
  private var _external: String { _directory.path }

  init(url: URL) { self.init(StoreLocation(url)) }

  init(_ location: StoreLocation) {
    _location = location
    url = URL(fileURLWithPath: location.path)
    _directory = ExternalDataDirectory(storePath: location.path)
  }

  /// Copies the store as last saved, including its log, without changing the original's content. Replaces
  /// existing files at the destination. A new file gets the mode of the original.
  ///
  /// External data files, which are never modified in place, are hard-linked if the file system supports it.
  ///
  /// - Throws: `SQLiteError`, `StoreOpenError`, or an error of the file system.
  func copy(to copy: StoreFiles) throws {
    let destination = SQLiteStoreFile(url: copy.url)
    try copy.expectFile()
    copy.create(like: self)
    try destination.translating {
      let connection = try destination.openForWriting(creates: true)
      if try SQLiteStoreFile.isEmpty(connection) { return try self.copy(to: copy, on: connection) }
      try copy.replaceContent(on: connection) { try self.copy(to: $0) }
    }
  }

  /// Copies the store into the database of `connection`, which belongs to the other store and has no tables.
  func copy(to copy: StoreFiles, on connection: Connection) throws {
    let source = try SQLiteStoreFile(url: url).openForReading()
    // First the files, then the rows that reference them.
    let isAlone = ExternalDataNeighbours(of: _location).isEmpty
    let names = isAlone ? Set(_directory.names) : try ExternalDataNeighbours.names(in: source)
    for name in names { try _bring(name, to: copy) }
    // A database with a log cannot change its page size.
    try? connection.execute("PRAGMA journal_mode = DELETE")
    try source.backUp(to: connection)
  }

  /// Creates an empty file with another store's mode, unless there is one.
  func create(like other: StoreFiles) {
    if !_location.isInMemory { FileMode(of: other.url.path)?.createFile(url.path) }
  }

  /// - Throws: `StoreOpenError` if there can be no store file.
  func expectFile() throws {
    guard try _location.occupant() != .directory else { throw StoreOpenError.notADatabase(path: url.path) }
    guard !_location.isInMemory else {
      throw StoreOpenError.unusable("\(url.path) stands for a store in memory, and a file is needed here")
    }
  }

  /// Deletes the files, if they exist and are regular files, and the external data unless another store uses
  /// the same directory.
  func remove() {
    if _location.isInMemory { return }
    // The database last: it identifies the other files.
    if ExternalDataNeighbours(of: _location).isEmpty {
      try? FileManager.default.removeItem(atPath: _directory.supportPath)
    }
    for suffix in ["-wal", "-shm", "-journal", ""] { StoreLocation.removeFile(url.path + suffix) }
  }

  private func _bring(_ name: String, to other: StoreFiles) throws {
    let (from, to) = ("\(_external)/\(name)", "\(other._external)/\(name)")
    let files = FileManager.default
    // A row may reference a lost file.
    guard !files.fileExists(atPath: to), files.fileExists(atPath: from) else { return }
    other._directory.create()
    do {
      try files.linkItem(atPath: from, toPath: to)
    } catch {
      try files.copyItem(atPath: from, toPath: to)
    }
  }

  // MARK: Replacing

  /// A temporary file beside the store for its replacement; one left by a killed program is deleted.
  ///
  /// Each store has only one, so that it can be found again. Create and delete it only while holding the
  /// store's write lock.
  func sibling() -> StoreFiles {
    let sibling = _sibling
    sibling.remove()
    sibling.create(like: self)
    return sibling
  }

  /// Checkpoints the log and deletes it, unless a connection is open. SQLite deletes the log of an attached
  /// database by its name when detaching the database, by which time another process may have created a
  /// sibling of the same name.
  func endLog() throws {
    do {
      try SQLiteStoreFile(url: url, timeout: 0).openForWriting().execute("PRAGMA journal_mode = DELETE")
    } catch let error as SQLiteError where error.isBusy {}
  }

  private var _sibling: StoreFiles { beside("migrating.sqlite") }

  /// A hidden file in the same directory that is named after this one.
  func beside(_ suffix: String) -> StoreFiles {
    StoreFiles(url: url.deletingLastPathComponent().appendingPathComponent(".\(url.lastPathComponent).\(suffix)"))
  }

  /// Whether the database or its external data exists. A failed deletion may have left only one of them.
  private var _areThere: Bool {
    var status = stat()
    return lstat(url.path, &status) == 0 || lstat(_directory.supportPath, &status) == 0
  }

  /// Deletes a sibling left by a killed process or a failed deletion. Does nothing while another connection
  /// holds the write lock.
  ///
  /// - Parameter connection: An open connection to this store, outside of a transaction, with no busy
  ///   timeout.
  func removeAbandonedSibling(on connection: Connection) {
    let sibling = _sibling
    guard sibling._areThere, (try? connection.beginImmediate()) != nil else { return }
    sibling.remove()
    connection.rollback()
  }

  /// Replaces this store's content by a store that `body` creates beside it. If anything fails or the process
  /// is killed, nothing is replaced. No other connection can write to the store meanwhile; readers see the
  /// old content.
  ///
  /// - Parameters:
  ///   - connection: An open connection to this store.
  ///   - isNeeded: Called once the write lock is held.
  /// - Throws: `SQLiteError`, an error of the file system, or an error of `body`.
  func replaceContent(
    on connection: Connection, ifNeeded isNeeded: () throws -> Bool = { true },
    by body: (StoreFiles) throws -> Void
  ) throws {
    var before: Set<String> = []
    var released: Set<String> = []
    var brought: Set<String> = []
    // The new store may be attached until the transaction has ended.
    defer { try? connection.execute("DETACH \(DatabaseReplacement.other)") }
    do {
      try connection.transaction {
        guard try isNeeded() else { return }
        before = try ExternalDataNeighbours(of: _location).ownNames(connection)
        let sibling = sibling()
        // Delete it while the write lock is held: the next holder creates the file again.
        defer { sibling.remove() }
        try body(sibling)
        try sibling.endLog()
        brought = Set(sibling._directory.names).subtracting(before)
        released = try copyContent(of: sibling, on: connection)
      }
    } catch {
      removeExternal(brought)
      throw error
    }
    removeExternal(released)
  }

  /// Replaces the content with that of another store, in the transaction that `connection` has open on this
  /// one.
  ///
  /// - Returns: Names of the external data files to remove after the commit.
  func copyContent(of other: StoreFiles, on connection: Connection) throws -> Set<String> {
    let before = try ExternalDataNeighbours(of: _location).ownNames(connection)
    let after = Set(other._directory.names)
    for name in after.subtracting(before) { try other._bring(name, to: self) }
    try DatabaseReplacement(connection).run(from: other.url.path)
    return before.subtracting(after)
  }

  /// Brings all external data files of another store.
  func bringExternal(of other: StoreFiles) throws {
    for name in other._directory.names { try other._bring(name, to: self) }
  }

  func removeExternal(_ names: Set<String>) {
    for name in names { try? FileManager.default.removeItem(atPath: "\(_external)/\(name)") }
  }
}

/// Makes a database equal to another one, table by table, inside the caller's transaction.
private struct DatabaseReplacement {
  /// The schema name of the attached database.
  static let other = "migrated"
  private let _connection: Connection

  init(_ connection: Connection) { _connection = connection }

  func run(from path: String) throws {
    try _connection.query("ATTACH DATABASE ? AS \(Self.other)", [.text(path)])
    let own = try _items(of: "main", "type IN ('trigger', 'view', 'table')")
    for item in own.ordered(by: { $0.rank < $1.rank }) {
      try _connection.execute("DROP \(item.type) IF EXISTS main.\(item.quoted)")
    }
    let items = try _items(of: Self.other, "1")
    for item in items where item.type == "table" {
      try _connection.execute(item.sql)
      try _connection.execute("INSERT INTO main.\(item.quoted) SELECT * FROM \(Self.other).\(item.quoted)")
    }
    if try _hasSequence("main") {
      try _connection.execute("DELETE FROM main.sqlite_sequence")
      if try _hasSequence(Self.other) {
        try _connection.execute(
          "INSERT INTO main.sqlite_sequence SELECT * FROM \(Self.other).sqlite_sequence")
      }
    }
    // Copied rows are not changes for triggers.
    for item in items where item.type != "table" { try _connection.execute(item.sql) }
  }

  private struct Item {
    let type: String
    let name: String
    let sql: String
    /// The order in which items are dropped: dropping a virtual table drops its shadow tables.
    var rank: Int { type != "table" ? 0 : sql.uppercased().hasPrefix("CREATE VIRTUAL") ? 1 : 2 }
    var quoted: String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }
  }

  private func _items(of database: String, _ condition: String) throws -> [Item] {
    var items: [Item] = []
    try _connection.query(
      "SELECT type, name, sql FROM \(database).sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
        + "AND \(condition) ORDER BY rowid"
    ) { items.append(Item(type: $0.string(0), name: $0.string(1), sql: $0.string(2))) }
    return items
  }

  private func _hasSequence(_ database: String) throws -> Bool {
    try _connection.firstValue("SELECT 1 FROM \(database).sqlite_master WHERE name = 'sqlite_sequence'")
      != nil
  }
}
