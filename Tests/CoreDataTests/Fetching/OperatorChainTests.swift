import CoreData
import Foundation
import Testing

/// Chains of operators find the same rows in a store as in memory, whatever order SQL evaluates them in.
@Suite struct OperatorChainTests {
  private static let chains = [
    "(pages + 1) + copies * 2", "pages + (1 + copies)", "pages - 1 - copies", "pages - (1 - copies)",
    "(pages - 1) - (copies - 2)", "pages * 2 * copies", "pages * (2 * copies)", "pages / copies / 2",
    "pages / (copies / 2)", "(pages + copies) * 2 + 1", "pages + copies - 3 + 1", "1 + (2 + (3 + pages))",
    "((pages + 1) + copies) + 2", "pages - copies * 2 - 1", "(pages + copies) - (pages - copies)",
    "pages + (copies - (pages + 1))", "2 * (3 + pages) * copies", "(pages + 1) / copies",
    "trunc:((pages + 1) / copies)", "(pages * 2) - (copies * 3) - (pages * 4)",
    // Whole numbers divide without a fraction, all others with one, also a decimal that has none. The quotients of
    // decimals end: stores keep fewer digits of others than memory.
    "(pages + 1) / (copies - 20)", "pages / cost", "cost / 8", "pages / copies / cost",
    "cost / 2 / 4",
    "(cost + 1) / 8", "price / copies", "(pages + copies) / price", "author.age / copies",
    "(author.age + 1) / copies", "title.length / copies", "(title.length + 1) / copies",
    "pages / (1 + inPrint)",
    "TERNARY(inPrint == YES, pages, copies) / 4",
    "(pages & 7) / 2",
    "abs:(copies - pages) / 4", "(pages + 0.0) / 4",
  ]

  @Test(arguments: chains, [NSSQLiteStoreType, NSInMemoryStoreType])
  func `a chain has one value in stores and in memory`(chain: String, type: String) throws {
    let stack = try TestStack(type == NSSQLiteStoreType ? .sqlite : .memory)
    try stack.context.performAndWait {
      let author = stack.context.insert("Author", ["name": "Ursula", "age": 88])
      let rows: [(pages: Int, copies: Int, cost: Decimal, price: Double)] = [
        (10, 3, 2.5, 4.25), (7, 2, 4, 2), (12, 6, 1.25, 1.5), (9, 9, 1, 8),
      ]
      let books = rows.map { row in
        let book = stack.context.insert(
          "Book", ["title": "Always", "pages": row.pages, "copies": row.copies])
        book.setValue(row.cost as NSDecimalNumber, forKey: "cost")
        book.setValue(row.price, forKey: "price")
        book.setValue(row.pages > 8, forKey: "inPrint")
        book.setValue(author, forKey: "author")
        return book
      }
      try stack.context.save()
      try _compare(chain, books, stack)
    }
  }

  private func _compare(_ chain: String, _ books: [NSManagedObject], _ stack: TestStack) throws {
    for book in books {
      let value = try #require(
        NSExpression(format: chain).expressionValue(with: book, context: nil) as? NSNumber)
      let predicate = NSPredicate(format: "(\(chain)) == %@", value)
      #expect(predicate.evaluate(with: book))
      let expected = Set(books.filter { predicate.evaluate(with: $0) }.map(\.objectID))
      let found = try stack.fresh { try Set($0.all("Book", where: predicate).map(\.objectID)) }
      #expect(found == expected, "\(predicate)")
    }
  }

  @Test func `operands keep their order in an application that is not commutative`() throws {
    let stack = try TestStack(.sqlite)
    try stack.context.performAndWait {
      let book = stack.context.insert("Book", ["pages": 10, "copies": 3])
      try stack.context.save()
      for (format, isFound) in [
        ("pages - copies == 7", true), ("copies - pages == 7", false),
        ("(pages + 1) + copies * 2 == 17", true),
        ("(pages + 1) + copies * 2 == 28", false),
      ] {
        let found = try stack.fresh { try $0.all("Book", where: NSPredicate(format: format)).count }
        #expect((found == 1) == isFound, "\(format)")
      }
      _ = book
    }
  }
}
