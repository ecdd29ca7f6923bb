import CoreData
import Foundation

/// The permitted contents of a store: for each writer the number of its last save. Writers without an entry
/// have saved nothing.
package typealias SavesByWriter = [Int: ClosedRange<Int64>]

/// Compares the contents of a store with the saves made to it: every save complete, none missing.
package struct StoreContent {
  private let _store: TrialStore
  private var _last: [Int: Int64] = [:]
  private var _numbers: [Int: [Int64]] = [:]

  /// Reads everything, and checks that each batch is whole.
  ///
  /// - Throws: `TortureFailure` for the first difference from the saves.
  package init(_ store: TrialStore) throws {
    _store = store
    try store.context.performAndWait {
      store.context.reset()
      for ledger in try _all("Ledger") {
        let writer = Int(Self._number(ledger, "writer"))
        guard _last[writer] == nil else { throw TortureFailure("writer \(writer) has two ledgers") }
        _last[writer] = Self._number(ledger, "last")
      }
      // Firing a fault cannot throw, and the disk may fail: everything is fetched at once.
      var items: [NSManagedObjectID: [NSManagedObject]] = [:]
      for item in try _all("Item") {
        guard let batch = item.value(forKey: "batch") as? NSManagedObject else {
          throw TortureFailure("an item has no batch")
        }
        items[batch.objectID, default: []].append(item)
      }
      for batch in try _all("Batch") { try _check(batch, items.removeValue(forKey: batch.objectID) ?? []) }
      guard items.isEmpty else {
        throw TortureFailure("items belong to \(items.count) batches that are not there")
      }
    }
  }

  private func _all(_ entity: String) throws -> [NSManagedObject] {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.returnsObjectsAsFaults = false
    return try _store.context.fetch(request)
  }

  private static func _number(_ object: NSManagedObject, _ name: String) -> Int64 {
    (object.value(forKey: name) as? NSNumber)?.int64Value ?? 0
  }

  private mutating func _check(_ batch: NSManagedObject, _ items: [NSManagedObject]) throws {
    let content = BatchContent(
      writer: Int(Self._number(batch, "writer")), number: Self._number(batch, "number"),
      isBig: Self._number(batch, "isBig") != 0, hasBlobs: _store.form.hasBlobs)
    let name = "batch \(content.number) of writer \(content.writer)"
    _numbers[content.writer, default: []].append(content.number)
    let positions = items.map { Int(Self._number($0, "position")) }.sorted()
    guard positions == Array(0..<content.count) else {
      throw TortureFailure("\(name) has the items \(positions.prefix(20)) of \(content.count)")
    }
    for item in items {
      let position = Int(Self._number(item, "position"))
      guard item.value(forKey: _store.version.textName) as? String == content.text(position) else {
        throw TortureFailure("item \(position) of \(name) has another text")
      }
      guard let payload = item.value(forKey: "payload") as? Data else {
        throw TortureFailure("item \(position) of \(name) has lost its payload")
      }
      guard payload == content.payload(position) else {
        throw TortureFailure("item \(position) of \(name) has another payload, of \(payload.count) bytes")
      }
    }
  }

  // MARK: Comparing

  /// Number of saves in the store.
  package var saveCount: Int64 { _last.values.reduce(0, +) }

  /// - Throws: `TortureFailure` unless the store has one of these contents.
  package func check(_ outcomes: [SavesByWriter]) throws {
    var words: [String] = []
    for outcome in outcomes {
      guard let difference = _difference(from: outcome) else { return }
      words.append(difference)
    }
    throw TortureFailure(words.joined(separator: "; or else "))
  }

  private func _difference(from outcome: SavesByWriter) -> String? {
    for writer in Set(outcome.keys).union(_last.keys).union(_numbers.keys).sorted() {
      let (last, range) = (_last[writer] ?? 0, outcome[writer] ?? 0...0)
      guard range.contains(last) else {
        let expected = range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
        return "writer \(writer) is at save \(last), not \(expected)"
      }
      let kept = last == 0 ? [] : Array(max(1, last - TrialStore.keptCount + 1)...last)
      guard (_numbers[writer] ?? []).sorted() == kept else {
        return "writer \(writer) has the batches \((_numbers[writer] ?? []).sorted()), not \(kept)"
      }
    }
    return nil
  }

  /// - Throws: `TortureFailure` unless the history has one transaction for each save.
  package func checkHistory() throws {
    let count = try _store.context.performAndWait {
      let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
      request.resultType = .transactionsOnly
      let result = try _store.context.execute(request) as? NSPersistentHistoryResult
      return (result?.result as? [NSPersistentHistoryTransaction])?.count ?? -1
    }
    guard count == saveCount else {
      throw TortureFailure("the history has \(count) transactions of \(saveCount) saves")
    }
  }
}
