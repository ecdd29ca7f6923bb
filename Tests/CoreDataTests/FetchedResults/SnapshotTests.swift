import Foundation
import Testing

@testable import CoreData

/// Receives snapshots, and counts other callbacks.
private final class SnapshotDelegate: NSObject, NSFetchedResultsControllerDelegate {
  var snapshots: [NSDiffableDataSourceSnapshotReference] = []
  var others = 0

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
  ) { snapshots.append(snapshot) }

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
  ) { others += 1 }

  func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
    others += 1
  }
  func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
    others += 1
  }
}

@Suite("Fetched results controller: snapshots")
struct SnapshotTests {
  private let _delegate = SnapshotDelegate()

  private func _controller(
    _ stack: TestStack, _ names: [String], sections: String? = nil
  ) throws -> NSFetchedResultsController<NSManagedObject> {
    try stack.context.performAndWait {
      for name in names { stack.context.insert("Author", ["name": name, "age": 20 + name.count]) }
      try stack.context.save()
    }
    if stack.setting.isNested { try stack.save() }
    let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
    request.sortDescriptors = [
      NSSortDescriptor(key: "age", ascending: true), NSSortDescriptor(key: "name", ascending: true),
    ]
    let controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: stack.context, sectionNameKeyPath: sections, cacheName: nil
    )
    controller.delegate = _delegate
    try stack.context.performAndWait { try controller.performFetch() }
    return controller
  }

  @Test(arguments: Setting.allCases)
  func `Each fetch and each round brings exactly one snapshot`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let controller = try _controller(stack, ["a", "bb", "c"], sections: "age")
    try stack.context.performAndWait {
      let initial = try #require(_delegate.snapshots.first)
      #expect(_delegate.snapshots.count == 1)
      #expect(initial.sectionIdentifiers as? [String] == ["21", "22"])
      #expect(initial.numberOfItems == 3 && initial.numberOfItems(inSection: "21") == 2)
      #expect(initial.itemIdentifiers as? [NSManagedObjectID] == controller.fetchedObjects!.map(\.objectID))
      stack.context.delete(controller.object(at: IndexPath(item: 0, section: 0)))
      controller.object(at: IndexPath(item: 0, section: 1)).setValue("zz", forKey: "name")
      stack.context.processPendingChanges()
      #expect(_delegate.snapshots.count == 2)
      #expect(
        _delegate.snapshots[1].itemIdentifiers as? [NSManagedObjectID]
          == controller.fetchedObjects!.map(\.objectID))
      #expect(_delegate.others == 0)
      try controller.performFetch()
      #expect(_delegate.snapshots.count == 3)
    }
  }

  @Test func `Changed and moved items are reloaded in the snapshot`() throws {
    let stack = try TestStack(.sqlite)
    let controller = try _controller(stack, ["a", "b", "c"])
    stack.context.performAndWait {
      #expect(_delegate.snapshots[0].sectionIdentifiers as? [String] == [""])
      #expect(_delegate.snapshots[0].reloadedItemIdentifiers.isEmpty)
      let objects = controller.fetchedObjects!
      objects[0].setValue(objects[1], forKey: "mentor")
      objects[2].setValue("0", forKey: "name")
      stack.context.processPendingChanges()
      let reloaded = _delegate.snapshots[1].reloadedItemIdentifiers as? [NSManagedObjectID] ?? []
      #expect(Set(reloaded) == Set(objects.map(\.objectID)))
      #expect(_delegate.snapshots[1].index(ofItemIdentifier: objects[2].objectID) == 0)
    }
  }

  @Test func `A save replaces temporary IDs in the next snapshot`() throws {
    let stack = try TestStack(.sqlite)
    let controller = try _controller(stack, ["a"])
    try stack.context.performAndWait {
      let new = stack.context.insert("Author", ["name": "b", "age": 30])
      stack.context.processPendingChanges()
      #expect((_delegate.snapshots[1].itemIdentifiers as? [NSManagedObjectID])?.last?.isTemporaryID == true)
      try stack.context.save()
      #expect(_delegate.snapshots.count == 3)
      #expect(
        _delegate.snapshots[2].itemIdentifiers as? [NSManagedObjectID]
          == controller.fetchedObjects!.map(\.objectID))
      #expect(!new.objectID.isTemporaryID)
      // A save that changes no ID adds nothing.
      new.setValue("c", forKey: "name")
      stack.context.processPendingChanges()
      try stack.context.save()
      #expect(_delegate.snapshots.count == 4)
    }
  }

  @Test func `A snapshot never changes, even before it is first read`() throws {
    let stack = try TestStack(.sqlite)
    let controller = try _controller(stack, ["a", "b"])
    try stack.context.performAndWait {
      for object in controller.fetchedObjects! { stack.context.delete(object) }
      stack.context.processPendingChanges()
      try stack.context.save()
      #expect(_delegate.snapshots.map(\.numberOfItems) == [2, 0])
    }
  }

  @Test func `A snapshot keeps its round when the delegate changes things`() throws {
    final class Meddler: NSObject, NSFetchedResultsControllerDelegate {
      var context: NSManagedObjectContext?
      var counts: [Int] = []
      func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
      ) {
        if counts.isEmpty, let context {
          self.context = nil
          context.insert("Author", ["name": "second"])
          context.processPendingChanges()
        }
        counts.append(snapshot.numberOfItems)
      }
    }
    let stack = try TestStack(.sqlite)
    let controller = try _controller(stack, [])
    let meddler = Meddler()
    stack.context.performAndWait {
      controller.delegate = meddler
      meddler.context = stack.context
      stack.context.insert("Author", ["name": "first"])
      stack.context.processPendingChanges()
      #expect(meddler.counts == [2, 1])
    }
  }

  @Test func `A snapshot converts only to sections of its own types`() throws {
    let stack = try TestStack(.sqlite)
    let controller = try _controller(stack, ["a", "bb"], sections: "age")
    stack.context.performAndWait {
      let snapshot = _delegate.snapshots[0]
      let sections = snapshot.sections(of: String.self, items: NSManagedObjectID.self)
      #expect(sections?.map(\.id) == ["21", "22"])
      #expect(sections?.flatMap(\.items) == controller.fetchedObjects!.map(\.objectID))
      #expect(snapshot.sections(of: Int.self, items: NSManagedObjectID.self) == nil)
      #expect(snapshot.sections(of: String.self, items: Int.self) == nil)
    }
  }

  @Test func `A snapshot is edited as Apple's is`() {
    let snapshot = NSDiffableDataSourceSnapshotReference()
    snapshot.appendSections(withIdentifiers: ["A", "C"])
    snapshot.insertSections(withIdentifiers: ["B"], beforeSectionWithIdentifier: "C")
    snapshot.insertSections(withIdentifiers: ["D"], afterSectionWithIdentifier: "C")
    snapshot.appendItems(withIdentifiers: [1, 2, 3], intoSectionWithIdentifier: "A")
    snapshot.appendItems(withIdentifiers: [9])
    snapshot.insertItems(withIdentifiers: [8], beforeItemWithIdentifier: 9)
    snapshot.insertItems(withIdentifiers: [4], afterItemWithIdentifier: 3)
    #expect(snapshot.itemIdentifiers as? [Int] == [1, 2, 3, 4, 8, 9])
    snapshot.moveItem(withIdentifier: 1, afterItemWithIdentifier: 9)
    snapshot.moveItem(withIdentifier: 9, beforeItemWithIdentifier: 2)
    snapshot.moveSection(withIdentifier: "D", beforeSectionWithIdentifier: "A")
    snapshot.moveSection(withIdentifier: "B", afterSectionWithIdentifier: "C")
    #expect(snapshot.sectionIdentifiers as? [String] == ["D", "A", "C", "B"])
    #expect(snapshot.itemIdentifiers as? [Int] == [8, 1, 9, 2, 3, 4])
    #expect(snapshot.sectionIdentifier(forSectionContainingItemIdentifier: 9) as? String == "A")
    #expect(snapshot.index(ofItemIdentifier: 3) == 4 && snapshot.index(ofItemIdentifier: 77) == NSNotFound)
    #expect(
      snapshot.index(ofSectionIdentifier: "C") == 2 && snapshot.index(ofSectionIdentifier: "Z") == NSNotFound)
    let copy = snapshot.copy() as! NSDiffableDataSourceSnapshotReference
    snapshot.deleteItems(withIdentifiers: [8, 77])
    snapshot.deleteSections(withIdentifiers: ["C", "Z"])
    snapshot.reloadItems(withIdentifiers: [1])
    snapshot.reconfigureItems(withIdentifiers: [9])
    snapshot.reloadSections(withIdentifiers: ["A"])
    #expect(snapshot.itemIdentifiersInSection(withIdentifier: "A") as? [Int] == [9, 2, 3, 4])
    #expect(snapshot.numberOfSections == 3 && snapshot.numberOfItems == 5)
    #expect(
      snapshot.reloadedItemIdentifiers as? [Int] == [1]
        && snapshot.reconfiguredItemIdentifiers as? [Int] == [9])
    #expect(snapshot.reloadedSectionIdentifiers as? [String] == ["A"])
    #expect(copy.numberOfItems == 6 && copy.numberOfSections == 4)
    snapshot.deleteAllItems()
    #expect(snapshot.numberOfItems == 0 && snapshot.sectionIdentifiers.isEmpty)
  }
}
