import Foundation
import Testing

@testable import CoreData

@Suite("Fetched results controller: what it costs")
struct FetchedResultsCostTests {
  private final class Follower: NSObject, NSFetchedResultsControllerDelegate {
    var told = 0
    func controller(
      _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
      at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) { told += 1 }
  }

  /// Returns the number of sort key comparisons for 100 changes among `count` results.
  private func _comparisons(among count: Int) throws -> Int {
    let stack = try TestStack(.memory)
    let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    let controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: stack.context, sectionNameKeyPath: nil, cacheName: nil)
    let follower = Follower()
    controller.delegate = follower
    return try stack.context.performAndWait {
      for number in 0..<count {
        stack.context.insert("Author", ["name": String(format: "%06d", number * 7919 % count)])
      }
      try controller.performFetch()
      let objects = controller.fetchedObjects!
      for number in 0..<50 {
        objects[number * (count / 50)].setValue(String(format: "%06d+", number * 31), forKey: "name")
      }
      for number in 0..<25 { stack.context.delete(objects[number * (count / 50) + 1]) }
      for number in 0..<25 { stack.context.insert("Author", ["name": String(format: "%06d-", number * 17)]) }
      controller.core.comparisons = 0
      stack.context.processPendingChanges()
      #expect(follower.told == 100)
      return controller.core.comparisons
    }
  }

  @Test func `100 changes cost a logarithmic number of comparisons`() throws {
    let (few, many) = (try _comparisons(among: 500), try _comparisons(among: 8000))
    // Sixteen times the results: at most four more steps down the tree for each of the 75 that are placed.
    #expect(many - few <= 75 * 6, "\(few), \(many)")
    #expect(many < 75 * 13 * 2 + 75 * 7 * 2, "\(many)")
  }

  @Test func `With a batch size, reading a fault loads its batch`() throws {
    let stack = try TestStack(.sqlite)
    try stack.context.performAndWait {
      for number in 0..<100 {
        stack.context.insert("Author", ["name": String(format: "%02d", number), "age": number / 50])
      }
      try stack.context.save()
    }
    // A coordinator with an empty row cache.
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
    try coordinator.addPersistentStore(ofType: TestDatabase.type, configurationName: nil, at: stack.url)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
      request.sortDescriptors = [
        NSSortDescriptor(key: "age", ascending: true), NSSortDescriptor(key: "name", ascending: false),
      ]
      request.fetchBatchSize = 10
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "age", cacheName: nil)
      try controller.performFetch()
      #expect(controller.sections?.map(\.numberOfObjects) == [50, 50])
      let objects = controller.fetchedObjects!
      #expect(objects.allSatisfy { $0.isFault && $0._row == nil })
      #expect(coordinator.rowReads.load(ordering: .relaxed) == 0)
      #expect(objects[37].text("name") == "12")
      #expect(objects[30..<40].map { $0.text("name") } == (10..<20).reversed().map { "\($0)" })
      #expect(coordinator.rowReads.load(ordering: .relaxed) == 1)
      #expect(objects[40].text("name") == "09")
      #expect(coordinator.rowReads.load(ordering: .relaxed) == 2)
    }
  }

  @Test func `With a batch size, unsaved insertions and changes appear`() throws {
    let stack = try TestStack(.sqlite)
    let delegate = RecordingDelegate()
    try stack.context.performAndWait {
      for name in ["a", "c", "e"] { stack.context.insert("Author", ["name": name]) }
      try stack.context.save()
      stack.context.reset()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      request.fetchBatchSize = 2
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: stack.context, sectionNameKeyPath: nil, cacheName: nil)
      controller.delegate = delegate
      try controller.performFetch()
      controller.object(at: IndexPath(item: 0, section: 0)).setValue("d", forKey: "name")
      stack.context.insert("Author", ["name": "b"])
      stack.context.processPendingChanges()
      #expect(delegate.take() == ["will", "insert - 0.0", "move 0.0 0.2", "did"])
      try controller.performFetch()
      #expect(controller.fetchedObjects?.map { $0.text("name") } == ["b", "c", "d", "e"])
    }
  }

  @Test(arguments: [false, true])
  func `With a batch size, unchanged objects stay faults`(_ isChild: Bool)
    throws
  {
    let stack = try TestStack(.sqlite)
    try stack.context.performAndWait {
      for number in 0..<60 {
        stack.context.insert("Author", ["name": String(format: "%02d", number), "age": number / 20])
      }
      try stack.context.save()
      stack.context.reset()
    }
    let context = isChild ? NSManagedObjectContext(.privateQueue) : stack.context
    if isChild { context.parent = stack.context }
    func changes(_ context: NSManagedObjectContext) throws {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
      func author(_ name: String) throws -> NSManagedObject {
        request.predicate = NSPredicate(format: "name == %@", name)
        let found = try context.fetch(request)
        return try #require(found.first)
      }
      try author("05").setValue("50a", forKey: "name")
      try author("50a").setValue(2, forKey: "age")
      context.delete(try author("30"))
      context.insert("Author", ["name": "20a", "age": 1])
      try author("59").setValue(9, forKey: "age")
    }
    try stack.context.performAndWait { try changes(stack.context) }
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
      request.sortDescriptors = ["age", "name"].map { NSSortDescriptor(key: $0, ascending: true) }
      request.predicate = NSPredicate(format: "age < 9")
      request.fetchBatchSize = 10
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "age", cacheName: nil)
      try controller.performFetch()
      let objects = controller.fetchedObjects!
      #expect(controller.sections?.map(\.numberOfObjects) == [19, 20, 20])
      #expect(objects.filter { $0._row == nil && $0.isFault }.count >= 57)
      let shown = objects.map { $0.text("name") }
      request.fetchBatchSize = 0
      #expect(shown == (try context.fetch(request)).map { $0.text("name") })
      #expect(shown[20] == "20a" && shown.contains("50a"))
    }
  }
}
