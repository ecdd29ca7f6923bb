import CoreData

/// Reads the engine's history as typed transactions.
struct HistoryReader {
  let context: ModelContext

  /// Returns the transactions that a descriptor selects.
  func fetch(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws -> [DefaultHistoryTransaction]
  {
    var found = try context.core._historyStores.flatMap {
      try _matching(descriptor.predicate, $0)
    }
    if context.core._historyStores.count > 1 { found.sort { $0.timestamp < $1.timestamp } }
    if !descriptor.sortBy.isEmpty { found.sort(using: descriptor.sortBy) }
    return descriptor.fetchLimit > 0 ? Array(found.prefix(Int(clamping: descriptor.fetchLimit))) : found
  }

  /// Returns the transactions after positions in the stores' histories; all of a store without a position, or
  /// whose history after it was deleted.
  func fetch(after seen: [String: Int64]) throws -> [DefaultHistoryTransaction] {
    try context.core._historyStores.flatMap { store in
      let token = seen[store.identifier].map { DefaultHistoryToken(store: store.identifier, number: $0) }
      do {
        return try _read(store, after: token).map { _typed($0) }
      } catch SwiftDataError.historyTokenExpired {
        return try _read(store, after: nil).map { _typed($0) }
      }
    }
  }

  /// Returns the numbers of the last transactions by store.
  func newest() -> [String: Int64] {
    var numbers: [String: Int64] = [:]
    for store in context.core._historyStores {
      let token = context.core.coordinator.currentPersistentHistoryToken(fromStores: [store])
      numbers[store.identifier] = token?.number(ofStore: store.identifier) ?? 0
    }
    return numbers
  }

  /// Deletes the transactions that satisfy a predicate, in the descriptor's order and up to its limit.
  ///
  /// - Throws: `SwiftDataError.invalidTransactionFetchRequest` for a predicate that can't be evaluated.
  func delete(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws {
    let doomed = Dictionary(grouping: try fetch(descriptor), by: \.storeIdentifier)
    for store in context.core._historyStores {
      guard let numbers = doomed[store.identifier]?.map(\.transactionIdentifier) else { continue }
      try context.core.coordinator.deleteHistory(numbers, of: store)
    }
  }

  /// Returns the transactions of a store that satisfy a predicate, oldest first.
  private func _matching(
    _ predicate: Predicate<DefaultHistoryTransaction>?, _ store: NSPersistentStore
  ) throws -> [DefaultHistoryTransaction] {
    let token = predicate.flatMap { HistoryBound.token(in: $0, ofStore: store.identifier) }
    let found = try _read(store, after: token).map { _typed($0) }
    guard let predicate else { return found }
    do {
      return try found.filter { try predicate.evaluate($0) }
    } catch {
      throw SwiftDataError(.invalidTransactionFetchRequest, "The history can't be searched so: \(error)")
    }
  }

  private func _read(
    _ store: NSPersistentStore, after token: DefaultHistoryToken?
  ) throws -> [NSPersistentHistoryTransaction] {
    let place = token.map { NSPersistentHistoryToken(store: store.identifier, number: $0.number) }
    let request = NSPersistentHistoryChangeRequest.fetchHistory(after: place)
    request.affectedStores = [store]
    do {
      let result = try context.managed.execute(request) as? NSPersistentHistoryResult
      return result?.result as? [NSPersistentHistoryTransaction] ?? []
    } catch let error as CocoaError where error.code.rawValue == 134301 {
      throw SwiftDataError(
        .historyTokenExpired,
        "Transactions after the token have been deleted from the history. Read it whole, and go on from its last token."
      )
    }
  }

  // MARK: Types

  private func _typed(_ transaction: NSPersistentHistoryTransaction) -> DefaultHistoryTransaction {
    DefaultHistoryTransaction(
      author: transaction.author,
      changes: (transaction.changes ?? []).compactMap { _typed($0, transaction.transactionNumber) },
      storeIdentifier: transaction.storeID, timestamp: transaction.timestamp,
      token: DefaultHistoryToken(store: transaction.storeID, number: transaction.transactionNumber),
      transactionIdentifier: transaction.transactionNumber, bundleIdentifier: transaction.bundleID,
      processIdentifier: transaction.processID)
  }

  private func _typed(_ change: NSPersistentHistoryChange, _ number: Int64) -> HistoryChange? {
    guard let identifier = PersistentIdentifier(change.changedObjectID),
      let type = context.core.bindings.binding(named: identifier.entityName)?.modelClass.type
    else { return nil }
    func open<Model: PersistentModel>(_ type: Model.Type) -> HistoryChange {
      switch change.changeType {
      case .insert:
        return .insert(
          DefaultHistoryInsert<Model>(
            changeIdentifier: change.changeID, transactionIdentifier: number,
            changedPersistentIdentifier: identifier))
      case .update:
        return .update(
          DefaultHistoryUpdate<Model>(
            changeIdentifier: change.changeID, transactionIdentifier: number,
            changedPersistentIdentifier: identifier,
            updatedAttributes: Self._keyPaths(change.updatedProperties ?? [], of: type)))
      case .delete:
        return .delete(
          DefaultHistoryDelete<Model>(
            changeIdentifier: change.changeID, transactionIdentifier: number,
            changedPersistentIdentifier: identifier,
            tombstone: Self._tombstone(change.tombstone ?? [:], of: type)))
      }
    }
    return open(type)
  }

  private static func _keyPaths<Model: PersistentModel>(
    _ properties: Set<NSPropertyDescription>, of type: Model.Type
  ) -> [any PartialKeyPath<Model> & Sendable] {
    let names = Set(properties.map(\.name))
    return ModelClass.of(type).properties.filter { names.contains($0.name) }.compactMap { property in
      // Key paths of properties have no captured values.
      (property.keypath as? PartialKeyPath<Model>).map {
        unsafeBitCast($0, to: (any PartialKeyPath<Model> & Sendable).self)
      }
    }
  }

  private static func _tombstone<Model: PersistentModel>(
    _ values: [AnyHashable: Any], of type: Model.Type
  ) -> HistoryTombstone<Model> {
    HistoryTombstone(
      ModelClass.of(type).accessors.compactMap { accessor in
        guard let stored = values[accessor.name], let value = accessor.restored(stored) else { return nil }
        // Stored values consist of value types.
        return (accessor.name, _sendable(value))
      })
  }
}

extension ContainerCore {
  /// The stores with a history of the engine.
  fileprivate var _historyStores: [NSPersistentStore] {
    coordinator.persistentStores.filter { !($0 is SnapshotStore) }
  }
}

/// Casts a value to Sendable.
private func _sendable(_ value: Any) -> any Sendable {
  // The two existential types differ in their static type only.
  withUnsafePointer(to: value) {
    UnsafeRawPointer($0).assumingMemoryBound(to: (any Sendable).self).pointee
  }
}

/// The lower bound of a predicate on transactions.
enum HistoryBound {
  /// Returns a token of a store that precedes all transactions which satisfy the predicate; nil if there is
  /// none.
  static func token(
    in predicate: Predicate<DefaultHistoryTransaction>, ofStore store: String?
  ) -> DefaultHistoryToken? {
    let tokens = (predicate.expression as any PredicateExpression as? any BoundingPart)?.lowerTokens ?? []
    return tokens.first { $0.storeIdentifier == store }
  }
}

/// A part of a predicate that may have a token which precedes all its results.
private protocol BoundingPart {
  var lowerTokens: [DefaultHistoryToken] { get }
}

extension PredicateExpressions.Conjunction: BoundingPart {
  fileprivate var lowerTokens: [DefaultHistoryToken] {
    let sides: [any PredicateExpression] = [lhs, rhs]
    return sides.flatMap { ($0 as? any BoundingPart)?.lowerTokens ?? [] }
  }
}

extension PredicateExpressions.Comparison: BoundingPart {
  fileprivate var lowerTokens: [DefaultHistoryToken] {
    guard op == .greaterThan, let token = (rhs as? any CapturedValue)?.captured as? DefaultHistoryToken else {
      return []
    }
    return [token]
  }
}

/// A captured value in a predicate.
private protocol CapturedValue {
  var captured: Any { get }
}

extension PredicateExpressions.Value: CapturedValue {
  fileprivate var captured: Any { value }
}
