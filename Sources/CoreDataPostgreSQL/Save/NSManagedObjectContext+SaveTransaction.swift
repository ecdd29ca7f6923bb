import CoreData
import CoreDataPostgreSQLBinding
import Foundation

extension NSManagedObjectContext {
  /// Saves, and runs SQL of the program's own in the transaction of the save: both are stored, or neither.
  ///
  /// The pattern of an outbox: what other systems are to be told is stored together with what has changed.
  ///
  /// ```swift
  /// import CoreData
  /// import CoreDataPostgreSQL
  ///
  /// func place(_ order: NSManagedObject, in context: NSManagedObjectContext) throws {
  ///   try context.save { sql in
  ///     try sql.run("INSERT INTO app.outbox (order_id, event) VALUES ($1, $2)", order, #"{"kind": "placed"}"#)
  ///   }
  /// }
  /// ```
  ///
  /// Call it on the context's queue, as `save()`. The block runs there, after the changes were written and before the
  /// commit; without changes, too. It may run several times, since a save is repeated after a conflict that the merge
  /// policy settles, a deadlock, or the loss of a connection: it only talks to the database. It reads no faults, for
  /// which the store would need another connection. All must be done by the store's deadline
  /// (`NSPostgreSQLDeadlineOption`).
  ///
  /// - Parameters:
  ///   - store: The PostgreSQL store in whose transaction the block runs; the only one of the coordinator without it.
  ///   - body: Runs statements. An error that it throws fails the save and is thrown unchanged.
  /// - Throws: Errors of `save()` and of `body`. Nothing is stored then, and the context keeps its changes. A Cocoa error
  ///   (134070) for a context with a parent, whose saves go there, or if it is not clear which store is meant.
  public func save(
    in store: NSPersistentStore? = nil, _ body: (PostgreSQLSaveTransaction) throws -> Void
  ) throws {
    let store = try StoreErrors.translating { try _workingStore(store) }
    try withoutActuallyEscaping(body) { body in
      let work = PostgreSQLSaveWork(body)
      defer { work.end() }
      try save(with: work, in: store)
    }
  }

  /// Returns the store in whose transaction SQL runs.
  private func _workingStore(_ store: NSPersistentStore?) throws -> NSPersistentStore {
    guard parent == nil else {
      throw PostgreSQLStoreError.work("the context saves into its parent; save that one with SQL")
    }
    let stores = (persistentStoreCoordinator?.persistentStores ?? []).filter {
      $0.engine is PostgreSQLStoreEngine
    }
    if let store {
      guard stores.contains(store) else {
        throw PostgreSQLStoreError.work("the store is no PostgreSQL store of the context's coordinator")
      }
      return store
    }
    guard let only = stores.first, stores.count == 1 else {
      throw PostgreSQLStoreError.work(
        "the context's coordinator has \(stores.count) PostgreSQL stores; name the one that is meant")
    }
    return only
  }
}

/// The program's part of a save. Used by the saving thread only, during the call that has the block.
final class PostgreSQLSaveWork: StoreWork, @unchecked Sendable {
  private var _body: ((PostgreSQLSaveTransaction) throws -> Void)?

  init(_ body: @escaping (PostgreSQLSaveTransaction) throws -> Void) { _body = body }

  /// Releases the block, which does not outlive the call that has it.
  func end() { _body = nil }

  /// Runs it.
  ///
  /// - Returns: The rows that it has written.
  /// - Throws: Its errors, to be given to the program unchanged; errors after which the save may be repeated.
  func run(in save: PostgreSQLSave) throws -> [ObjectKey] {
    // A failure of the save's own statements is not one of the program's.
    try save.connection.runPending()
    let transaction = PostgreSQLSaveTransaction(save)
    defer { transaction.end() }
    var failure: (any Error)?
    do { try _body?(transaction) } catch { failure = error }
    switch transaction.failure {
    case let error as PostgreSQLError where PostgreSQLStoreEngine.isPassing(error): throw error
    case let error?:
      throw CustomStoreError(
        underlying: failure ?? StoreErrors.cocoa(PostgreSQLStoreError.translated(error), nil))
    case nil:
      if let failure { throw CustomStoreError(underlying: failure) }
      return transaction.overwritten
    }
  }
}
