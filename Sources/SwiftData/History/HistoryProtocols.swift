/// A position in the history of a store.
public protocol HistoryToken: Comparable, Codable, Hashable, Identifiable, Sendable {
  /// The type of the token's value.
  associatedtype TokenType: Codable, Hashable, Sendable
  /// The token's value.
  var tokenValue: TokenType? { get }
  /// UUID of the store.
  var storeIdentifier: String { get }
}

/// One save into a store.
public protocol HistoryTransaction: Hashable, Identifiable, Sendable {
  /// The type of history tokens.
  associatedtype TokenType: Comparable, Hashable, Identifiable, Sendable
  /// The type that identifies transactions.
  associatedtype TransactionIdentifier: Comparable, Hashable, Sendable
  /// ``ModelContext/author`` of the context that saved.
  var author: String? { get }
  /// The changes.
  var changes: [HistoryChange] { get }
  /// UUID of the store.
  var storeIdentifier: String { get }
  /// The time when the transaction was written.
  var timestamp: Date { get }
  /// The position in history right after the transaction.
  var token: TokenType { get }
  /// Identifies the transaction in its store; later ones are greater.
  var transactionIdentifier: TransactionIdentifier { get }
}

/// A change of one model.
public enum HistoryChange: Sendable {
  /// An insertion.
  case insert(any HistoryInsert)
  /// An update.
  case update(any HistoryUpdate)
  /// A deletion.
  case delete(any HistoryDelete)

  /// Identity of the model.
  public var changedPersistentIdentifier: PersistentIdentifier {
    switch self {
    case .insert(let change): change.changedPersistentIdentifier
    case .update(let change): change.changedPersistentIdentifier
    case .delete(let change): change.changedPersistentIdentifier
    }
  }
}

/// The insertion of a model.
public protocol HistoryInsert<Model>: Sendable {
  /// Class of the model.
  associatedtype Model: PersistentModel
  /// The type that identifies changes.
  associatedtype ChangeIdentifier: Comparable, Hashable, Sendable
  /// The type that identifies transactions.
  associatedtype TransactionIdentifier: Comparable, Hashable, Sendable
  /// Identifies the change in its store; later ones are greater.
  var changeIdentifier: ChangeIdentifier { get }
  /// The transaction of the change.
  var transactionIdentifier: TransactionIdentifier { get }
  /// Identity of the model.
  var changedPersistentIdentifier: PersistentIdentifier { get }
}

/// An update of a model's properties.
public protocol HistoryUpdate<Model>: Sendable {
  /// Class of the model.
  associatedtype Model: PersistentModel
  /// The type that identifies changes.
  associatedtype ChangeIdentifier: Comparable, Hashable, Sendable
  /// The type that identifies transactions.
  associatedtype TransactionIdentifier: Comparable, Hashable, Sendable
  /// A changed property.
  typealias PropertyUpdate = PartialKeyPath<Model> & Sendable
  /// Identifies the change in its store; later ones are greater.
  var changeIdentifier: ChangeIdentifier { get }
  /// The transaction of the change.
  var transactionIdentifier: TransactionIdentifier { get }
  /// Identity of the model.
  var changedPersistentIdentifier: PersistentIdentifier { get }
  /// The changed properties.
  var updatedAttributes: [any PartialKeyPath<Model> & Sendable] { get }
}

/// The deletion of a model.
public protocol HistoryDelete<Model>: Sendable {
  /// Class of the model.
  associatedtype Model: PersistentModel
  /// The type that identifies changes.
  associatedtype ChangeIdentifier: Comparable, Hashable, Sendable
  /// The type that identifies transactions.
  associatedtype TransactionIdentifier: Comparable, Hashable, Sendable
  /// Identifies the change in its store; later ones are greater.
  var changeIdentifier: ChangeIdentifier { get }
  /// The transaction of the change.
  var transactionIdentifier: TransactionIdentifier { get }
  /// Identity that the model had.
  var changedPersistentIdentifier: PersistentIdentifier { get }
  /// The preserved values of the model.
  var tombstone: HistoryTombstone<Model> { get }
}

/// Values of a deleted model that history preserves: those of attributes with `.preserveValueOnDeletion`.
public struct HistoryTombstone<Model>: Sequence, Sendable where Model: PersistentModel {
  private let _values: [(name: String, value: any Sendable)]

  init(_ values: [(name: String, value: any Sendable)]) { _values = values }

  /// The former value of a property; nil if it isn't preserved.
  public subscript(_ keyPath: PartialKeyPath<Model>) -> (any Sendable)? {
    let modelClass = ModelClass.of(Model.self)
    guard let index = modelClass.knownIndex(of: keyPath) else { return nil }
    let name = modelClass.properties[index].name
    return _values.first { $0.name == name }?.value
  }

  /// Iterates the preserved values.
  public func makeIterator() -> some IteratorProtocol<any Sendable> {
    _values.map(\.value).makeIterator()
  }
}
