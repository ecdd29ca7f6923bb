import CoreData
import Foundation

@main struct BookShelf {
  static func main() throws {
    let container = NSPersistentContainer(name: "Library")
    let description = NSPersistentStoreDescription()
    description.type = NSInMemoryStoreType
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { failure = $1 }
    if let failure { throw failure }
    let context = container.viewContext

    let author = Author(context: context)
    author.name = "Jane Austen"
    for (title, pages) in [("Emma", 474), ("Persuasion", 249)] {
      let book = Book(context: context)
      book.title = title
      book.pages = Int32(pages)
      book.price = NSDecimalNumber(string: "9.90")
      author.addToBooks(book)
    }
    let request = Book.fetchRequest()
    request.predicate = NSPredicate(format: "author.name BEGINSWITH %@ AND pages > 300", "Jane")
    let emma = try context.fetch(request)[0]
    for title in ["The match-maker", "Miss Smith", "The poem"] {
      let chapter = Chapter(context: context)
      chapter.title = title
      emma.addToChapters(chapter)
    }
    emma.removeFromChapters(at: 1)

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
    print("reminded \(loan.reminders.count) time(s): \(loan.reminders.first!.text!); since \(loan.since!)")
  }
}
