import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation
import Synchronization

/// A Core Data store in an SQLite file.
///
/// All methods may be called concurrently from any thread: reads and writes run on pooled connections, reads
/// see the last commit, writes are serialized.
final class SQLiteStoreEngine: StoreEngine, Reachable {
  let weakAnchor = WeakAnchor()
  let options: SQLiteStoreOptions
  let location: StoreLocation
  let mapping: StoreMapping
  let context: RowReader.Context
  let pool: ConnectionPool
  let spaces: [ObjectIDSpace]
  /// UUID of the store when it was opened.
  let identifier: String
  /// Whether opening created the file.
  let isNew: Bool
  /// Readers for an entity with its subentities, by entity number - 1.
  let familyReaders: [RowReader]
  /// Readers for an entity without its subentities; the family reader if it has none.
  let exactReaders: [RowReader]
  let keyQueries: [KeyQuery]
  let relationQueries: [[RelationQuery?]]
  let writePlans: WritePlans
  let queries = QueryCache<QueryShape, CompiledQuery>()
  let tableQueries = QueryCache<TableShape, CompiledTable>()
  /// Collects the reports of derived-attribute triggers during a write.
  let derivedReports: DerivedReports
  /// Open generations of the store.
  let generations = OpenGenerations()
  /// Writes the store's history; nil without one.
  let history: HistoryJournal?
  private let _commits = Atomic<Int>(0)
  /// The files when they were last looked at, of a store without a log to watch.
  let lastFileState: Mutex<FileState?>
  /// Identifies the database among the engines of this process: its path without links, or a unique name.
  let commitName: String

  /// Opens or creates the store at `url`; `/dev/null` denotes a database in memory.
  ///
  /// - Parameters:
  ///   - entities: Descriptions by entity number - 1.
  ///   - initialMetadata: Metadata of a new store, including version hashes; ignored for an existing store.
  /// - Throws: `StoreOpenError`; `UnsupportedModelError` for a model that SQLite cannot store.
  convenience init(
    url: URL, layout: ModelLayout, entities: [NSEntityDescription], persistentStore: NSPersistentStore?,
    options: SQLiteStoreOptions = SQLiteStoreOptions(), initialMetadata: [String: Any] = [:]
  ) throws {
    let opening = try StoreOpening(
      url: url, layout: layout, options: options, initialMetadata: initialMetadata)
    try self.init(opening, layout: layout, entities: entities, persistentStore: persistentStore)
  }

  /// Creates the engine of a store that is being opened for a model.
  ///
  /// - Parameter entities: Descriptions by entity number - 1.
  /// - Throws: `StoreOpenError`, `UnsupportedModelError`.
  init(
    _ opening: StoreOpening, layout: ModelLayout, entities: [NSEntityDescription],
    persistentStore: NSPersistentStore?
  ) throws {
    precondition(entities.count == layout.layouts.count, "one description for each entity")
    let reports = DerivedReports()
    derivedReports = reports
    location = StoreLocation(URL(fileURLWithPath: opening.path))
    let opened = try opening.open(reports)
    options = opened.options
    commitName = location.isInMemory ? "memory \(UUID().uuidString)" : opened.path
    mapping = opened.mapping
    pool = opened.pool
    lastFileState = Mutex(opened.pool.commitWatch == nil ? FileState(opened.path) : nil)
    isNew = opened.isNew
    identifier = opened.identifier
    let key = StoreKey.named(opened.identifier)
    spaces = zip(layout.layouts, entities).map {
      ObjectIDSpace(layout: $0, entity: $1, store: key, persistentStore: persistentStore)
    }
    let context = RowReader.Context(
      mapping: opened.mapping, spaces: spaces, externalData: ExternalDataDirectory(storePath: opened.path))
    self.context = context
    let family = layout.layouts.map {
      RowReader(entity: $0.entityNumber, includesSubentities: true, context: context)
    }
    familyReaders = family
    exactReaders = layout.layouts.map {
      $0.family.count == 1
        ? family[$0.entityNumber - 1]
        : RowReader(entity: $0.entityNumber, includesSubentities: false, context: context)
    }
    keyQueries = layout.layouts.map {
      KeyQuery($0, reader: family[$0.entityNumber - 1], mapping: opened.mapping)
    }
    relationQueries = layout.layouts.map { entity in
      entity.slots.indices.map { RelationQuery(slot: $0, in: entity, context: context, readers: family) }
    }
    writePlans = WritePlans(opened.mapping)
    history = opened.history
    weakAnchor.tie(to: self)
    OpenStores.shared.add(self)
    OrphanSweep.startIfDue(self)
  }

  deinit { weakAnchor.cut() }

  var rowFormats: [RowFormat?] { context.formats }

  /// Path of the real file, without symbolic links.
  var path: String { location.path }

  /// Whether the database is in memory, private to this engine.
  var isInMemory: Bool { location.isInMemory }

  /// Whether the database has a single connection and can have no other: it is in memory, or locked
  /// exclusively.
  var isAlone: Bool { isInMemory || !options.isReadOnly && options.locksExclusively }

  /// `PRAGMA synchronous` of the connections, in lower case.
  var synchronous: String { options.synchronous }

  /// Number of this engine's commits, which invalidate caches.
  var commitCount: Int { _commits.load(ordering: .acquiring) }

  /// Counts a commit and notifies observers of the file.
  func didCommit() {
    _commits.wrappingAdd(1, ordering: .releasing)
    CommitBoard.shared.didCommit(commitName)
  }

  var metadata: [String: Any] {
    get throws {
      try SQLiteStoreError.translating {
        try pool.read { connection in try StoreMetadata.read(connection, path: path) }
      }
    }
  }

  func setMetadata(_ metadata: [String: Any]) throws {
    guard !options.isReadOnly else { throw SQLiteStoreError.readOnly(path: path) }
    try SQLiteStoreError.translating {
      try pool.write { connection in
        try connection.transaction { try StoreMetadata.write(metadata, to: connection) }
      }
    }
  }

  func changeMetadata(_ change: ([String: Any]) -> [String: Any]?) throws {
    guard !options.isReadOnly else { throw SQLiteStoreError.readOnly(path: path) }
    try SQLiteStoreError.translating {
      try pool.write { connection in
        try connection.transaction {
          guard let changed = change(try StoreMetadata.read(connection, path: path)) else { return }
          try StoreMetadata.write(changed, to: connection)
        }
      }
    }
  }

  func close() {
    pool.close()
    OpenStores.shared.remove(self)
  }

  /// Returns the name of the entity with this number, for messages.
  func entityName(_ number: Int) -> String { mapping.layout.layout(numbered: number).entityName }
}
