// A list of books under their publishers, which stays live on the main queue while workers import.
//
//   swift run Books

import CoreData
import CoreDataStacks
import Foundation

/// Prints changes as a table view would animate them.
final class ListPrinter: FetchedResultsControllerDelegate {
  typealias T = Book

  func fetchedResultsController(
    _ controller: FetchedResultsController<Book>, didChangeSection change: FetchedResultsSectionChange<Book>
  ) {
    switch change {
    case .insert(let info, let index): print("  + section \(index): \(info.name)")
    case .delete(let info, let index): print("  - section \(index): \(info.name)")
    }
  }

  func fetchedResultsController(
    _ controller: FetchedResultsController<Book>, didChangeObject change: FetchedResultsObjectChange<Book>
  ) {
    switch change {
    case .insert(let book, let path): print("  + \(path.section).\(path.row): \(book.title ?? "")")
    case .delete(let book, let path): print("  - \(path.section).\(path.row): \(book.title ?? "")")
    case .move(let book, let old, let new):
      print("  > \(old.section).\(old.row) to \(new.section).\(new.row): \(book.title ?? "")")
    case .update(let book, let path): print("  ~ \(path.section).\(path.row): \(book.title ?? "")")
    }
  }

  func fetchedResultsControllerDidChangeContent(_ controller: FetchedResultsController<Book>) {
    print("  = \(controller.count) books in \(controller.sectionCount) sections")
  }
}

let shelf = [
  ("Chinua Achebe", "Heinemann", ["Things Fall Apart", "No Longer at Ease"]),
  ("Margaret Atwood", "Virago", ["Alias Grace"]), ("Jorge Luis Borges", "Sur", ["Ficciones", "The Aleph"]),
  ("Virginia Woolf", "Hogarth", ["Orlando", "The Waves"]),
]

@MainActor func run() async throws {
  let stack = try CoreDataStack.constructInMemoryStack(modelName: "Library")

  let request = NSFetchRequest<Book>(entityName: "Book")
  request.sortDescriptors = ["publisher.name", "title"].map { NSSortDescriptor(key: $0, ascending: true) }
  let list = FetchedResultsController(
    fetchRequest: request, managedObjectContext: stack.mainQueueContext, sectionNameKeyPath: "publisher.name")
  let printer = ListPrinter()
  list.setDelegate(printer)
  try list.performFetch()

  for (name, house, titles) in shelf {
    print("A worker imports \(name)")
    try await stack.performWork { context in
      let (author, publisher) = (Author(context: context), Publisher(context: context))
      author.name = name
      publisher.name = house
      for title in titles {
        let book = Book(context: context)
        book.title = title
        book.publisher = publisher
        book.addToAuthors(author)
      }
    }
  }

  print("Another one corrects a title")
  let id = ObjectID(list[IndexPath(row: 0, section: 0)])
  try await stack.performWork { context in try context.existing(id).title = "No Longer at Ease (1960)" }

  print("The list")
  for section in list.sections ?? [] {
    print("  \(section.name)")
    for book in section.objects {
      let authors = (book.authors as? Set<Author> ?? []).compactMap(\.name)
      print("    \(book.title ?? ""), \(authors.joined(separator: ", "))")
    }
  }
}

try await run()
