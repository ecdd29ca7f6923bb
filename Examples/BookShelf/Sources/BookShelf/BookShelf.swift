import CoreData
import Foundation

/// A shelf of books on disk: the first run fills it, each later one finds its books and lends one.
@main struct BookShelf {
  static func main() throws {
    // In the user's application support directory: ~/.local/share/BookShelf/Library.sqlite.
    let container = NSPersistentContainer(name: "Library")
    var failure: (any Error)?
    container.loadPersistentStores { failure = $1 }
    if let failure { throw failure }
    let context = container.viewContext

    let author = try author(named: "Jane Austen", in: context)
    let request = Book.fetchRequest()
    request.predicate = NSPredicate(format: "author.name BEGINSWITH %@ AND pages > 300", "Jane")
    guard let emma = try context.fetch(request).first else { return }
    let loan = LongLoan(context: context)
    loan.borrower = "Anne"
    loan.kind = .exhibition
    loan.months = 3
    loan.book = emma
    let reminder = Reminder(context: context)
    reminder.text = "Please return"
    loan.addToReminders(reminder)
    try context.save()
    context.refreshAllObjects()

    print("\(emma.title!), \(emma.pages) pages, by \(emma.author?.name ?? "?"), \(emma.price!)")
    for case let chapter as Chapter in emma.chapters! { print(chapter.heading) }
    print("\(author.books!.count) books; lent to \(loan.borrower) for \(loan.months) months as \(loan.kind),")
    print("the reminder says: \(loan.reminders.first!.text!); since \(loan.since!)")
    print("loans so far: \(emma.loans!.count)")
  }

  /// Returns the author with her books: the stored ones, or new ones.
  private static func author(named name: String, in context: NSManagedObjectContext) throws -> Author {
    let request = Author.fetchRequest()
    request.predicate = NSPredicate(format: "name == %@", name)
    if let author = try context.fetch(request).first { return author }
    let author = Author(context: context)
    author.name = name
    for (title, pages) in [("Emma", 474), ("Persuasion", 249)] {
      let book = Book(context: context)
      book.title = title
      book.pages = Int32(pages)
      book.price = NSDecimalNumber(string: "9.90")
      author.addToBooks(book)
      guard title == "Emma" else { continue }
      for title in ["The match-maker", "Miss Smith", "The poem"] {
        let chapter = Chapter(context: context)
        chapter.title = title
        book.addToChapters(chapter)
      }
      book.removeFromChapters(at: 1)
    }
    try context.save()
    return author
  }
}
