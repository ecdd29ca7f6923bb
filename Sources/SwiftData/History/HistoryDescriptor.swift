/// Selects transactions of a history.
public struct HistoryDescriptor<TransactionType>: Sendable where TransactionType: HistoryTransaction {
  /// The condition for transactions; nil for all.
  public var predicate: Predicate<TransactionType>?
  /// The order; empty for oldest first.
  public var sortBy: [SortDescriptor<TransactionType>]
  /// The maximum number of transactions; 0 for no limit.
  public var fetchLimit: UInt64 = 0

  /// Creates a descriptor.
  public init(predicate: Predicate<TransactionType>? = nil) {
    self.predicate = predicate
    sortBy = []
  }

  /// Creates a descriptor with an order.
  public init(
    predicate: Predicate<TransactionType>? = nil, sortBy: [SortDescriptor<TransactionType>]
  ) {
    self.predicate = predicate
    self.sortBy = sortBy
  }
}
