import Foundation

// The history of the coordinator's stores.

extension NSPersistentStoreCoordinator {
  final func historyToken(ofStores stores: [Any]?) -> NSPersistentHistoryToken? {
    let wanted = stores?.compactMap { $0 as? NSPersistentStore }
    var transactions: [String: Int64] = [:]
    for (store, history) in histories(of: wanted) {
      do {
        transactions[store.identifier] = try history.lastTransaction()
      } catch {
        // Without the store in it, the token makes later requests return the store's whole history, and
        // nothing is missed.
        Console.warn(
          "the history of \(store.url?.absoluteString ?? "a store") cannot be read for a token: \(error)")
      }
    }
    return transactions.isEmpty ? nil : NSPersistentHistoryToken(transactions)
  }

  /// Returns those of the given stores, or of all, that record history.
  final func histories(of affected: [NSPersistentStore]?) -> [(
    store: NSPersistentStore, history: any HistoryKeeping
  )] {
    persistentStores.compactMap { store in
      if let affected, !affected.contains(where: { $0 === store }) { return nil }
      guard let history = store.engine as? any HistoryKeeping, history.keepsHistory else { return nil }
      return (store, history)
    }
  }

  /// Deletes transactions of a store by number and ignores missing ones. Any thread.
  ///
  /// - Throws: A Cocoa error if the store cannot be written.
  package final func deleteHistory(_ transactions: [Int64], of store: NSPersistentStore) throws {
    guard let history = histories(of: [store]).first?.history else { return }
    try StoreErrors.translating(url: store.url) {
      try history.deleteHistory(before: .transactions(transactions))
    }
  }

  /// Executes a history request.
  final func execute(_ request: NSPersistentHistoryChangeRequest) throws -> NSPersistentHistoryResult {
    let histories = histories(of: request.affectedStores)
    guard !histories.isEmpty else {
      throw CocoaError.coreData(
        NSPersistentStoreUnsupportedRequestTypeError,
        "None of the stores asked keeps a history. Add a SQLite store with NSPersistentHistoryTrackingKey set to true."
      )
    }
    if case .token(let token) = request.place, !token.transactions.isEmpty,
      !histories.contains(where: { token.transactions[$0.store.identifier] != nil })
    {
      throw HistoryErrors.foreign(token)
    }
    if request.isDeletion {
      for (store, history) in histories {
        guard let bound = request._bound(in: store) else { continue }
        try StoreErrors.translating(url: store.url) { try history.deleteHistory(before: bound) }
      }
      return NSPersistentHistoryResult(true, .statusOnly)
    }
    var found: [NSPersistentHistoryTransaction] = []
    var search = HistorySearch()
    for (store, history) in histories {
      search = try request.fetchRequest.map { try HistorySearch($0, in: store) } ?? HistorySearch()
      let records = try StoreErrors.translating(url: store.url) {
        try _records(request, search, store, history)
      }
      found += records.map { NSPersistentHistoryTransaction($0, storeID: store.identifier) }
    }
    if histories.count > 1 { found = found.ordered { $0.timestamp < $1.timestamp } }
    return NSPersistentHistoryResult(request._shown(found, search), request.resultType)
  }

  private final func _records(
    _ request: NSPersistentHistoryChangeRequest, _ search: HistorySearch, _ store: NSPersistentStore,
    _ history: any HistoryKeeping
  ) throws -> [HistoryTransactionRecord] {
    var query = HistoryQuery()
    switch request.place {
    case .beginning: break
    case .date(let date): query.afterTime = date.timeIntervalSinceReferenceDate
    case .token(let token):
      query.after = token.transactions[store.identifier] ?? 0
      try _checkIsThere(token, query.after, history)
    case .transaction(let transaction) where transaction.storeID == store.identifier:
      query.after = transaction.transactionNumber
      try _checkIsThere(transaction.token, query.after, history)
    case .transaction(let transaction):
      // For a transaction of another store, continue with the transactions written later.
      query.afterTime = transaction.timestamp.timeIntervalSinceReferenceDate
    }
    switch request.resultType {
    case .objectIDs, .changesOnly, .transactionsAndChanges: query.includesChanges = true
    case .statusOnly, .count, .transactionsOnly: query.includesChanges = search.changes != nil
    }
    var records = try history.history(
      query,
      isWanted: { record in
        try search.transactions.map { try $0.matches(HistorySubject(record), variables: [:]) } ?? true
      },
      isChangeWanted: { record in
        try search.changes.map { try $0.matches(HistorySubject(record), variables: [:]) } ?? true
      })
    if search.changes != nil {
      records.removeAll { $0.changes?.isEmpty ?? true }
      if request.resultType == .transactionsOnly {
        for index in records.indices { records[index].changes = nil }
      }
    }
    return records
  }

  /// Rejects a token after which history was deleted: a reader that continues from it would miss changes.
  private final func _checkIsThere(
    _ token: NSPersistentHistoryToken, _ number: Int64, _ history: any HistoryKeeping
  ) throws {
    guard number > 0 else { return }
    let first = try history.historyRange()?.lowerBound
    let isExpired = try first.map { $0 > number + 1 } ?? (try history.lastTransaction() > number)
    if isExpired { throw HistoryErrors.expired(token) }
  }
}

extension NSPersistentHistoryChangeRequest {
  /// Returns the bound up to which a store's history is deleted; nil to delete nothing.
  fileprivate func _bound(in store: NSPersistentStore) -> HistoryBound? {
    switch place {
    case .beginning: nil
    case .date(let date): .time(date.timeIntervalSinceReferenceDate)
    case .token(let token): token.transactions[store.identifier].map { .transaction($0) }
    case .transaction(let transaction):
      transaction.storeID == store.identifier ? .transaction(transaction.transactionNumber) : nil
    }
  }

  /// Returns the result in the requested form. A request for changes counts changes, any other transactions.
  fileprivate func _shown(_ found: [NSPersistentHistoryTransaction], _ search: HistorySearch) -> Any {
    let isOfChanges = fetchRequest?.entityName == HistoryField.changeEntityName
    switch resultType {
    case .statusOnly: return true
    case .count: return search.window(found).count
    case .transactionsOnly, .transactionsAndChanges: return search.window(found)
    case .changesOnly:
      if isOfChanges { return search.window(found.flatMap { $0.changes ?? [] }) }
      return search.window(found).flatMap { $0.changes ?? [] }
    case .objectIDs:
      let changes =
        isOfChanges
        ? search.window(found.flatMap { $0.changes ?? [] })
        : search.window(found).flatMap { $0.changes ?? [] }
      var seen = Set<NSManagedObjectID>()
      return changes.map(\.changedObjectID).filter { seen.insert($0).inserted }
    }
  }
}

extension NSPersistentHistoryChangeRequest: ExecutableRequest {
  func result(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    try context.requestedCoordinator(for: self).execute(self)
  }
}
