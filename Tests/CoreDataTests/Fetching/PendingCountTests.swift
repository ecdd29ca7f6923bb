import CoreData
import CoreDataToolKit
import Foundation
import Testing

/// Counting with unsaved changes finds as many as fetching does.
@Suite struct PendingCountTests {
  private let predicates: [NSPredicate?] = [
    nil, NSPredicate(format: "pages > 4"), NSPredicate(format: "title BEGINSWITH '3'"),
    NSPredicate(format: "pages == 5"),
    NSPredicate(format: "author.age > 20"), NSPredicate(format: "ANY tags.name == '1'"),
    NSPredicate(format: "NOT (pages IN {1, 2, 3})"),
  ]

  private func compare(_ context: NSManagedObjectContext, _ step: Int) throws {
    for entity in ["Book", "Novel", "Publication", "Author"] {
      for predicate in predicates where predicate == nil || entity == "Book" || entity == "Novel" {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = predicate
        func compare() throws {
          let (count, found) = (try context.count(for: request), try context.fetch(request).count)
          try #require(count == found, "\(request), step \(step)")
        }
        try compare()
        request.includesSubentities = false
        try compare()
        request.fetchLimit = 3
        try compare()
      }
    }
  }

  private func change(_ context: NSManagedObjectContext, _ random: inout SeededRandom) throws {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    let books = try context.fetch(request)
    let number = Int.random(in: 0..<10, using: &random)
    let book = books.randomElement(using: &random)
    switch Int.random(in: 0..<7, using: &random) {
    case 0, 1: context.insert("Book", ["title": "\(number)", "pages": number])
    case 2: context.insert("Novel", ["title": "\(number)", "pages": number])
    case 3: book.map(context.delete)
    case 4: book?.setValue(context.insert("Author", ["age": number * 4]), forKey: "author")
    case 5: book?.setValue([context.insert("Tag", ["name": "\(number % 3)"])] as Set, forKey: "tags")
    default: book?.setValue(number, forKey: "pages")
    }
  }

  @Test(arguments: Setting.allCases)
  func `a count with unsaved changes is that of a fetch`(setting: Setting) throws {
    let stack = try TestStack(setting)
    var random = SeededRandom(seed: 5)
    try stack.context.performAndWait {
      for step in 0..<60 {
        for _ in 0..<Int.random(in: 1...3, using: &random) { try change(stack.context, &random) }
        try compare(stack.context, step)
        if step % 9 == 8 { try stack.context.save() }
        if step % 20 == 19 { stack.context.rollback() }
      }
    }
  }

  @Test(arguments: Setting.direct)
  func `a count includes what a child has saved into the context`(setting: Setting) throws {
    let stack = try TestStack(setting)
    var random = SeededRandom(seed: 7)
    try stack.context.performAndWait {
      for _ in 0..<20 { try change(stack.context, &random) }
      try stack.context.save()
    }
    for step in 0..<20 {
      let child = stack.child(of: stack.context)
      try child.performAndWait {
        for _ in 0..<3 { try change(child, &random) }
        try child.save()
      }
      try stack.context.performAndWait { try compare(stack.context, step) }
    }
  }

  @Test(arguments: Setting.direct)
  func `a context with an unsaved object of another entity counts without listing`(setting: Setting) throws {
    let stack = try TestStack(setting)
    try stack.context.performAndWait {
      for number in 0..<5 { stack.context.insert("Book", ["pages": number]) }
      try stack.context.save()
      stack.context.insert("Tag", ["name": "new"])
      try #expect(stack.context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Book")) == 5)
      try #expect(stack.context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Tag")) == 1)
    }
  }
}
