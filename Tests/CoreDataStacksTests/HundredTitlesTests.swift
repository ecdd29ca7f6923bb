import CoreData
import Foundation
import Testing

/// The operations that the stack library's own tests perform on a controller of a hundred titles in sections
/// by initial.
@Suite("Fetched results of a hundred titles")
struct HundredTitlesTests {
  /// Invented titles, except the two that are moved and deleted: one in section "1", five or six under each
  /// of 18 letters.
  private static let _titles: [String] = {
    var titles = ["1984"]
    for (index, letter) in "ABCDFGHILMNOPRSTU".enumerated() {
      titles += ["able", "bell", "candle", "door", "easel"].map { "\(letter)\($0)" }
      if index < 9 { titles.append("\(letter)zed") }
    }
    return titles + ["Waa", "Wbb", "Wcc", "Wide Sargasso Sea", "Wzz"]
  }()

  private final class Listener: NSObject, NSFetchedResultsControllerDelegate {
    var calls: [String] = []
    func controller(
      _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
      didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
      for type: NSFetchedResultsChangeType
    ) {
      let title = sectionInfo.indexTitle ?? "-"
      calls.append(
        "section \(type) \(sectionIndex) \(sectionInfo.name) \(title) \(sectionInfo.numberOfObjects)")
    }
    func controller(
      _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
      at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
      func text(_ path: IndexPath?) -> String { path.map { "(\($0.section),\($0.row))" } ?? "-" }
      calls.append("\(type) \(text(indexPath)) \(text(newIndexPath))")
    }
  }

  private func _run(
    _ change: @escaping @Sendable (NSManagedObjectContext, [String: Book]) -> Void, expecting calls: [String]
  ) async throws {
    let container = NSPersistentContainer(name: "Sample", managedObjectModel: SampleBooks.model())
    let description = NSPersistentStoreDescription()
    description.type = NSInMemoryStoreType
    container.persistentStoreDescriptions = [description]
    container.loadPersistentStores { _, error in #expect(error == nil) }
    let context = container.viewContext
    try await context.perform {
      var books: [String: Book] = [:]
      for title in Self._titles.reversed() {
        let book = Book(context: context)
        book.title = title
        books[title] = book
      }
      try context.save()
      let request = NSFetchRequest<Book>(entityName: "Book")
      request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "firstInitial",
        cacheName: nil)
      let listener = Listener()
      controller.delegate = listener
      try controller.performFetch()
      #expect(controller.fetchedObjects?.count == 100)
      #expect(controller.sections?.count == 19)
      #expect(controller.sections?[0].name == "1" && controller.sections?[0].numberOfObjects == 1)
      #expect(controller.object(at: IndexPath(row: 0, section: 0)).title == "1984")
      #expect(controller.sections?[1].name == "A")
      change(context, books)
      context.processPendingChanges()
      #expect(listener.calls == calls)
    }
  }

  @Test func `A title before the first is inserted at its section's start`() async throws {
    try await _run({ context, _ in Book(context: context).title = "1111" }, expecting: ["insert - (0,0)"])
  }

  @Test func `A title with another initial moves from section to section`() async throws {
    try await _run(
      { _, books in books["Wide Sargasso Sea"]?.title = "Narrow Sargasso Sea" },
      expecting: ["move (18,3) (11,1)"])
  }

  @Test func `A title with a new initial brings its section`() async throws {
    try await _run(
      { context, _ in Book(context: context).title = "##@%@#%^" },
      expecting: ["section insert 0 # # 1", "insert - (0,0)"])
  }

  @Test func `The only title of a section takes the section with it`() async throws {
    try await _run(
      { context, books in context.delete(books["1984"]!) },
      expecting: ["section delete 0 1 1 0", "delete (0,0) -"])
  }
}
