import CoreData

extension ModelContext {
  /// Reads the history of the container's stores: every save of any context, process or Core Data stack.
  ///
  /// - Throws: `SwiftDataError.historyTokenExpired` where transactions after a token of the predicate have been deleted,
  ///   `.invalidTransactionFetchRequest` for a predicate that can't be evaluated, and what the store throws.
  public func fetchHistory<T>(_ descriptor: HistoryDescriptor<T>) throws -> [T] where T: HistoryTransaction {
    guard let descriptor = descriptor as? HistoryDescriptor<DefaultHistoryTransaction> else {
      throw SwiftDataError(
        .invalidTransactionFetchRequest, "No store of the container has a history of \(T.self).")
    }
    return try HistoryReader(context: self).fetch(descriptor) as! [T]
  }

  /// Deletes transactions from the history of the container's stores; all for a descriptor without a predicate.
  ///
  /// - Throws: As ``fetchHistory(_:)``.
  public func deleteHistory<T>(_ descriptor: HistoryDescriptor<T>) throws where T: HistoryTransaction {
    guard let descriptor = descriptor as? HistoryDescriptor<DefaultHistoryTransaction> else {
      throw SwiftDataError(
        .invalidTransactionFetchRequest, "No store of the container has a history of \(T.self).")
    }
    try HistoryReader(context: self).delete(descriptor)
  }
}
