import CoreDataSQLiteBinding
import Foundation

/// The files of a SQLite store: the database, what SQLite keeps beside it, and external data.
struct StoreFiles {
  /// Where the real database file is, links resolved.
  let url: URL
  private var _support: String { ExternalDataDirectory(storePath: url.path).supportPath }
  private var _external: String { _support + "/_EXTERNAL_DATA" }

  init(url: URL) { self.url = URL(fileURLWithPath: StoreLocation(url).path) }

  /// Copies the store as it was last saved, its log included; the original stays as it is. What is there
  /// already at the destination is replaced.
  ///
  /// External data, which no one ever changes in place, is linked to where the file system can.
  ///
  /// - Throws: `SQLiteError`, or an error of the file system.
  func copy(to copy: StoreFiles) throws {
    let source = try Connection(path: url.path, mode: .readOnly)
    try source.backUp(to: try Connection(path: copy.url.path, mode: .create))
    for name in _externalNames { try _bring(name, to: copy) }
  }

  /// Deletes the files, as far as they are there.
  func remove() {
    for suffix in ["", "-wal", "-shm", "-journal"] {
      try? FileManager.default.removeItem(atPath: url.path + suffix)
    }
    try? FileManager.default.removeItem(atPath: _support)
  }

  private var _externalNames: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: _external)) ?? []
  }

  private func _bring(_ name: String, to other: StoreFiles) throws {
    let (from, to) = ("\(_external)/\(name)", "\(other._external)/\(name)")
    guard !FileManager.default.fileExists(atPath: to) else { return }
    try FileManager.default.createDirectory(atPath: other._external, withIntermediateDirectories: true)
    do {
      try FileManager.default.linkItem(atPath: from, toPath: to)
    } catch {
      try FileManager.default.copyItem(atPath: from, toPath: to)
    }
  }

  // MARK: Replacing

  /// A file of its own beside the store, for what is to replace it. Those that a killed program left are
  /// deleted: call this only while the store's write lock is held, for they might be another program's
  /// otherwise.
  func sibling() -> StoreFiles {
    let directory = url.deletingLastPathComponent()
    let prefix = ".\(url.lastPathComponent).migrating-"
    for name in (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
    where name.hasPrefix(prefix) && name.hasSuffix(".sqlite") {
      StoreFiles(url: directory.appendingPathComponent(name)).remove()
    }
    return StoreFiles(url: directory.appendingPathComponent("\(prefix)\(UUID().uuidString).sqlite"))
  }

  /// Replaces everything in this store by what another one has, inside the transaction that `connection` has
  /// open on this one; `finish` is to be called when that has been committed, and `undo` when not.
  ///
  /// - Throws: `SQLiteError`, or an error of the file system.
  func replaceContent(
    by other: StoreFiles, on connection: Connection
  ) throws -> (finish: () -> Void, undo: () -> Void) {
    let (before, after) = (Set(_externalNames), Set(other._externalNames))
    func remove(_ names: Set<String>) {
      for name in names { try? FileManager.default.removeItem(atPath: "\(_external)/\(name)") }
    }
    do {
      for name in after.subtracting(before) { try other._bring(name, to: self) }
      try DatabaseReplacement(connection).run(from: other.url.path)
    } catch {
      remove(after.subtracting(before))
      throw error
    }
    return ({ remove(before.subtracting(after)) }, { remove(after.subtracting(before)) })
  }
}

/// Makes a database the same as another one, table by table, inside the caller's transaction.
private struct DatabaseReplacement {
  private static let _other = "migrated"
  private let _connection: Connection

  init(_ connection: Connection) { _connection = connection }

  func run(from path: String) throws {
    try _connection.query("ATTACH DATABASE ? AS \(Self._other)", [.text(path)])
    for item in try _items(of: "main", "type IN ('trigger', 'table')").sorted(by: { $0.rank < $1.rank }) {
      try _connection.execute("DROP \(item.type) IF EXISTS main.\(item.quoted)")
    }
    let items = try _items(of: Self._other, "1")
    for item in items where item.type == "table" {
      try _connection.execute(item.sql)
      try _connection.execute("INSERT INTO main.\(item.quoted) SELECT * FROM \(Self._other).\(item.quoted)")
    }
    if try _hasSequence("main") {
      try _connection.execute("DELETE FROM main.sqlite_sequence")
      if try _hasSequence(Self._other) {
        try _connection.execute(
          "INSERT INTO main.sqlite_sequence SELECT * FROM \(Self._other).sqlite_sequence")
      }
    }
    // Rows that were copied are no changes for triggers to follow.
    for item in items where item.type != "table" { try _connection.execute(item.sql) }
  }

  private struct Item {
    let type: String
    let name: String
    let sql: String
    /// Place in which it is dropped: virtual tables take along what they are made of.
    var rank: Int { type == "trigger" ? 0 : sql.uppercased().hasPrefix("CREATE VIRTUAL") ? 1 : 2 }
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
