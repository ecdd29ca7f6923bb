import CoreData
import Foundation

/// A store that keeps a history.
enum Tracked {
  static var options: [AnyHashable: Any] { [NSPersistentHistoryTrackingKey: NSNumber(value: true)] }

  /// The library, keeping the names of deleted tags.
  static func model() -> NSManagedObjectModel {
    let model = LibraryModel.make()
    model.entitiesByName["Tag"]!.attributesByName["name"]!.preservesValueInHistoryOnDeletion = true
    return model
  }

  static func stack(_ setting: Setting = .sqlite) throws -> TestStack {
    try TestStack(setting, model: model(), options: options)
  }

  /// Each row of a query as texts.
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

  /// What a history request gives.
  func history<T>(
    _ request: NSPersistentHistoryChangeRequest, as type: T.Type = [NSPersistentHistoryTransaction].self
  ) throws -> T {
    let result = try execute(request) as! NSPersistentHistoryResult
    return result.result as! T
  }

  /// All transactions with their changes.
  func allHistory() throws -> [NSPersistentHistoryTransaction] {
    try history(.fetchHistory(after: nil as NSPersistentHistoryToken?))
  }

  /// A request for transactions, or changes, that meet a predicate.
  func historySearch(_ entity: NSEntityDescription?, _ predicate: NSPredicate)
    -> NSPersistentHistoryChangeRequest
  {
    let request = NSFetchRequest<any NSFetchRequestResult>()
    request.entity = entity
    request.predicate = predicate
    return .fetchHistory(withFetch: request)
  }
}
