// History positions by number, for modules of this package with tokens of their own.

extension NSPersistentHistoryToken {
  /// Creates the position right after a transaction of a store.
  package convenience init(store: String, number: Int64) { self.init([store: number]) }

  /// Returns the number of the last known transaction of a store; nil if the token does not cover the store.
  package final func number(ofStore store: String) -> Int64? { transactions[store] }
}
