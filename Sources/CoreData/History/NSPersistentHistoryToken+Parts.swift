// Places in history by number, for modules of this package that have tokens of their own.

extension NSPersistentHistoryToken {
  /// The place right after a transaction of a store.
  package convenience init(store: String, number: Int64) { self.init([store: number]) }

  /// Number of the last known transaction of a store; nil for one that the token knows nothing of.
  package final func number(ofStore store: String) -> Int64? { transactions[store] }
}
