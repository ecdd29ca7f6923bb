import CoreData
import Foundation
import Testing

import class CoreData.NSExpression

/// Predicates that shipped apps use, with the same meaning in SQL and in memory.
@Suite struct LenientPredicateTests {
  private func _stack(_ setting: Setting) throws -> TestStack {
    let stack = try TestStack(setting)
    stack.context.performAndWait {
      let ada = stack.context.insert("Author", ["name": "Ada", "age": 36])
      let bob = stack.context.insert("Author", ["name": "5", "age": 17])
      stack.context.insert("Author", ["name": NSNull()]).setValue(nil, forKey: "age")
      let red = stack.context.insert("Tag", ["name": "red"])
      let one = stack.context.insert("Book", ["title": "One", "pages": 136, "author": ada, "price": 1.5])
      one.setValue(Set([red]), forKey: "tags")
      stack.context.insert("Book", ["title": "Three", "pages": 36, "author": bob, "price": 2.0])
      stack.context.insert("Book", ["title": "None", "pages": 7])
    }
    try stack.save()
    return stack
  }

  private func _titles(_ stack: TestStack, _ predicate: NSPredicate) throws -> [String?] {
    try stack.context.performAndWait {
      try stack.context.all("Book", by: "title", where: predicate).map { $0.text("title") }
    }
  }

  @Test(
    arguments: Setting.allCases,
    [
      ("ANY title == 'One'", ["One"]), ("ANY pages > 30", ["One", "Three"]),
      ("ANY author.name == '5'", ["Three"]),
      ("ANY author == nil", ["None"]), ("ANY author.name == nil", ["None"]),
      ("NONE author == nil", ["One", "Three"]),
      ("ANY title IN {'One', 'None'}", ["None", "One"]), ("ANY tags.name == 'red'", ["One"]),
      ("ANY tags.name == nil", []),
    ])
  func `ANY of a single value is the comparison itself`(
    _ setting: Setting, _ expected: (format: String, titles: [String])
  ) throws {
    try #expect(_titles(_stack(setting), NSPredicate(format: expected.format)) == expected.titles)
  }

  @Test(
    arguments: Setting.allCases,
    [
      ("pages.stringValue == '36'", ["Three"]), ("pages.stringValue BEGINSWITH '1'", ["One"]),
      ("pages.stringValue CONTAINS[cd] '36'", ["One", "Three"]), ("price.stringValue == '1.5'", ["One"]),
      ("price.stringValue == '2'", ["Three"]), ("author.age.stringValue ENDSWITH '7'", ["Three"]),
      ("title.length == 3", ["One"]), ("title.length > 3", ["None", "Three"]),
      ("author.name.length == nil", ["None"]),
      ("author.age.stringValue == nil", ["None"]),
    ])
  func `A key path may go on behind an attribute`(
    _ setting: Setting, _ expected: (format: String, titles: [String])
  ) throws {
    try #expect(_titles(_stack(setting), NSPredicate(format: expected.format)) == expected.titles)
  }

  @Test(
    arguments: Setting.allCases,
    [
      ("pages CONTAINS '36'", ["One", "Three"]), ("pages LIKE '?36'", ["One"]),
      ("pages BEGINSWITH '3'", ["Three"]),
      ("pages MATCHES '[0-9]{2}'", ["Three"]), ("pages CONTAINS 6", ["One", "Three"]),
      ("price LIKE '1*'", ["One"]),
    ])
  func `A number is taken for its text by the operators of texts`(
    _ setting: Setting, _ expected: (format: String, titles: [String])
  ) throws {
    try #expect(_titles(_stack(setting), NSPredicate(format: expected.format)) == expected.titles)
  }

  @Test(arguments: Setting.allCases) func `A to-many equals an object that is a member of it`(
    _ setting: Setting
  )
    throws
  {
    let stack = try _stack(setting)
    try stack.context.performAndWait {
      let red = try stack.context.all("Tag")[0]
      func titles(_ format: String) throws -> [String?] {
        try stack.context.all("Book", by: "title", where: NSPredicate(format: format, red)).map {
          $0.text("title")
        }
      }
      try #expect(titles("tags == %@") == ["One"])
      try #expect(titles("tags != %@") == ["None", "Three"])
      try #expect(titles("tags CONTAINS %@") == ["One"])
    }
  }

  @Test(arguments: [[5], [5, 17], [5, 17, 99, 100]], ["IN %@", "OR"])
  func `Numbers find the texts that equality with one of them finds`(_ numbers: [Int], _ form: String) throws
  {
    let stack = try _stack(.sqlite)
    let predicate =
      form == "OR"
      ? NSCompoundPredicate(
        orPredicateWithSubpredicates: (numbers + Array(200..<230)).map {
          NSPredicate(format: "name == %d", $0)
        })
      : NSPredicate(format: "name IN %@", numbers)
    try stack.context.performAndWait {
      try #expect(stack.context.all("Author", where: predicate).map { $0.text("name") } == ["5"])
    }
  }

  @Test func `A UUID prints bare and reads as one`() throws {
    let uuid = try #require(UUID(uuidString: "68753A44-4D6F-1226-9C60-0050E4C00067"))
    let predicate = NSPredicate(format: "isbn == %@", uuid as any CVarArg)
    #expect(predicate.canonicalFormat == "isbn == 68753A44-4D6F-1226-9C60-0050E4C00067")
    #expect(NSPredicate(format: predicate.canonicalFormat) == predicate)
    try #expect(NSPredicate(format: predicate.canonicalFormat).matches(["isbn": uuid]))
  }

  @Test func `FUNCTION calls an object that performs selectors`() throws {
    let stack = try TestStack(.memory)
    try stack.context.performAndWait {
      let author = stack.context.insert("Author", ["name": "Ada"])
      let expression = NSExpression(format: "FUNCTION($helper, 'greeting:', name)")
      let found = try expression.evaluated(with: author, context: ["helper": Greeter()])
      #expect(found as? String == "Hello, Ada")
    }
  }

  @Test func `A fetch from several stores sorts by a to-one path`() throws {
    let stack = try TestStack(.sqlite)
    let other = try stack.coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    try stack.context.performAndWait {
      let context = stack.context
      for (number, name) in ["Cyd", "Ada", "Dot", "Bob"].enumerated() {
        let author = context.insert("Author", ["name": name, "age": number])
        let book = context.insert("Book", ["title": "by \(name)", "author": author])
        if number % 2 == 0 {
          context.assign(author, to: other)
          context.assign(book, to: other)
        }
      }
      context.insert("Book", ["title": "by nobody"])
      try context.save()
      context.reset()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
      request.sortDescriptors = [NSSortDescriptor(key: "author.name", ascending: true)]
      let expected = ["by nobody", "by Ada", "by Bob", "by Cyd", "by Dot"]
      try #expect(context.fetch(request).map { $0.text("title") } == expected)
      request.sortDescriptors = [NSSortDescriptor(key: "author.name", ascending: false)]
      request.fetchLimit = 2
      request.fetchOffset = 1
      try #expect(context.fetch(request).map { $0.text("title") } == ["by Cyd", "by Bob"])
    }
  }
}

private final class Greeter: NSObject, SelectorPerforming {
  func perform(_ selector: String, with arguments: [Any?]) throws -> Any? {
    selector == "greeting:" ? "Hello, \(arguments[0] ?? "")" : nil
  }
}
