import CoreDataPredicateLanguage
import Foundation

/// The fields of transactions and changes that a history search supports.
enum HistoryField {
  static let transactionEntityName = "Transaction"
  static let changeEntityName = "Change"

  /// Describes transactions as an entity.
  static var transactionEntity: NSEntityDescription {
    _entity(
      transactionEntityName,
      [
        ("author", .stringAttributeType), ("bundleID", .stringAttributeType),
        ("contextName", .stringAttributeType),
        ("processID", .stringAttributeType), ("timestamp", .dateAttributeType),
        ("token", .transformableAttributeType), ("transactionNumber", .integer64AttributeType),
      ])
  }

  /// Describes changes as an entity.
  static var changeEntity: NSEntityDescription {
    _entity(
      changeEntityName,
      [
        ("changeID", .integer64AttributeType), ("changeType", .integer16AttributeType),
        ("changedEntity", .transformableAttributeType), ("changedID", .integer64AttributeType),
        ("changedObjectID", .objectIDAttributeType),
      ])
  }

  private static func _entity(_ name: String, _ attributes: [(String, NSAttributeType)])
    -> NSEntityDescription
  {
    let entity = NSEntityDescription()
    entity.name = name
    entity.properties = attributes.map { name, type in
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.attributeType = type
      return attribute
    }
    return entity
  }
}

/// Evaluates predicates on a transaction or change: values by key.
struct HistorySubject: PredicateSubject {
  private let _values: [String: PredicateValue]
  private let _kind: String

  /// Tokens compare by the number of the transaction in the searched store.
  init(_ transaction: HistoryTransactionRecord) {
    _kind = "a transaction"
    _values = [
      "author": transaction.author.map { .string($0) } ?? .null,
      "bundleID": .string(transaction.bundleID),
      "contextName": transaction.contextName.map { .string($0) } ?? .null,
      "processID": .string(transaction.processID),
      "timestamp": .date(transaction.timestamp),
      "token": .int(transaction.number),
      "transactionNumber": .int(transaction.number),
    ]
  }

  /// Entities compare by name.
  init(_ change: HistoryChangeRecord) {
    _kind = "a change"
    _values = [
      "changeID": .int(change.number),
      "changeType": .int(Int64(change.kind.rawValue)),
      "changedEntity": .string(change.key.space.layout.entityName),
      "changedID": .int(change.key.reference),
      "changedObjectID": .object(PredicateObject(NSManagedObjectID(change.key))),
    ]
  }

  var predicateValue: PredicateValue { .dictionary(_values) }
  var isReadByKey: Bool { true }

  func predicateValue(forKey key: String) throws -> PredicateValue {
    guard let value = _values[key] else {
      throw PredicateEvaluationError.unknownKey(
        key, of: "\(_kind) of the history, which has \(_values.keys.sorted().joined(separator: ", "))")
    }
    return value
  }

  func predicateValue(forKey key: String, of object: PredicateObject) throws -> PredicateValue {
    throw PredicateEvaluationError.unknownKey(key, of: "\(object.wrapped)")
  }

  func predicateResult(
    of selector: String, on target: PredicateValue, arguments: [PredicateValue]
  ) throws -> PredicateValue? { nil }

  func predicateResult(
    ofBlock block: PredicateObject, arguments: [PredicateValue]?, variables: [String: PredicateValue]
  ) throws -> PredicateValue {
    throw PredicateEvaluationError.unsupported("A search of the history takes no closures.")
  }
}

/// A history search by fetch request, in one store.
struct HistorySearch {
  /// The condition on transactions; nil for none.
  private(set) var transactions: PredicateTree?
  /// The condition on changes; nil for none.
  private(set) var changes: PredicateTree?
  private let _limit: Int
  private let _offset: Int

  /// Creates a search without conditions.
  init() {
    _limit = 0
    _offset = 0
  }

  /// - Throws: A Cocoa error for a request with another entity, or an unsupported condition: 134301 for a
  ///   comparison with the token of an empty history, 134501 for one with the token of another store.
  init(_ request: AnyFetchRequest, in store: NSPersistentStore) throws {
    _limit = max(0, request.fetchLimit)
    _offset = max(0, request.fetchOffset)
    if !(request.sortDescriptors?.isEmpty ?? true) {
      Console.warnOnce(
        about: "history sort descriptors",
        "a history request is answered in the order in which the history was written; its sort descriptors are ignored."
      )
    }
    let name = request.entityName ?? ""
    let isOfChanges = name == HistoryField.changeEntityName
    guard isOfChanges || name == HistoryField.transactionEntityName else {
      throw CocoaError.coreData(
        NSCoreDataError,
        "A history request searches transactions or changes, not '\(name)'. Give it the entity of "
          + "NSPersistentHistoryTransaction.entityDescription(with:) or NSPersistentHistoryChange.entityDescription(with:)."
      )
    }
    guard let predicate = request.predicate else { return }
    let tree: PredicateTree
    do {
      let original = try PredicateTree(predicate).forStores
      tree =
        try original.rewritten { (expression: ExpressionTree) throws -> ExpressionTree? in
          guard case .constant(let value) = expression else { return nil }
          return .constant(try Self._comparable(value, store))
        } ?? original
    } catch let error as CocoaError {
      throw error
    } catch {
      throw CocoaError.coreData(NSCoreDataError, "The search of the history cannot be carried out: \(error)")
    }
    if isOfChanges { changes = tree } else { transactions = tree }
  }

  /// Applies the request's offset and limit to the results.
  func window<T>(_ results: [T]) -> [T] {
    if _limit == 0, _offset == 0 { return results }
    let rest = results.dropFirst(_offset)
    return Array(_limit > 0 ? rest.prefix(_limit) : rest)
  }

  /// Converts a constant to the form of the subject's values.
  private static func _comparable(_ value: PredicateValue, _ store: NSPersistentStore) throws
    -> PredicateValue
  {
    switch value {
    case .collection(let members): return .collection(try members.map { try _comparable($0, store) })
    case .object(let object):
      switch object.wrapped {
      case let token as NSPersistentHistoryToken:
        guard let number = token.transactions[store.identifier] else { throw HistoryErrors.foreign(token) }
        guard number > 0 else { throw HistoryErrors.expired(token) }
        return .int(number)
      case let transaction as NSPersistentHistoryTransaction: return .int(transaction.transactionNumber)
      case let entity as NSEntityDescription: return .string(entity.name ?? "")
      case let id as NSManagedObjectID:
        // As in Core Data, an ID from another coordinator matches nothing.
        return id.persistentStore === store ? value : .null
      default: return value
      }
    default: return value
    }
  }
}

enum HistoryErrors {
  static func expired(_ token: NSPersistentHistoryToken) -> CocoaError {
    CocoaError.coreData(
      NSPersistentHistoryTokenExpiredError,
      "\(token) names no place in the history: what came after it was deleted, or it is from before the first "
        + "transaction. Read all there is, and go on from the current token.", ["token": token])
  }

  static func foreign(_ token: NSPersistentHistoryToken) -> CocoaError {
    CocoaError.coreData(
      historyTokenStoreError,
      "\(token) is a token of another store: no store that was asked is among its stores. Keep a token for each store, and read "
        + "the whole history of one that was replaced.", ["token": token])
  }
}
