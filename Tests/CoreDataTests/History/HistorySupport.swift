import CoreData
import Foundation

/// A store with history tracking.
enum Tracked {
  static var options: [AnyHashable: Any] { [NSPersistentHistoryTrackingKey: NSNumber(value: true)] }

  /// The library model, preserving the names of deleted tags.
  static func model() -> NSManagedObjectModel {
    let model = LibraryModel.make()
    model.entitiesByName["Tag"]!.attributesByName["name"]!.preservesValueInHistoryOnDeletion = true
    return model
  }

  static func stack(_ setting: Setting = .sqlite) throws -> TestStack {
    try TestStack(setting, model: model(), options: options)
  }

  /// Returns each row of a query as text.
  static func rows(_ sql: String, _ stack: TestStack) throws -> [[String]] {
    var result: [[String]] = []
    try SQLiteText.rows(of: sql, at: stack.url) { result.append($0) }
    return result
  }
}

extension NSManagedObjectContext {
  /// Inserts tags of these names and saves.
  func saveTags(_ names: String...) throws {
    for name in names { insert("Tag", ["name": name]) }
    try save()
  }

  /// Executes a history request.
  func history<T>(
    _ request: NSPersistentHistoryChangeRequest, as type: T.Type = [NSPersistentHistoryTransaction].self
  ) throws -> T {
    let result = try execute(request) as! NSPersistentHistoryResult
    return result.result as! T
  }

  /// Returns all transactions with their changes.
  func allHistory() throws -> [NSPersistentHistoryTransaction] {
    try history(.fetchHistory(after: nil as NSPersistentHistoryToken?))
  }

  /// Returns a request for transactions, or changes, that match a predicate.
  func historySearch(_ entity: NSEntityDescription?, _ predicate: NSPredicate)
    -> NSPersistentHistoryChangeRequest
  {
    let request = NSFetchRequest<any NSFetchRequestResult>()
    request.entity = entity
    request.predicate = predicate
    return .fetchHistory(withFetch: request)
  }
}
