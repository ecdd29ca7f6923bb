/// A position in the history of a default store.
public struct DefaultHistoryToken: HistoryToken {
  /// Numbers of the last known transactions, by store UUID.
  public typealias TokenType = [String: Int64]
  /// Numbers of the last known transactions, by store UUID.
  public let tokenValue: TokenType?

  init(store: String, number: Int64) { tokenValue = [store: number] }

  /// The token's value.
  public var id: TokenType { tokenValue ?? [:] }
  /// UUID of the store.
  public var storeIdentifier: String { tokenValue?.keys.min() ?? "" }

  /// Number of the transaction; 0 before the first.
  var number: Int64 { tokenValue?.values.max() ?? 0 }

  /// Orders by the numbers of the transactions; of different stores, by their UUIDs.
  public static func < (lhs: DefaultHistoryToken, rhs: DefaultHistoryToken) -> Bool {
    lhs.storeIdentifier == rhs.storeIdentifier
      ? lhs.number < rhs.number : lhs.storeIdentifier < rhs.storeIdentifier
  }
}

/// One save into a default store.
public struct DefaultHistoryTransaction: HistoryTransaction {
  public typealias TokenType = DefaultHistoryToken
  public typealias TransactionIdentifier = Int64
  /// ``ModelContext/author`` of the saving context, or the author set by another program.
  public let author: String?
  /// The changes, in the order of writing.
  public let changes: [HistoryChange]
  /// UUID of the store.
  public let storeIdentifier: String
  /// The time when the transaction was written.
  public let timestamp: Date
  /// The position in history right after the transaction.
  public let token: DefaultHistoryToken
  /// Number of the transaction in its store.
  public let transactionIdentifier: Int64
  /// Identifier of the program that wrote the transaction.
  public let bundleIdentifier: String
  /// Name of the process that wrote the transaction.
  public let processIdentifier: String
  /// Number of the transaction in its store.
  public var id: Int64 { transactionIdentifier }

  /// Whether both are the same transaction of the same store.
  public static func == (lhs: DefaultHistoryTransaction, rhs: DefaultHistoryTransaction) -> Bool {
    lhs.transactionIdentifier == rhs.transactionIdentifier && lhs.storeIdentifier == rhs.storeIdentifier
  }

  /// Hashes the number.
  public func hash(into hasher: inout Hasher) { hasher.combine(transactionIdentifier) }
}

/// The insertion of a model in a default store.
public struct DefaultHistoryInsert<Model>: HistoryInsert, Hashable where Model: PersistentModel {
  public typealias ChangeIdentifier = Int64
  public typealias TransactionIdentifier = Int64
  /// Number of the change in its store.
  public let changeIdentifier: Int64
  /// Number of the transaction in its store.
  public let transactionIdentifier: Int64
  /// Identity of the model.
  public let changedPersistentIdentifier: PersistentIdentifier
}

/// An update of a model's properties in a default store.
public struct DefaultHistoryUpdate<Model>: HistoryUpdate, Hashable where Model: PersistentModel {
  public typealias ChangeIdentifier = Int64
  public typealias TransactionIdentifier = Int64
  public typealias PropertyUpdate = PartialKeyPath<Model> & Sendable
  /// Number of the change in its store.
  public let changeIdentifier: Int64
  /// Number of the transaction in its store.
  public let transactionIdentifier: Int64
  /// Identity of the model.
  public let changedPersistentIdentifier: PersistentIdentifier
  /// The changed properties.
  public let updatedAttributes: [any PartialKeyPath<Model> & Sendable]

  /// Whether a property was changed.
  public func containsAttribute(_ keyPath: any PartialKeyPath<Model> & Sendable) -> Bool {
    updatedAttributes.contains { ($0 as PartialKeyPath<Model>) == (keyPath as PartialKeyPath<Model>) }
  }

  /// Whether both are the same change.
  public static func == (lhs: Self, rhs: Self) -> Bool {
    lhs.changeIdentifier == rhs.changeIdentifier
      && lhs.changedPersistentIdentifier == rhs.changedPersistentIdentifier
  }

  /// Hashes the number.
  public func hash(into hasher: inout Hasher) { hasher.combine(changeIdentifier) }
}

/// The deletion of a model in a default store.
public struct DefaultHistoryDelete<Model>: HistoryDelete, Hashable where Model: PersistentModel {
  public typealias ChangeIdentifier = Int64
  public typealias TransactionIdentifier = Int64
  /// Number of the change in its store.
  public let changeIdentifier: Int64
  /// Number of the transaction in its store.
  public let transactionIdentifier: Int64
  /// Identity that the model had.
  public let changedPersistentIdentifier: PersistentIdentifier
  /// The preserved values of the model.
  public let tombstone: HistoryTombstone<Model>

  /// Whether both are the same change.
  public static func == (lhs: Self, rhs: Self) -> Bool {
    lhs.changeIdentifier == rhs.changeIdentifier
      && lhs.changedPersistentIdentifier == rhs.changedPersistentIdentifier
  }

  /// Hashes the number.
  public func hash(into hasher: inout Hasher) { hasher.combine(changeIdentifier) }
}
