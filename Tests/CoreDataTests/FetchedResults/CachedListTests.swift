import CoreData
import CoreDataToolKit
import Foundation
import Testing

/// Takes snapshots and keeps the last.
private final class Follower: NSObject, NSFetchedResultsControllerDelegate {
  var last: NSDiffableDataSourceSnapshotReference?

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
  ) { last = snapshot }
}

/// A controller updates its cached arrays in place; an array that the program holds does not change.
@Suite("Fetched results controller: cached arrays")
struct CachedListTests {
  struct Case: CustomTestStringConvertible, Sendable {
    /// Nil for one list; else by age, of which there are so many.
    let sections: Int?
    /// Rounds between two readings.
    let pause: Int
    var testDescription: String { "\(sections.map { "\($0) sections" } ?? "one list"), read each \(pause)" }
  }

  static let cases = [nil, 1, 4, 100].flatMap { sections in
    [1, 3, 40].map { Case(sections: sections, pause: $0) }
  }

  private func _controller(
    _ context: NSManagedObjectContext, _ sections: Int?
  ) -> NSFetchedResultsController<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
    request.sortDescriptors =
      (sections == nil ? [] : [NSSortDescriptor(key: "age", ascending: true)])
      + [NSSortDescriptor(key: "name", ascending: true)]
    return NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: sections.map { _ in "age" },
      cacheName: nil)
  }

  /// Changes, inserts or deletes some authors.
  private func _round(
    _ context: NSManagedObjectContext, _ authors: inout [NSManagedObject], _ sections: Int,
    _ random: inout SeededRandom
  ) {
    // No two are equal: a fetch and a list place these as they come.
    func name() -> String { String(format: "%04d ", random.below(500)) + String(random.next(), radix: 36) }
    for _ in 0...random.below(6) {
      let place = random.below(authors.count)
      switch random.below(4) {
      case 0: authors.append(context.insert("Author", ["name": name(), "age": random.below(sections)]))
      case 1 where authors.count > 3: context.delete(authors.remove(at: place))
      case 2: authors[place].setValue(random.below(sections), forKey: "age")
      default: authors[place].setValue(name(), forKey: "name")
      }
    }
    context.processPendingChanges()
  }

  @Test(arguments: cases) func `after any changes a list equals one made anew`(_ test: Case) throws {
    let stack = try TestStack(.sqlite)
    var random = SeededRandom(seed: 20_261_129)
    try stack.context.performAndWait {
      let sections = test.sections ?? 9
      var authors = (0..<120).map {
        stack.context.insert("Author", ["name": String(format: "%04d", $0 * 3), "age": $0 % sections])
      }
      try stack.context.save()
      let controller = _controller(stack.context, test.sections)
      let follower = Follower()
      controller.delegate = follower
      try controller.performFetch()
      var kept: [(list: [NSManagedObject], copy: [ObjectIdentifier])] = []
      for round in 1...200 {
        _round(stack.context, &authors, sections, &random)
        if round % 50 == 0 { try stack.context.save() }
        guard round % test.pause == 0 else { continue }
        let list = try #require(controller.fetchedObjects)
        let others = _controller(stack.context, test.sections)
        try others.performFetch()
        let isEqual = list.map(\.objectID) == others.fetchedObjects?.map(\.objectID)
        #expect(isEqual, "round \(round)")
        let parts = controller.sections!.map { ($0.objects as! [NSManagedObject]).map(\.objectID) }
        let areEqual = parts == others.sections!.map { ($0.objects as! [NSManagedObject]).map(\.objectID) }
        #expect(areEqual, "round \(round)")
        let ids = follower.last!.itemIdentifiers as! [NSManagedObjectID]
        let hasSame = ids == list.map(\.objectID)
        #expect(hasSame, "round \(round)")
        kept.append((list, list.map(ObjectIdentifier.init)))
      }
      let isUnchanged = kept.allSatisfy { list, copy in list.map(ObjectIdentifier.init) == copy }
      #expect(isUnchanged)
    }
  }

  @Test func `a list that no one has changed is the one before`() throws {
    let fixture = try ControllerFixture(.sqlite, ["a", "b", "c"])
    try fixture.context.performAndWait {
      let before = try #require(fixture.controller.fetchedObjects)
      before[1].setValue(40, forKey: "age")
      fixture.context.processPendingChanges()
      let after = try #require(fixture.controller.fetchedObjects)
      #expect(
        after.withUnsafeBufferPointer { $0.baseAddress } == before.withUnsafeBufferPointer { $0.baseAddress })
    }
  }

  @Test func `a snapshot after a save has the permanent IDs`() throws {
    let stack = try TestStack(.sqlite)
    try stack.context.performAndWait {
      let controller = _controller(stack.context, nil)
      let follower = Follower()
      controller.delegate = follower
      try controller.performFetch()
      for name in ["b", "a"] {
        stack.context.insert("Author", ["name": name])
        stack.context.processPendingChanges()
      }
      let before = follower.last!.itemIdentifiers as! [NSManagedObjectID]
      #expect(before.map(\.isTemporaryID) == [true, true])
      try stack.context.save()
      let after = follower.last!.itemIdentifiers as! [NSManagedObjectID]
      #expect(after.map(\.isTemporaryID) == [false, false])
      #expect(after == controller.fetchedObjects!.map(\.objectID))
      #expect(before.map(\.isTemporaryID) == [true, true])
    }
  }
}
