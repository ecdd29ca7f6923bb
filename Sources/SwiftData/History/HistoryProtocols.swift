/// A place in the history of a store: what was written up to there is known.
public protocol HistoryToken: Comparable, Codable, Hashable, Identifiable, Sendable {
  /// What the place is told by.
  associatedtype TokenType: Codable, Hashable, Sendable
  /// What the place is told by.
  var tokenValue: TokenType? { get }
  /// UUID of the store.
  var storeIdentifier: String { get }
}

/// One save into a store.
public protocol HistoryTransaction: Hashable, Identifiable, Sendable {
  /// The place in history right after the transaction.
  associatedtype TokenType: Comparable, Hashable, Identifiable, Sendable
  /// What transactions are told apart by.
  associatedtype TransactionIdentifier: Comparable, Hashable, Sendable
  /// ``ModelContext/author`` of the context that saved.
  var author: String? { get }
  /// What was changed.
  var changes: [HistoryChange] { get }
  /// UUID of the store.
  var storeIdentifier: String { get }
  /// When it was written.
  var timestamp: Date { get }
  /// The place in history right after the transaction.
  var token: TokenType { get }
  /// Tells the transaction from the store's others; later ones are greater.
  var transactionIdentifier: TransactionIdentifier { get }
}

/// The change of one model.
public enum HistoryChange: Sendable {
  /// It was inserted.
  case insert(any HistoryInsert)
  /// It was changed.
  case update(any HistoryUpdate)
  /// It was deleted.
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
  /// What changes are told apart by.
  associatedtype ChangeIdentifier: Comparable, Hashable, Sendable
  /// What transactions are told apart by.
  associatedtype TransactionIdentifier: Comparable, Hashable, Sendable
  /// Tells the change from the store's others; later ones are greater.
  var changeIdentifier: ChangeIdentifier { get }
  /// The transaction that the change belongs to.
  var transactionIdentifier: TransactionIdentifier { get }
  /// Identity of the model.
  var changedPersistentIdentifier: PersistentIdentifier { get }
}

/// A change of a model's properties.
public protocol HistoryUpdate<Model>: Sendable {
  /// Class of the model.
  associatedtype Model: PersistentModel
  /// What changes are told apart by.
  associatedtype ChangeIdentifier: Comparable, Hashable, Sendable
  /// What transactions are told apart by.
  associatedtype TransactionIdentifier: Comparable, Hashable, Sendable
  /// A property that was changed.
  typealias PropertyUpdate = PartialKeyPath<Model> & Sendable
  /// Tells the change from the store's others; later ones are greater.
  var changeIdentifier: ChangeIdentifier { get }
  /// The transaction that the change belongs to.
  var transactionIdentifier: TransactionIdentifier { get }
  /// Identity of the model.
  var changedPersistentIdentifier: PersistentIdentifier { get }
  /// The properties that were changed.
  var updatedAttributes: [any PartialKeyPath<Model> & Sendable] { get }
}

/// The deletion of a model.
public protocol HistoryDelete<Model>: Sendable {
  /// Class of the model.
  associatedtype Model: PersistentModel
  /// What changes are told apart by.
  associatedtype ChangeIdentifier: Comparable, Hashable, Sendable
  /// What transactions are told apart by.
  associatedtype TransactionIdentifier: Comparable, Hashable, Sendable
  /// Tells the change from the store's others; later ones are greater.
  var changeIdentifier: ChangeIdentifier { get }
  /// The transaction that the change belongs to.
  var transactionIdentifier: TransactionIdentifier { get }
  /// Identity that the model had.
  var changedPersistentIdentifier: PersistentIdentifier { get }
  /// The values that were kept of it.
  var tombstone: HistoryTombstone<Model> { get }
}

/// What history keeps of a deleted model: the values of attributes with `.preserveValueOnDeletion`.
public struct HistoryTombstone<Model>: Sequence, Sendable where Model: PersistentModel {
  private let _values: [(name: String, value: any Sendable)]

  init(_ values: [(name: String, value: any Sendable)]) { _values = values }

  /// The value that a property had; nil for one whose value isn't kept.
  public subscript(_ keyPath: PartialKeyPath<Model>) -> (any Sendable)? {
    let modelClass = ModelClass.of(Model.self)
    guard let index = modelClass.knownIndex(of: keyPath) else { return nil }
    let name = modelClass.properties[index].name
    return _values.first { $0.name == name }?.value
  }

  /// The values that are kept.
  public func makeIterator() -> some IteratorProtocol<any Sendable> {
    _values.map(\.value).makeIterator()
  }
}
