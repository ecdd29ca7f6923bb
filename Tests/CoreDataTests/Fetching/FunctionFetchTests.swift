import CoreData
import Foundation
import Testing

/// Functions of the predicate language in fetches: SQL and memory agree, or the fetch is refused.
@Suite struct FunctionFetchTests {
  /// Ann has books of 1, 2, 2, 3, 10, 10 pages, Bob one of 7, Cid none.
  private func _library(_ setting: Setting) throws -> TestStack {
    let stack = try TestStack(setting)
    try stack.context.performAndWait {
      let context = stack.context
      let authors = ["Ann", "Bob", "Cid"].map { context.insert("Author", ["name": $0]) }
      for (number, pages) in [1, 2, 2, 3, 10, 10].enumerated() {
        context.insert(
          "Book", ["title": "\(number)", "pages": pages, "price": Double(pages) + 0.5, "author": authors[0]])
      }
      context.insert("Book", ["title": "b", "pages": 7, "price": 7.5, "author": authors[1]])
      context.insert("Book", ["title": "c"]).setValue(nil, forKey: "pages")
      try context.save()
    }
    return stack
  }

  private func _column(_ format: String, _ type: NSAttributeType = .doubleAttributeType)
    -> NSExpressionDescription
  {
    let column = NSExpressionDescription()
    column.name = format
    column.expression = NSExpression(format: format)
    column.expressionResultType = type
    return column
  }

  private func _found(_ stack: TestStack, _ entity: String, _ key: String, _ format: String) throws
    -> [String]
  {
    try stack.context.performAndWait {
      try stack.context.all(entity, by: key, where: NSPredicate(format: format)).map { $0.text(key) ?? "nil" }
    }
  }

  @Test(arguments: Setting.direct) func `statistics of all rows and of groups`(_ setting: Setting) throws {
    let stack = try _library(setting)
    let columns = [
      _column("median(pages)"), _column("stddev(pages)"), _column("mode(pages)", .integer32AttributeType),
    ]
    let request = NSFetchRequest<NSDictionary>(entityName: "Book")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = columns
    try stack.context.performAndWait {
      let all = try stack.context.fetch(request)[0]
      #expect(all["median(pages)"] as? Double == 3)
      #expect(all["mode(pages)"] as? Int == 2)
      let deviation = try #require(all["stddev(pages)"] as? Double)
      #expect(abs(deviation - (92.0 / 7).squareRoot()) < 1e-12)
      request.propertiesToFetch = ["author.name", columns[0], columns[2]]
      request.propertiesToGroupBy = ["author.name"]
      request.sortDescriptors = [NSSortDescriptor(key: "author.name", ascending: true)]
      let groups = try stack.context.fetch(request)
      #expect(groups.map { $0["median(pages)"] as? Double } == [nil, 2.5, 7])
      #expect(groups.map { $0["mode(pages)"] as? Int } == [nil, 2, 7])
    }
  }

  @Test(arguments: Setting.direct) func `statistics of members are compared`(_ setting: Setting) throws {
    let stack = try _library(setting)
    try #expect(_found(stack, "Author", "name", "median(books.pages) == 2.5") == ["Ann"])
    try #expect(_found(stack, "Author", "name", "stddev(books.pages) == 0") == ["Bob"])
    try #expect(_found(stack, "Author", "name", "median(books.pages) == nil") == ["Cid"])
    try #expect(_found(stack, "Author", "name", "books[SIZE] > 1") == ["Ann"])
  }

  @Test(arguments: Setting.direct) func `remainders are taken of fractions too`(_ setting: Setting) throws {
    let stack = try _library(setting)
    try #expect(_found(stack, "Book", "title", "modulus:by:(price, 2) == 1.5 AND pages > 3") == ["b"])
    try #expect(_found(stack, "Book", "title", "modulus:by:(pages, 3) == 0") == ["3"])
    try #expect(_found(stack, "Book", "title", "modulus:by:(pages, 0) == 0") == [])
  }

  @Test(arguments: Setting.direct) func `values are cast`(_ setting: Setting) throws {
    let stack = try _library(setting)
    try #expect(_found(stack, "Book", "title", "CAST(pages, 'NSString') BEGINSWITH '1'") == ["0", "4", "5"])
    try #expect(_found(stack, "Book", "title", "CAST(price, 'NSString') == '7.5'") == ["b"])
    try #expect(
      _found(stack, "Book", "title", "pages < 9 AND title != 'b' AND CAST(title, 'NSNumber') > 2") == ["3"])
    try #expect(_found(stack, "Book", "title", "CAST(pages, 'NSDate') == CAST(7, 'NSDate')") == ["b"])
  }

  @Test(arguments: Setting.direct) func `chance is bounded`(_ setting: Setting) throws {
    let stack = try _library(setting)
    try #expect(_found(stack, "Author", "name", "random() >= 0 AND randomn(3) < 3") == ["Ann", "Bob", "Cid"])
  }

  @Test func `what SQLite cannot compute is refused by name`() throws {
    let stack = try _library(.sqlite)
    let formats = [
      "mode(books.pages) == 1", "books[0].pages == 1", "books[FIRST].pages == 1", "median(books.title) == 1",
      "CAST(name, 'NSUUID') == 1", "distanceToLocation:fromLocation:(name, name) > 1",
    ]
    stack.context.performAndWait {
      for format in formats {
        let error = #expect(throws: CocoaError.self, "\(format)") {
          try stack.context.all("Author", where: NSPredicate(format: format))
        }
        #expect(error.map { "\($0)".contains("cannot be translated to SQL") } == true, "\(format)")
      }
    }
  }
}
