import CoreData

extension ModelContext {
  /// Reads the history of the container's stores: every save of any context, process or Core Data stack.
  ///
  /// - Throws: `SwiftDataError.historyTokenExpired` if transactions after a token of the predicate have been
  ///   deleted, `.invalidTransactionFetchRequest` for a predicate that can't be evaluated,
  ///   `DataStoreError.unsupportedFeature` if only a custom store could provide the history and doesn't, and
  ///   errors of the store.
  public func fetchHistory<T>(_ descriptor: HistoryDescriptor<T>) throws -> [T] where T: HistoryTransaction {
    for store in core.customStores { if let found = try store.history(descriptor) { return found } }
    guard let descriptor = descriptor as? HistoryDescriptor<DefaultHistoryTransaction>,
      core.configurations.count > 0
    else { throw DataStoreError.unsupportedFeature }
    return try HistoryReader(context: self).fetch(descriptor) as! [T]
  }

  /// Deletes transactions from the history of the container's stores; all for a descriptor without a predicate.
  ///
  /// - Throws: As ``fetchHistory(_:)``.
  public func deleteHistory<T>(_ descriptor: HistoryDescriptor<T>) throws where T: HistoryTransaction {
    for store in core.customStores { if try store.deleteHistory(descriptor) { return } }
    guard let descriptor = descriptor as? HistoryDescriptor<DefaultHistoryTransaction>,
      core.configurations.count > 0
    else { throw DataStoreError.unsupportedFeature }
    try HistoryReader(context: self).delete(descriptor)
  }
}
