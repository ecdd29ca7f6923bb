import CoreData
import Foundation
import TestSupport
import Testing

/// Fetches for a range of values, of which unsaved objects are looked up by the order of their values.
@Suite struct PendingRangeTests {
  private func condition(_ random: inout SeededRandom) -> NSPredicate {
    let low = random.below(200) - 20
    let high = low + random.below(12)
    return switch random.below(8) {
    case 0: NSPredicate(format: "copies >= %d AND copies < %d", low, high)
    case 1: NSPredicate(format: "price > %lf AND price <= %lf", Double(low) / 2, Double(high) / 2)
    case 2: NSPredicate(format: "copies BETWEEN {%d, %d}", low, high)
    case 3: NSPredicate(format: "title BEGINSWITH %@", "Book \(low)")
    case 4: NSPredicate(format: "title >= %@ AND title < %@", "Book \(low)", "Book \(high)é")
    case 5: NSPredicate(format: "copies > %d AND copies < %d", high, low)
    case 6: NSPredicate(format: "copies > %d AND title BEGINSWITH 'Book 1'", 200 - high)
    default: NSPredicate(format: "copies < %d", low / 4)
    }
  }

  private func fill(_ book: NSManagedObject, _ random: inout SeededRandom) {
    let number = random.below(200) - 20
    switch random.below(6) {
    case 0: book.setValue(random.chance(20) ? nil : Double(number) / 2, forKey: "price")
    case 1:
      book.setValue(
        random.chance(20) ? nil : "Book \(number)\(random.one(of: ["", "é", "e\u{301}", " 一"]))",
        forKey: "title")
    case 2: book.setValue(random.chance(20) ? nil : number, forKey: "copies")
    case 3: book.setValue(number, forKey: "pages")
    default:
      book.setValue(number, forKey: "copies")
      book.setValue(Double(number) / 2, forKey: "price")
      book.setValue("Book \(number)", forKey: "title")
    }
  }

  private func edit(_ context: NSManagedObjectContext, _ random: inout SeededRandom, count: Int) throws {
    let books = try context.all("Book").sorted {
      $0.objectID.uriRepresentation().path < $1.objectID.uriRepresentation().path
    }
    for _ in 0..<count {
      switch random.below(20) {
      case 0..<4: fill(context.insert("Book"), &random)
      case 4: if let book = random.pick(books), !book.isDeleted { context.delete(book) }
      case 5: if let book = random.pick(books) { context.refresh(book, mergeChanges: random.chance(50)) }
      default: if let book = random.pick(books), !book.isDeleted { fill(book, &random) }
      }
    }
  }

  @Test(arguments: [Setting.sqlite, .memory], 0..<6)
  func `a fetch for a range finds what is in it on each level of contexts`(
    _ setting: Setting, _ seed: Int
  ) throws {
    var random = SeededRandom(seed: UInt64(seed + 1))
    let stack = try TestStack(setting)
    let child = stack.child(of: stack.context)
    let levels = [stack.context, child, stack.child(of: child)]
    try stack.context.performAndWait {
      for _ in 0..<150 { fill(stack.context.insert("Book"), &random) }
      try stack.context.save()
      for _ in 0..<150 { fill(stack.context.insert("Book"), &random) }
    }
    for step in 0..<25 {
      let context = random.one(of: levels)
      try context.performAndWait {
        try edit(context, &random, count: random.one(of: [1, 5, 60]))
        if random.chance(30) { try context.save() }
        if random.chance(4) { context.rollback() }
      }
      for (depth, level) in levels.enumerated() {
        try level.performAndWait {
          for _ in 0..<3 {
            let predicate = condition(&random)
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            // No index knows what this asks for.
            request.predicate = NSCompoundPredicate(
              notPredicateWithSubpredicate: NSCompoundPredicate(notPredicateWithSubpredicate: predicate))
            let all = Set(try level.fetch(request).map(\.objectID))
            request.predicate = predicate
            let found = Set(try level.fetch(request).map(\.objectID))
            #expect(found == all, "step \(step), depth \(depth), \(predicate)")
            #expect(try level.count(for: request) == all.count, "step \(step), depth \(depth), \(predicate)")
          }
        }
      }
    }
  }

  @Test func `a change that an ancestor has not saved is found by value through a child's older change`()
    throws
  {
    let stack = try TestStack(.sqlite)
    let child = stack.child(of: stack.context)
    let grandchild = stack.child(of: child)
    let book = try stack.stored("Book", ["title": "A", "copies": 1, "pages": 1])
    try grandchild.performAndWait {
      grandchild.object(with: book.objectID).setValue(2, forKey: "pages")
      try grandchild.save()
    }
    stack.context.performAndWait { book.setValue(7, forKey: "copies") }
    try child.performAndWait {
      for format in ["copies == 7", "copies > 5", "copies > 5", "copies > 5 AND copies < 9"] {
        let found = try child.all("Book", where: NSPredicate(format: format))
        #expect(found.map(\.objectID) == [book.objectID], "\(format)")
      }
    }
  }
}
