import CoreData
import Foundation
import Testing

@Suite("Fetched results controller: requests and order")
struct FetchedResultsRequestTests {
  private func _controller(
    _ stack: TestStack, _ entity: String = "Author", sort: [String] = ["name"], sections: String? = nil
  ) -> NSFetchedResultsController<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.sortDescriptors = sort.map { NSSortDescriptor(key: $0, ascending: true) }
    return NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: stack.context, sectionNameKeyPath: sections, cacheName: nil
    )
  }

  @Test func `A changed predicate takes effect at the next fetch`() throws {
    let stack = try TestStack(.sqlite)
    try stack.context.performAndWait {
      for name in ["a", "b"] { stack.context.insert("Author", ["name": name]) }
      let (controller, delegate) = (_controller(stack), RecordingDelegate())
      controller.delegate = delegate
      try controller.performFetch()
      controller.fetchRequest.predicate = NSPredicate(format: "name == 'b'")
      #expect(controller.fetchedObjects?.count == 2)
      try controller.performFetch()
      #expect(controller.fetchedObjects?.count == 1)
      #expect(delegate.calls.isEmpty)
    }
  }

  @Test func `what the last fetch showed and this one does not is no result any more`() throws {
    let stack = try TestStack(.sqlite)
    try stack.context.performAndWait {
      let a = stack.context.insert("Author", ["name": "a"])
      stack.context.insert("Author", ["name": "b"])
      let (controller, delegate) = (_controller(stack), RecordingDelegate())
      controller.delegate = delegate
      try controller.performFetch()
      controller.fetchRequest.predicate = NSPredicate(format: "name > 'a'")
      try controller.performFetch()
      #expect(controller.indexPath(forObject: a) == nil)
      a.setValue(1, forKey: "age")
      stack.context.processPendingChanges()
      #expect(delegate.calls.isEmpty)
      a.setValue("c", forKey: "name")
      stack.context.processPendingChanges()
      #expect(delegate.take() == ["will", "insert - 0.1", "did"])
      stack.context.delete(a)
      stack.context.processPendingChanges()
      #expect(delegate.take() == ["will", "delete 0.1 -", "did"])
    }
  }

  @Test func `A request without sort descriptors traps and says why`() async throws {
    let result = try #require(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let stack = try TestStack(.memory)
        _ = NSFetchedResultsController(
          fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Author"),
          managedObjectContext: stack.context,
          sectionNameKeyPath: nil, cacheName: nil)
      })
    #expect(String(decoding: result.standardErrorContent, as: UTF8.self).contains("sort descriptors"))
  }

  @Test func `The delegate is not retained and may disappear`() throws {
    let stack = try TestStack(.sqlite)
    try stack.context.performAndWait {
      let controller = _controller(stack)
      var delegate: RecordingDelegate? = RecordingDelegate()
      let gone = WeakReference(delegate)
      controller.delegate = delegate
      try controller.performFetch()
      #expect(controller.delegate === delegate)
      controller.delegate = nil
      delegate = nil
      #expect(gone.object == nil)
      stack.context.insert("Author", ["name": "a"])
      stack.context.processPendingChanges()
      #expect(controller.fetchedObjects?.isEmpty == true)
    }
  }

  @Test func `Without delegate changes are not followed`() throws {
    let stack = try TestStack(.sqlite)
    try stack.context.performAndWait {
      let controller = _controller(stack)
      try controller.performFetch()
      stack.context.insert("Author", ["name": "a"])
      stack.context.processPendingChanges()
      #expect(controller.fetchedObjects?.isEmpty == true)
    }
  }

  @Test func `A limit is not applied again when objects come later`() throws {
    let stack = try TestStack(.sqlite)
    try stack.context.performAndWait {
      for name in ["a", "c"] { stack.context.insert("Author", ["name": name]) }
      let (controller, delegate) = (_controller(stack), RecordingDelegate())
      controller.delegate = delegate
      controller.fetchRequest.fetchLimit = 2
      try controller.performFetch()
      stack.context.insert("Author", ["name": "b"])
      stack.context.processPendingChanges()
      #expect(controller.fetchedObjects?.compactMap { $0.text("name") } == ["a", "b", "c"])
    }
  }

  @Test func `Among equal keys an updated object stays where it is`() throws {
    let stack = try TestStack(.sqlite)
    try stack.context.performAndWait {
      for age in 1...5 { stack.context.insert("Author", ["name": "same", "age": age]) }
      let (controller, delegate) = (_controller(stack), RecordingDelegate())
      controller.delegate = delegate
      try controller.performFetch()
      let before = controller.fetchedObjects!
      before[2].setValue(50, forKey: "age")
      stack.context.processPendingChanges()
      #expect(controller.fetchedObjects == before)
      #expect(delegate.calls == ["will", "update 0.2 0.2", "did"])
    }
  }

  @Test func `Sections can be named by a related object's value`() throws {
    let stack = try TestStack(.sqlite)
    try stack.context.performAndWait {
      let ada = stack.context.insert("Author", ["name": "Ada"])
      stack.context.insert("Book", ["title": "t", "author": ada])
      stack.context.insert("Book", ["title": "u"])
      let byAuthor = _controller(stack, "Book", sort: ["author.name", "title"], sections: "author.name")
      try byAuthor.performFetch()
      #expect(byAuthor.sections?.map(\.name) == ["", "Ada"])
      let byAge = _controller(stack, sort: ["age"], sections: "age")
      try byAge.performFetch()
      #expect(byAge.sections?.map(\.name) == ["18"])
    }
  }

  @Test func `An object that moves to a new section is announced as a move`() throws {
    let stack = try TestStack(.sqlite)
    try stack.context.performAndWait {
      for name in ["a", "a", "b"] { stack.context.insert("Author", ["name": name]) }
      let (controller, delegate) = (_controller(stack, sections: "name"), RecordingDelegate())
      controller.delegate = delegate
      try controller.performFetch()
      controller.object(at: IndexPath(item: 0, section: 1)).setValue("c", forKey: "name")
      stack.context.processPendingChanges()
      #expect(delegate.take() == ["will", "section delete 1", "section insert 1", "move 1.0 1.0", "did"])
      controller.object(at: IndexPath(item: 1, section: 0)).setValue("d", forKey: "name")
      stack.context.processPendingChanges()
      #expect(delegate.take() == ["will", "section insert 2", "move 0.1 2.0", "did"])
    }
  }

  @Test func `Fetches object IDs when asked to, in one section`() throws {
    let stack = try TestStack(.sqlite)
    try stack.context.performAndWait {
      stack.context.insert("Author", ["name": "a"])
      let request = NSFetchRequest<NSManagedObjectID>(entityName: "Author")
      request.resultType = .managedObjectIDResultType
      request.sortDescriptors = []
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: stack.context, sectionNameKeyPath: nil, cacheName: nil)
      try controller.performFetch()
      #expect(controller.fetchedObjects?.count == 1)
      #expect(controller.sections?.map(\.numberOfObjects) == [1])
    }
  }

  @Test func `A delegate or a subclass may name the index titles`() throws {
    final class Titles: NSObject, NSFetchedResultsControllerDelegate {
      func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        sectionIndexTitleForSectionName sectionName: String
      ) -> String? { "<\(sectionName)>" }
    }
    let stack = try TestStack(.sqlite)
    try stack.context.performAndWait {
      stack.context.insert("Author", ["name": "a"])
      let (controller, titles) = (_controller(stack, sections: "name"), Titles())
      try controller.performFetch()
      #expect(controller.sections?[0].indexTitle == "A")
      controller.delegate = titles
      #expect(controller.sections?[0].indexTitle == "<a>")
    }
  }

  @Test func `A title that the delegate omits is not in the index`() throws {
    final class Titles: NSObject, NSFetchedResultsControllerDelegate {
      func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        sectionIndexTitleForSectionName sectionName: String
      ) -> String? { sectionName == "b" ? nil : sectionName == "a" ? "1" : "2" }
    }
    let stack = try TestStack(.sqlite)
    try stack.context.performAndWait {
      for name in ["a", "b", "c", "d"] { stack.context.insert("Author", ["name": name]) }
      let (controller, titles) = (_controller(stack, sections: "name"), Titles())
      try controller.performFetch()
      #expect(controller.sectionIndexTitles == ["A", "B", "C", "D"])
      controller.delegate = titles
      #expect(controller.sectionIndexTitles == ["1", "2"])
      #expect(controller.sections?.map(\.indexTitle) == ["1", nil, "2", "2"])
      #expect(controller.section(forSectionIndexTitle: "2", at: 1) == 2)
    }
  }
}
