import CoreData
import CoreDataModelSchema
import CoreDataStoreTools
import CoreDataToolKit
import Foundation

/// The program's model, and the SQL of its requests in its store, as far as they are known.
final class TracePlans {
  let layout: ModelLayout?
  private let _coordinator: NSPersistentStoreCoordinator?
  private let _input: StoreInput?

  /// - Throws: `ToolFailure` for a store or a model that cannot be read.
  init(_ store: String?, model: String?, _ environment: ToolEnvironment) throws {
    guard let store else {
      layout = try model.map { try ModelLayout(StoreModel.load($0, for: [:]).schema) }
      (_coordinator, _input) = (nil, nil)
      return
    }
    let input = try StoreInput(store, model: model, environment)
    let made = try NSManagedObjectModel(schema: input.model.schema)
    for entity in made.entities { entity.managedObjectClassName = "NSManagedObject" }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: made)
    do {
      try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: input.path),
        options: [NSReadOnlyPersistentStoreOption: true, NSIgnorePersistentStoreVersioningOption: true])
    } catch {
      throw StoreInput.failure(error, input.path)
    }
    layout = try ModelLayout(input.model.schema)
    (_coordinator, _input) = (coordinator, input)
  }

  /// The statement of a request; nil without a store, or where the request cannot be made again.
  func statement(_ fetches: TraceSummary.Fetches) -> SQLStatement? {
    guard let _coordinator, layout?.layoutsByName[fetches.request.entity] != nil else { return nil }
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = _coordinator
    let made: NSFetchRequest<NSManagedObject>? = try? fetches.request.fetchRequest(predicate: fetches.example)
    guard let request = made else { return nil }
    if fetches.isCount { request.resultType = .countResultType }
    return try? context.performAndWait { try context.sqlStatements(for: request).first }
  }
}

extension Trace.Request {
  /// The request with a predicate that has values, or with others in place of the ones that were not recorded.
  func fetchRequest<Found: NSFetchRequestResult>(predicate text: String?) throws -> NSFetchRequest<Found> {
    let request = NSFetchRequest<Found>(entityName: entity)
    if let text = text ?? predicate {
      let parts = text.split(separator: "?", omittingEmptySubsequences: false)
      let values = parts.dropLast().map { part -> Any in part.hasSuffix("IN ") ? [1, 2] : 1 }
      request.predicate = try NSPredicate(
        parsing: predicate == text ? parts.joined(separator: "%@") : text,
        arguments: predicate == text ? values : [])
    }
    request.sortDescriptors = sort.map {
      let isDescending = $0.hasPrefix("-")
      return NSSortDescriptor(key: isDescending ? String($0.dropFirst()) : $0, ascending: !isDescending)
    }
    (request.fetchLimit, request.fetchOffset, request.fetchBatchSize) = (limit, offset, batch)
    if !prefetch.isEmpty { request.relationshipKeyPathsForPrefetching = prefetch }
    return request
  }

  /// The request in one line.
  var words: String {
    var words = entity
    if let predicate { words += " WHERE \(predicate)" }
    if !sort.isEmpty { words += " BY \(sort.joined(separator: ", "))" }
    if limit > 0 { words += " LIMIT \(limit)" }
    if offset > 0 { words += " OFFSET \(offset)" }
    if batch > 0 { words += " in batches of \(batch)" }
    if !prefetch.isEmpty { words += " with \(prefetch.joined(separator: ", "))" }
    return result == "objects" ? words : "\(result) of \(words)"
  }
}
