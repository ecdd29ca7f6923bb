import CoreData
import CoreDataModelSchema
import CoreDataPostgreSQLBinding
import Foundation
import Synchronization

/// A Core Data store in a schema of a PostgreSQL database.
///
/// All methods may be called from any thread, concurrently: each takes a connection from the pool. Reads see
/// committed data, and never wait for a commit.
final class PostgreSQLStoreEngine: StoreEngine {
  let address: PostgreSQLAddress
  let mapping: StoreMapping
  /// The epoch of the program's version of the model.
  let epoch: PostgreSQLEpoch
  let spaces: [ObjectIDSpace]
  let pool: PostgreSQLPool
  /// Serves reads of objects while it is current; nil without a replica.
  let replica: PostgreSQLReplica?
  let timelines: PostgreSQLTimelines
  let isReadOnly: Bool
  /// Whether saves are recorded in the history.
  let keepsHistory: Bool
  /// Readers for an entity with its subentities, by entity number - 1.
  let familyReaders: [PostgreSQLRowReader]
  /// Readers for an entity without its subentities; the family reader if it has none.
  let exactReaders: [PostgreSQLRowReader]
  let relations: [[PostgreSQLRelation?]]
  let queries = QueryCache<PostgreSQLQueryKey, PostgreSQLQuery>()
  let tableQueries = QueryCache<PostgreSQLTableKey, PostgreSQLTableQuery>()
  let derivations: PostgreSQLDerivations
  let generations: PostgreSQLGenerations
  /// Whether the server notifies other programs of each save.
  let notifies: Bool
  /// Told of saves; nil without an observer.
  let observation: PostgreSQLObservation?
  let capabilities: PostgreSQLCapabilities
  let plans: PostgreSQLWritePlans
  let ownerRules: PostgreSQLOwnerRules
  let keys: PostgreSQLKeys
  let receipts = PostgreSQLReceiptPruning()
  private let _callSeconds: Double?
  let rowAge: Double?
  /// Keeps cached rows current; nil if they age.
  let follower: PostgreSQLHistoryFollower?

  init(
    _ address: PostgreSQLAddress, pool: PostgreSQLPool, mapping: StoreMapping,
    epoch: PostgreSQLEpoch, key: StoreKey,
    entities: [NSEntityDescription], persistentStore: NSPersistentStore?, isReadOnly: Bool,
    keepsHistory: Bool, derivations: PostgreSQLDerivations, generations: PostgreSQLGenerations,
    notifies: Bool, replica: PostgreSQLReplica?, timelines: PostgreSQLTimelines,
    capabilities: PostgreSQLCapabilities, bucket: Int64,
    callSeconds: Double?, rowAge: Double?, followsHistory: Bool, observation: PostgreSQLObservation?
  ) {
    self.observation = observation
    _callSeconds = callSeconds
    self.rowAge = rowAge
    follower = followsHistory ? PostgreSQLHistoryFollower() : nil
    self.replica = replica
    self.timelines = timelines
    self.capabilities = capabilities
    self.address = address
    self.pool = pool
    self.mapping = mapping
    self.epoch = epoch
    self.isReadOnly = isReadOnly
    self.keepsHistory = keepsHistory
    let spaces = zip(mapping.layout.layouts, entities).map {
      ObjectIDSpace(layout: $0, entity: $1, store: key, persistentStore: persistentStore)
    }
    self.spaces = spaces
    let family = mapping.layout.layouts.map {
      PostgreSQLRowReader(
        entity: $0.entityNumber, includesSubentities: true, mapping: mapping, spaces: spaces)
    }
    familyReaders = family
    exactReaders = mapping.layout.layouts.map {
      $0.family.count == 1
        ? family[$0.entityNumber - 1]
        : PostgreSQLRowReader(
          entity: $0.entityNumber, includesSubentities: false, mapping: mapping, spaces: spaces)
    }
    relations = mapping.layout.layouts.map { layout in
      layout.slots.indices.map { PostgreSQLRelation(slot: $0, in: layout, mapping) }
    }
    plans = PostgreSQLWritePlans(mapping, derivations)
    ownerRules = PostgreSQLOwnerRules(mapping.layout)
    self.derivations = derivations
    self.generations = generations
    self.notifies = notifies
    keys = PostgreSQLKeys(mapping, bucket: bucket)
    timelines.onChange { [weak self, weak persistentStore] in
      persistentStore?.persistentStoreCoordinator?.emptyRowCache()
      self?._enterHistory()
    }
  }

  var followsChanges: Bool { follower != nil }

  /// Forgets what is known of a history that the server does not have.
  private func _enterHistory() {
    replica?.enterHistory()
    follower?.restart()
    observation?.tell(.timeline)
  }

  /// The deadline of a call that begins now.
  var deadline: PostgreSQLDeadline { _callSeconds.map { PostgreSQLDeadline(after: $0) } ?? .never }

  /// The deadline of a read that begins now, and that its caller may cancel.
  private var _readDeadline: PostgreSQLDeadline {
    RunningQuery.isWatched ? deadline.orWhen { RunningQuery.isCancelled } : deadline
  }

  /// Runs `body` with a connection, and converts the server's errors to store errors.
  ///
  /// - Parameter deadline: When the call must be over; none for work that takes as long as it takes.
  func withConnection<Result>(
    _ use: String, until deadline: PostgreSQLDeadline = .never,
    _ body: (PostgreSQLConnection) throws -> Result
  ) throws -> Result {
    try PostgreSQLStoreError.translating {
      try pool.withConnection(use, until: deadline) { connection in
        try timelines.beginReading(connection)
        return try body(connection)
      }
    }
  }

  /// Runs a read; retries once on a new connection if the connection was lost.
  func reading<Result>(_ use: String, _ body: (PostgreSQLConnection) throws -> Result) throws -> Result {
    try _reading(use, until: _readDeadline, body)
  }

  private func _reading<Result>(
    _ use: String, until deadline: PostgreSQLDeadline, _ body: (PostgreSQLConnection) throws -> Result
  ) throws -> Result {
    try PostgreSQLStoreError.translating {
      do {
        return try _onPrimary(use, deadline, body)
      } catch let error as PostgreSQLError
        where error.isConnectionLost && !deadline.isCancelled
      {
        pool.dropIdle()
        return try _onPrimary(use, deadline, body)
      } catch let error as PostgreSQLError where error.isMissingColumn {
        throw try _outdated(deadline) ?? error
      }
    }
  }

  /// Returns the error of a program whose version of the model may no longer read the store; nil for one that may.
  private func _outdated(_ deadline: PostgreSQLDeadline) throws -> (any Error)? {
    try pool.withConnection("the version of the model", until: deadline) { connection in
      try epoch.outdated(for: \.readsFrom, on: connection)
    }
  }

  /// Runs a read of objects, on a replica if one is current.
  func readingObjects<Result>(_ use: String, _ body: (PostgreSQLConnection) throws -> Result) throws -> Result
  {
    let deadline = _readDeadline
    if let replica {
      let found = try PostgreSQLStoreError.translating {
        try replica.read(use, until: deadline, body)
      }
      if let found { return found }
    }
    return try _reading(use, until: deadline, body)
  }

  /// Runs a read on the primary. Replicas are read again only once they have replayed what it saw.
  private func _onPrimary<Result>(
    _ use: String, _ deadline: PostgreSQLDeadline, _ body: (PostgreSQLConnection) throws -> Result
  ) throws -> Result {
    try pool.withConnection(use, until: deadline) { connection in
      try timelines.beginReading(connection)
      guard let replica else { return try body(connection) }
      return try replica.following(connection) { try body(connection) }
    }
  }

  var metadata: [String: Any] {
    get throws {
      try reading("metadata") { connection in
        try PostgreSQLMetadata.read(connection, schema: address.schema)
      }
    }
  }

  func setMetadata(_ metadata: [String: Any]) throws {
    guard !isReadOnly else { throw PostgreSQLStoreError.readOnly(schema: address.schema) }
    try withConnection("metadata", until: deadline) { connection in
      try connection.transaction {
        try epoch.check(on: connection)
        try PostgreSQLMetadata.lock(connection, schema: address.schema)
        let present = try PostgreSQLMetadata.read(connection, schema: address.schema)
        try PostgreSQLMetadata.write(
          PostgreSQLMetadata.keepingVersion(of: present, metadata), to: connection, schema: address.schema)
      }
    }
  }

  /// Leaves the metadata as they are if the role may not write them.
  func changeMetadata(_ change: ([String: Any]) -> [String: Any]?) throws {
    guard !isReadOnly else { throw PostgreSQLStoreError.readOnly(schema: address.schema) }
    try withConnection("metadata", until: deadline) { connection in
      do {
        try connection.transaction {
          try epoch.check(on: connection)
          try PostgreSQLMetadata.lock(connection, schema: address.schema)
          let present = try PostgreSQLMetadata.read(connection, schema: address.schema)
          guard let changed = change(present) else { return }
          try PostgreSQLMetadata.write(changed, to: connection, schema: address.schema)
        }
      } catch let error as PostgreSQLError where error.isDenied {}
    }
  }

  var endsCancelledFetches: Bool { true }

  var isRemote: Bool { true }

  func close() {
    pool.close()
    replica?.close()
  }

  func reserveKeys(_ counts: [Int: Int]) throws -> [Int: [Int64]] {
    guard !isReadOnly else { throw PostgreSQLStoreError.readOnly(schema: address.schema) }
    return try withConnection("new keys", until: deadline) { connection in
      var result: [Int: [Int64]] = [:]
      for (number, count) in counts where count > 0 {
        result[number] = try keys.acquire(
          count, root: mapping.layout.layout(numbered: number).rootNumber, on: connection)
      }
      return result
    }
  }

  /// Returns the name of an entity, for messages.
  func entityName(_ number: Int) -> String { mapping.layout.layout(numbered: number).entityName }
}
