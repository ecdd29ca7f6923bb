import CoreData
import Foundation
import TestSupport
import Testing

/// The in-memory store's indexes of attributes and links, against evaluating each object.
@Suite struct MemoryIndexTests {
  private static let _numbers = [1, 2, 3, 1_000_000]

  /// Inserts, changes, moves and deletes some objects, and saves.
  private func _edit(_ context: NSManagedObjectContext, _ random: inout SeededRandom) throws {
    for _ in 0..<6 {
      let authors = try context.all("Author", by: "name")
      let books = try context.all("Book", by: "title")
      let tags = try context.all("Tag", by: "name")
      func author() -> NSManagedObject? { authors.isEmpty ? nil : authors[random.below(authors.count)] }
      switch random.below(8) {
      case 0: context.insert("Author", ["name": "author \(random.below(1000))"])
      case 1: context.insert("Tag", ["name": "tag \(random.below(1000))"])
      case 2, 3:
        let book = context.insert(
          "Book", ["title": "book \(random.below(1000))", "pages": Self._numbers[random.below(4)]])
        book.setValue(author(), forKey: "author")
      case 4: books.isEmpty ? () : books[random.below(books.count)].setValue(author(), forKey: "author")
      case 5:
        guard !books.isEmpty else { break }
        let some = tags.filter { _ in random.chance(50) }
        books[random.below(books.count)].setValue(Set(some), forKey: "tags")
      case 6:
        guard !books.isEmpty else { break }
        books[random.below(books.count)].setValue(Self._numbers[random.below(4)], forKey: "pages")
      default:
        let all = random.chance(30) ? authors : random.chance(30) ? tags : books
        if !all.isEmpty { context.delete(all[random.below(all.count)]) }
      }
    }
    try context.save()
  }

  @Test(arguments: 1...6)
  func `Fetches and relationships find what evaluating each object finds`(_ seed: UInt64) throws {
    let stack = try TestStack(.memory)
    var random = SeededRandom(seed: seed)
    for _ in 0..<25 {
      try stack.context.performAndWait { try _edit(stack.context, &random) }
      let other = stack.sibling()
      try other.performAndWait {
        let (authors, books) = (try other.all("Author", by: "name"), try other.all("Book", by: "title"))
        for author in authors {
          let expected = Set(books.filter { $0.value(forKey: "author") as? NSManagedObject == author })
          #expect(author.value(forKey: "books") as? Set<NSManagedObject> == expected)
        }
        for tag in try other.all("Tag") {
          let expected = Set(
            books.filter { ($0.value(forKey: "tags") as? Set<NSManagedObject>)?.contains(tag) == true })
          #expect(tag.value(forKey: "books") as? Set<NSManagedObject> == expected)
        }
        let some = authors.filter { _ in random.chance(40) }
        let predicates =
          [
            NSPredicate(format: "author IN %@", some),
            NSPredicate(format: "SELF IN %@", Array(books.prefix(3))),
            NSPredicate(format: "pages IN %@", [1, 3, 3, 7]), NSPredicate(format: "pages IN %@", [1.0, 2.5]),
            NSPredicate(format: "author IN %@ AND pages == 2", some), NSPredicate(format: "author == nil"),
            NSPredicate(format: "NOT author IN %@", some), NSPredicate(format: "pages IN %@", [1, NSNull()]),
          ] + some.prefix(1).map { NSPredicate(format: "author == %@ OR pages == 1", $0) }
          + some.prefix(1).map { NSPredicate(format: "author == %@", $0.objectID) }
        for predicate in predicates {
          let found = try Set(other.all("Book", where: predicate))
          #expect(found == Set(books.filter { predicate.evaluate(with: $0) }), "\(predicate)")
        }
        let members = NSPredicate(format: "ANY books.pages == 2 OR books.@count == 1")
        #expect(try Set(other.all("Author", where: members)) == Set(authors.filter(members.evaluate(with:))))
      }
    }
  }
}
