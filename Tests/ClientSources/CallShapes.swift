// Calls as programs written for Apple's SDK make them, whose types Swift must infer. They compile in both
// language modes: Scripts/check client-sources.
import CoreData
import Foundation

final class Shelf: NSManagedObject {
  @NSManaged var name: String?
  @NSManaged var rank: Int16
  @NSManaged var books: NSSet?

  class func fetchRequest() -> NSFetchRequest<Shelf> { NSFetchRequest<Shelf>(entityName: "Shelf") }
}

// MARK: Fetching

func fetchUntyped(_ context: NSManagedObjectContext) throws -> [any NSFetchRequestResult] {
  let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Shelf")
  let results = try context.fetch(request)
  let shelves = results as! [Shelf]
  let names = results.compactMap { ($0 as? Shelf)?.name }
  _ = (shelves, names)
  return results
}

/// What is found by an untyped request has the type of the request's results.
func fetchUntypedInManyForms(_ context: NSManagedObjectContext) async throws {
  let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Shelf")
  let first: (any NSFetchRequestResult)? = try context.fetch(request).first
  let shelf = try context.fetch(request).first as? Shelf
  let all = try context.fetch(request) as? [Shelf] ?? []
  let everything: [Any] = try context.fetch(request)
  let objects: [NSManagedObject] = try context.fetch(request).compactMap { $0 as? NSManagedObject }
  let inBlock = try await context.perform { try context.fetch(request).count }
  let optional = try? context.fetch(request)
  if let optional, let one = optional.last as? Shelf { _ = one.name }
  for case let shelf as Shelf in try context.fetch(request) { _ = shelf.name }
  for result in try context.fetch(request) where result is Shelf { _ = result }
  guard let dictionaries = try context.fetch(request) as? [NSDictionary] else { return }
  _ = (first, shelf, all, everything, objects, inBlock, dictionaries)
}

/// Protocols under which apps hide their contexts.
protocol Fetching {
  func fetch<T>(_ request: NSFetchRequest<T>) throws -> [T] where T: NSFetchRequestResult
}

protocol FetchingAnything {
  func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any]
}

extension NSManagedObjectContext: Fetching, FetchingAnything {}

func fetchTyped(_ context: NSManagedObjectContext) throws -> [String] {
  let request: NSFetchRequest<Shelf> = Shelf.fetchRequest()
  request.predicate = NSPredicate(format: "%K > %d", "rank", 1)
  request.sortDescriptors = [NSSortDescriptor(keyPath: \Shelf.name, ascending: true)]
  let shelves = try context.fetch(request)
  let first = try context.fetch(request).first
  let counts = try (context.count(for: request), try? context.count(for: request))
  _ = (first?.rank, counts)
  return shelves.compactMap(\.name) + (try context.fetch(Shelf.fetchRequest()).map { $0.name ?? "" })
}

func fetchOthers(_ context: NSManagedObjectContext) throws {
  let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Shelf")
  dictionaries.resultType = .dictionaryResultType
  let rows = try context.fetch(dictionaries) as? [[String: Any]]
  let ids = try context.fetch(NSFetchRequest<NSManagedObjectID>(entityName: "Shelf"))
  let numbers = try context.fetch(NSFetchRequest<NSNumber>(entityName: "Shelf")).first?.intValue
  let objects = (try? context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Shelf"))) ?? []
  let untyped =
    (try? context.fetch(NSFetchRequest<any NSFetchRequestResult>(entityName: "Shelf")))?.first as? Shelf
  _ = (rows, ids.first?.isTemporaryID, numbers, objects.first?.objectID, untyped)
}

func first<T: NSManagedObject>(_ type: T.Type, in context: NSManagedObjectContext) throws -> T? {
  let request = NSFetchRequest<T>(entityName: String(describing: type))
  request.fetchLimit = 1
  return try context.fetch(request).first
}

func all<T: NSFetchRequestResult>(_ request: NSFetchRequest<T>, in context: NSManagedObjectContext) throws
  -> [T]
{
  try context.fetch(request)
}

/// A double that looks at what it passes on.
final class LookingContext: NSManagedObjectContext, @unchecked Sendable {
  override func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] {
    let results = try super.fetch(request)
    if results.isEmpty { print("Nothing.") }
    return results
  }

  /// In the class itself, the override is meant.
  func everything(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] { try fetch(request) }
}

func shelves(of double: LookingContext) throws -> [Shelf] {
  let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Shelf")
  let results = try double.fetch(request)
  return results as! [Shelf]
}

/// A double as tests write it.
class FailingContext: NSManagedObjectContext, @unchecked Sendable {
  var failure: (any Error)?

  override func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] {
    if let failure { throw failure }
    return try super.fetch(request)
  }

  override func save() throws {
    if let failure { throw failure }
    try super.save()
  }
}

// MARK: Performing

func perform(_ context: NSManagedObjectContext) async throws -> Int {
  let count = try await context.perform { try context.count(for: Shelf.fetchRequest()) }
  let name = await context.perform { (try? context.fetch(Shelf.fetchRequest()))?.first?.name }
  try await context.perform(schedule: .immediate) {
    let shelf = Shelf(context: context)
    shelf.name = name
    try context.save()
  }
  return count
}

func performAndWait(_ context: NSManagedObjectContext) throws -> (Int, String?) {
  let count = try context.performAndWait { try context.count(for: Shelf.fetchRequest()) }
  let name: String? = context.performAndWait {
    let shelf = Shelf(context: context)
    return shelf.name
  }
  context.performAndWait { context.reset() }
  return (count, name)
}

func background(_ container: NSPersistentContainer) async throws -> [NSManagedObjectID] {
  try await container.performBackgroundTask { context in
    let shelves = try context.fetch(Shelf.fetchRequest())
    return shelves.map(\.objectID)
  }
}

// MARK: Batches, history, results

func batches(_ context: NSManagedObjectContext) throws {
  var names = ["a", "b"].makeIterator()
  let insertion = NSBatchInsertRequest(
    entity: Shelf.entity(),
    dictionaryHandler: { dictionary in
      guard let name = names.next() else { return true }
      dictionary["name"] = name
      return false
    })
  insertion.resultType = .objectIDs
  let result = try context.execute(insertion) as? NSBatchInsertResult
  let ids = result?.result as? [NSManagedObjectID] ?? []
  NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSInsertedObjectsKey: ids], into: [context])
  let deletion = NSBatchDeleteRequest(
    fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Shelf"))
  deletion.resultType = .resultTypeObjectIDs
  _ = (try context.execute(deletion) as! NSBatchDeleteResult).result as? [NSManagedObjectID]
  let history = try context.execute(
    NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?))
  for transaction in (history as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction]
    ?? []
  {
    for change in transaction.changes ?? [] where change.changeType == .delete { _ = change.tombstone }
  }
}

func controller(_ context: NSManagedObjectContext) throws -> [Shelf] {
  let request = Shelf.fetchRequest()
  request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
  let controller = NSFetchedResultsController(
    fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
  try controller.performFetch()
  let names = controller.sections?.first?.objects?.compactMap { ($0 as? Shelf)?.name }
  let object = controller.object(at: IndexPath(item: 0, section: 0))
  _ = (names, object.name, controller.indexPath(forObject: object))
  return controller.fetchedObjects ?? []
}

// MARK: Changes

func changes(_ notification: Notification, _ context: NSManagedObjectContext) -> [String] {
  let inserted = notification.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> ?? []
  let names = inserted.compactMap { $0 as? Shelf }.map { $0.name ?? "" }
  let shelves = context.registeredObjects.compactMap { $0 as? Shelf }.filter(\.hasChanges)
  let values = shelves.map { $0.changedValues().keys.sorted().joined() }
  let books = (shelves.first?.books as? Set<NSManagedObject>)?.count ?? 0
  return names + values + ["\(books)"]
}
