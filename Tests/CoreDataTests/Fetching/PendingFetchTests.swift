import CoreData
import Foundation
import TestSupport
import Testing

/// Properties of fetches in a context with unsaved changes, on generated cases.
@Suite struct PendingFetchTests {
  /// Comparisons of attributes, with the arguments for `%@`.
  private struct Condition {
    var format: String
    var arguments: [Any]

    static func any(_ random: inout SeededRandom, depth: Int = 0) -> Condition {
      switch random.below(depth < 2 ? 4 : 3) {
      case 0: text(&random)
      case 1, 2: number(&random)
      default:
        joined(
          any(&random, depth: depth + 1), random.chance(50) ? "AND" : "OR", any(&random, depth: depth + 1))
      }
    }

    private static func text(_ random: inout SeededRandom) -> Condition {
      let op = random.one(of: ["==", "!=", "<", ">=", "BEGINSWITH[cd]", "CONTAINS[c]", "LIKE"])
      let value = random.one(of: op == "LIKE" ? Words.patterns : op.contains("[") ? Words.parts : Words.texts)
      return Condition(format: "title \(op) %@", arguments: [value])
    }

    private static func number(_ random: inout SeededRandom) -> Condition {
      let name = random.one(of: ["pages", "copies", "price"])
      if random.chance(20) {
        let bounds = [random.one(of: Words.integers), random.one(of: Words.integers)].sorted()
        return Condition(format: "\(name) BETWEEN %@", arguments: [bounds])
      }
      let op = random.one(of: ["==", "!=", "<", "<=", ">", ">="])
      return Condition(
        format: "\(name) \(op) %@", arguments: [NSNumber(value: random.one(of: Words.integers))])
    }

    private static func joined(_ left: Condition, _ op: String, _ right: Condition) -> Condition {
      Condition(
        format: "(\(left.format)) \(op) (\(right.format))", arguments: left.arguments + right.arguments)
    }
  }

  private func fill(_ book: NSManagedObject, _ random: inout SeededRandom, hasNil: Bool) {
    func maybe(_ value: Any) -> Any? { !hasNil || random.chance(85) ? value : nil }
    let (title, pages) = (random.one(of: Words.texts), random.one(of: Words.integers))
    let (copies, price) = (random.one(of: Words.integers), random.one(of: Words.doubles))
    book.setValue(maybe(title), forKey: "title")
    book.setValue(maybe(pages), forKey: "pages")
    book.setValue(maybe(copies), forKey: "copies")
    book.setValue(maybe(price), forKey: "price")
  }

  /// Saves books, then inserts, changes and deletes some. Numbered books have distinct numbers of copies; the
  /// others have no nil, for which SQL and memory differ, as in Core Data.
  private func edited(
    _ setting: Setting, _ random: inout SeededRandom, isNumbered: Bool = false
  ) throws -> TestStack {
    let stack = try TestStack(setting)
    var number = 0
    func edit(_ book: NSManagedObject) {
      fill(book, &random, hasNil: isNumbered)
      number += 1
      if isNumbered { book.setValue(number * 7 % 101, forKey: "copies") }
    }
    try stack.context.performAndWait {
      for _ in 0..<40 { edit(stack.context.insert("Book")) }
      try stack.context.save()
      for book in try stack.context.all("Book") {
        if random.chance(25) { stack.context.delete(book) } else if random.chance(40) { edit(book) }
      }
      for _ in 0..<15 { edit(stack.context.insert("Book")) }
    }
    return stack
  }

  @Test(arguments: [Setting.sqlite, .memory], 0..<4)
  func `unsaved objects are found as if they were saved`(_ setting: Setting, _ seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed + 1))
    let stack = try edited(setting, &random)
    try stack.context.performAndWait {
      let requests = (0..<120).map { _ in
        let condition = Condition.any(&random)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.predicate = NSPredicate(format: condition.format, argumentArray: condition.arguments)
        return request
      }
      let before = try requests.map { Set(try stack.context.fetch($0)) }
      let counts = try requests.map { try stack.context.count(for: $0) }
      try stack.context.save()
      for (index, request) in requests.enumerated() {
        let after = Set(try stack.context.fetch(request))
        let odd = before[index].symmetricDifference(after).map { book in
          ["title", "pages", "copies", "price"].map { book.value(forKey: $0) }
        }
        #expect(odd.isEmpty, "\(request.predicate!)")
        #expect(counts[index] == after.count, "\(request.predicate!)")
      }
    }
  }

  @Test(arguments: [Setting.sqlite, .memory], 0..<4)
  func `unsaved objects are ordered as if they were saved`(_ setting: Setting, _ seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed + 101))
    let stack = try edited(setting, &random, isNumbered: true)
    try stack.context.performAndWait {
      let requests = (0..<40).map { _ in
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.sortDescriptors = (0..<(1 + random.below(3))).map { _ in
          let key = random.one(of: ["title", "pages", "price"])
          // PostgreSQL orders by its own locale rules.
          let isLocalized = key == "title" && random.chance(50) && TestDatabase.server == nil
          let selector = isLocalized ? "localizedStandardCompare:" : nil
          let ascending = random.chance(50)
          return selector.map { NSSortDescriptor(key: key, ascending: ascending, selector: $0) }
            ?? NSSortDescriptor(key: key, ascending: ascending)
        }
        // The last key makes the order total.
        request.sortDescriptors?.append(NSSortDescriptor(key: "copies", ascending: true))
        return request
      }
      let before = try requests.map { try stack.context.fetch($0) }
      try stack.context.save()
      for (index, request) in requests.enumerated() {
        let after = try stack.context.fetch(request)
        #expect(after == before[index], "\(request.sortDescriptors!)")
      }
    }
  }

  @Test(arguments: [Setting.sqlite, .memory, .nestedOverSQLite], 0..<4)
  func `a fetch for one value finds the objects that have it now`(_ setting: Setting, _ seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed + 201))
    let stack = try TestStack(setting)
    try stack.context.performAndWait {
      var names: [NSManagedObject: String] = [:]
      var saved = names
      for step in 0..<400 {
        let name = "n\(random.below(12))"
        let author = random.pick(names.keys.sorted { $0.hash < $1.hash })
        switch random.below(12) {
        case 0..<4:
          let made = stack.context.insert("Author", ["name": name])
          names[made] = name
        case 4..<8:
          guard let author else { continue }
          author.setValue(name, forKey: "name")
          names[author] = name
        case 8:
          guard let author else { continue }
          stack.context.delete(author)
          names[author] = nil
        case 9:
          try stack.context.save()
          saved = names
        case 10 where random.chance(30):
          stack.context.rollback()
          names = saved
        default: break
        }
        let wanted = "n\(random.below(12))"
        let found = try stack.context.all("Author", where: NSPredicate(format: "name == %@", wanted))
        #expect(Set(found) == Set(names.filter { $0.value == wanted }.keys), "step \(step), \(wanted)")
      }
    }
  }
}
