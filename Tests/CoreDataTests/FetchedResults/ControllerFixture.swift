import CoreData
import Foundation
import Testing

/// Records a controller's notifications as text.
final class RecordingDelegate: NSObject, NSFetchedResultsControllerDelegate {
  var calls: [String] = []
  var sections: [(name: String, title: String?, count: Int)] = []
  var duringCalls: [Int] = []

  func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
    calls.append("will")
  }

  func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
    calls.append("did")
  }

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType
  ) {
    calls.append("section \(type) \(sectionIndex)")
    sections.append((sectionInfo.name, sectionInfo.indexTitle, sectionInfo.objects?.count ?? -1))
  }

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    func text(_ path: IndexPath?) -> String { path.map { "\($0.section).\($0.item)" } ?? "-" }
    calls.append("\(type) \(text(indexPath)) \(text(newIndexPath))")
    duringCalls.append(controller.fetchedObjects?.count ?? -1)
  }

  func take() -> [String] {
    defer { calls = [] }
    return calls
  }
}

final class DifferenceDelegate: NSObject, NSFetchedResultsControllerDelegate {
  var differences: [CollectionDifference<NSManagedObjectID>] = []
  var others = 0

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
  ) { differences.append(diff) }

  func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
    others += 1
  }
}

/// A controller of authors by name, optionally in sections by initial, with a recorder.
struct ControllerFixture {
  let stack: TestStack
  let controller: NSFetchedResultsController<NSManagedObject>
  let delegate = RecordingDelegate()
  var context: NSManagedObjectContext { stack.context }

  init(
    _ setting: Setting, _ names: [String] = [], sections: String? = nil, where predicate: NSPredicate? = nil,
    sort: [NSSortDescriptor] = [NSSortDescriptor(key: "name", ascending: true)]
  ) throws {
    stack = try TestStack(setting)
    let context = stack.context
    context.performAndWait {
      for name in names { context.insert("Author", ["name": name]) }
      context.processPendingChanges()
    }
    try stack.save()
    controller = NSFetchedResultsController(
      fetchRequest: Self.request(predicate, sort), managedObjectContext: context,
      sectionNameKeyPath: sections, cacheName: nil)
    controller.delegate = delegate
    try context.performAndWait { try controller.performFetch() }
  }

  static func request(_ predicate: NSPredicate?, _ sort: [NSSortDescriptor]) -> NSFetchRequest<
    NSManagedObject
  > {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
    request.predicate = predicate
    request.sortDescriptors = sort
    return request
  }

  var names: [String] { (controller.fetchedObjects ?? []).map { $0.text("name") ?? "-" } }

  func author(_ name: String) throws -> NSManagedObject {
    let found = controller.fetchedObjects?.first(where: { $0.text("name") == name })
    return try #require(found)
  }
}
