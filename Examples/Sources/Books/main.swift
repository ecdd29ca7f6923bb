// A sectioned list of books that stays live on the main queue while a worker imports.
//
//   swift run Books

import CoreData
import CoreDataStack
import Foundation

/// Authors write books, publishers print them.
func library() -> NSManagedObjectModel {
  func entity(_ name: String, _ attribute: String) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    let text = NSAttributeDescription()
    text.name = attribute
    text.attributeType = .stringAttributeType
    entity.properties = [text]
    return entity
  }
  func relate(
    _ one: NSEntityDescription, _ name: String, _ other: NSEntityDescription, _ back: String, many: Bool
  ) {
    let (there, here) = (NSRelationshipDescription(), NSRelationshipDescription())
    (there.name, there.destinationEntity, there.maxCount) = (name, other, many ? 0 : 1)
    (here.name, here.destinationEntity, here.maxCount) = (back, one, 0)
    for end in [there, here] { (end.isOptional, end.deleteRule) = (true, .nullifyDeleteRule) }
    (there.inverseRelationship, here.inverseRelationship) = (here, there)
    one.properties.append(there)
    other.properties.append(here)
  }
  let (book, author, publisher) = (
    entity("Book", "title"), entity("Author", "name"), entity("Publisher", "name")
  )
  relate(book, "authors", author, "books", many: true)
  relate(book, "publisher", publisher, "books", many: false)
  let model = NSManagedObjectModel()
  model.entities = [book, author, publisher]
  return model
}

/// Prints what changes, as a table view would animate it.
final class ListPrinter: FetchedResultsControllerDelegate {
  typealias T = NSManagedObject

  func fetchedResultsController(
    _ controller: FetchedResultsController<NSManagedObject>,
    didChangeObject change: FetchedResultsObjectChange<NSManagedObject>
  ) {
    guard case .insert(let book, let path) = change else { return }
    print("  + section \(path.section) row \(path.row): \(book.value(forKey: "title") ?? "")")
  }

  func fetchedResultsController(
    _ controller: FetchedResultsController<NSManagedObject>,
    didChangeSection change: FetchedResultsSectionChange<NSManagedObject>
  ) {
    if case .insert(let info, let index) = change { print("  + section \(index) '\(info.name)'") }
  }

  func fetchedResultsControllerWillChangeContent(_ controller: FetchedResultsController<NSManagedObject>) {}
  func fetchedResultsControllerDidChangeContent(_ controller: FetchedResultsController<NSManagedObject>) {
    print("  = \(controller.count) books in \(controller.sectionCount) sections")
  }
  func fetchedResultsControllerDidPerformFetch(_ controller: FetchedResultsController<NSManagedObject>) {}
}

let shelf = [
  ("Achebe", "Heinemann", ["Things Fall Apart", "No Longer at Ease"]), ("Atwood", "Virago", ["Alias Grace"]),
  ("Borges", "Sur", ["Ficciones", "The Aleph"]), ("Woolf", "Hogarth", ["Orlando", "The Waves"]),
]

@MainActor func run() async throws {
  let stack = try CoreDataStack.constructInMemoryStack(model: library())
  let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
  request.sortDescriptors = ["publisher.name", "title"].map { NSSortDescriptor(key: $0, ascending: true) }
  let list = FetchedResultsController(
    fetchRequest: request, managedObjectContext: stack.mainQueueContext, sectionNameKeyPath: "publisher.name")
  let printer = ListPrinter()
  list.setDelegate(printer)
  try list.performFetch()
  for (author, publisher, titles) in shelf {
    print("A worker imports \(author)")
    try await stack.performWork { context in
      func insert(_ entity: String) -> NSManagedObject {
        NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
      }
      let (writer, house) = (insert("Author"), insert("Publisher"))
      writer.setValue(author, forKey: "name")
      house.setValue(publisher, forKey: "name")
      for title in titles {
        let book = insert("Book")
        book.setValuesForKeys(["title": title, "publisher": house, "authors": Set([writer])])
      }
    }
  }
}

try await run()
