import CoreDataCTorture
import CoreData
import Foundation

/// A store opened for a trial, with a context to save from.
package final class TrialStore {
  package let url: URL
  package let form: StoreForm
  package let version: TrialModel
  package let coordinator: NSPersistentStoreCoordinator
  package let context: NSManagedObjectContext
  private var _store: NSPersistentStore

  /// Number of batches of a writer that a store keeps.
  package static let keptCount: Int64 = 4

  /// Opens or creates the store.
  package init(_ url: URL, _ form: StoreForm, _ version: TrialModel = .first, isReadOnly: Bool = false) throws
  {
    (self.url, self.form, self.version) = (url, form, version)
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: version.model())
    var options = form.options
    if isReadOnly { options[NSReadOnlyPersistentStoreOption] = true }
    _store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
    context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    context.undoManager = nil
  }

  /// Moves the content to another file, which this store is from then on.
  package func move(to url: URL) throws {
    _store = try coordinator.migratePersistentStore(
      _store, to: url, options: form.options, withType: NSSQLiteStoreType)
  }

  package func close() throws { try coordinator.remove(_store) }

  // MARK: Saving

  /// Number of the writer's last save.
  package func last(of writer: Int) throws -> Int64 {
    try context.performAndWait { try _ledger(of: writer)?.value(forKey: "last") as? Int64 ?? 0 }
  }

  /// Saves one batch, and records its begin and end on the page.
  ///
  /// - Parameter triesAgain: Called after a failure; returns whether to retry, and whether from the start.
  package func save(
    writer: Int, isBig: Bool = false, on page: TrialPage?,
    triesAgain: (any Error) -> (again: Bool, fromStart: Bool) = { _ in (false, false) }
  ) throws {
    try context.performAndWait {
      var number: Int64 = 0
      var mustPrepare = true
      while true {
        do {
          if mustPrepare { number = try _prepare(writer, isBig) }
          mustPrepare = false
          page?.begin(writer, number)
          try context.save()
          page?.acknowledge(writer, number)
          return
        } catch {
          let answer = triesAgain(error)
          if !answer.again || answer.fromStart || mustPrepare {
            context.rollback()
            mustPrepare = true
          }
          guard answer.again else { throw error }
        }
      }
    }
  }

  private func _ledger(of writer: Int) throws -> NSManagedObject? {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Ledger")
    request.predicate = NSPredicate(format: "writer == %d", writer)
    request.returnsObjectsAsFaults = false
    return try context.fetch(request).first
  }

  /// Makes the changes for the writer's next save.
  private func _prepare(_ writer: Int, _ isBig: Bool) throws -> Int64 {
    let ledger = try _ledger(of: writer) ?? _insert("Ledger", ["writer": writer])
    let number = (ledger.value(forKey: "last") as? Int64 ?? 0) + 1
    let request = NSFetchRequest<NSManagedObject>(entityName: "Batch")
    request.predicate = NSPredicate(
      format: "writer == %d AND number == %lld", writer, number - Self.keptCount)
    // Deleting cascades, and firing a fault on the way could not throw.
    request.returnsObjectsAsFaults = false
    request.relationshipKeyPathsForPrefetching = ["items"]
    for old in try context.fetch(request) { context.delete(old) }
    ledger.setValue(number, forKey: "last")
    let content = BatchContent(writer: writer, number: number, isBig: isBig, hasBlobs: form.hasBlobs)
    let batch = _insert(
      "Batch", ["writer": writer, "number": number, "count": content.count, "isBig": isBig])
    for position in 0..<content.count {
      let item = _insert(
        "Item",
        [
          "position": position, version.textName: content.text(position),
          "payload": content.payload(position),
        ])
      item.setValue(batch, forKey: "batch")
    }
    return number
  }

  private func _insert(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
    for (name, value) in values { object.setValue(value, forKey: name) }
    return object
  }
}

/// The contents of a batch: the same for the same writer and number.
package struct BatchContent {
  package let writer: Int
  package let number: Int64
  package let isBig: Bool
  package let hasBlobs: Bool

  /// Number of items. A big batch has more pages than SQLite's cache.
  package var count: Int { isBig ? 130 : 3 }

  package func text(_ position: Int) -> String { "item \(position) of batch \(number) by \(writer)" }

  package func payload(_ position: Int) -> Data {
    let isBlob = hasBlobs && position < (isBig ? 6 : 1)
    let size = isBlob ? 103_000 + Int(number % 50) : isBig ? 20_000 : 40
    return Data(
      repeating: UInt8(truncatingIfNeeded: Int(number) * 7 + position * 13 + writer * 31 + 1), count: size)
  }
}
