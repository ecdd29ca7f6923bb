import Foundation
import Testing

@testable import CoreData

import class CoreData.NSComparisonPredicate
import class CoreData.NSExpression

/// Fetches with generated predicates of extreme size, in SQL and in memory.
@Suite struct LargePredicateTests {
  private func _stack(_ setting: Setting) throws -> TestStack {
    let stack = try TestStack(setting)
    stack.context.performAndWait {
      for (name, age) in [("Ada", 36), ("Bob", 17), ("Cyd", 52)] {
        stack.context.insert("Author", ["name": name, "age": age])
      }
    }
    try stack.save()
    return stack
  }

  private func _names(_ stack: TestStack, _ predicate: NSPredicate) throws -> [String?] {
    try stack.context.performAndWait {
      stack.context.reset()
      return try stack.context.all("Author", by: "name", where: predicate).map { $0.text("name") }
    }
  }

  @Test(arguments: Setting.direct) func `OR of forty thousand comparisons of one key`(_ setting: Setting)
    throws
  {
    let stack = try _stack(setting)
    let predicate = NSCompoundPredicate(
      orPredicateWithSubpredicates: (0..<40_000).map { NSPredicate(format: "age == %d", $0 + 30) })
    try #expect(_names(stack, predicate) == ["Ada", "Cyd"])
  }

  @Test(arguments: Setting.direct) func `OR of four thousand conditions of several kinds`(_ setting: Setting)
    throws
  {
    let stack = try _stack(setting)
    let predicate = NSCompoundPredicate(
      orPredicateWithSubpredicates: (0..<4_000).map { number in
        switch number % 4 {
        case 0: NSPredicate(format: "name == %@", "name \(number)")
        case 1: NSPredicate(format: "age == %d", number + 1000)
        case 2: NSPredicate(format: "age > %d AND name BEGINSWITH 'B'", number)
        default: NSPredicate(format: "name == nil")
        }
      })
    try #expect(_names(stack, predicate) == ["Bob"])
  }

  @Test(arguments: Setting.direct) func `A chain of OR forty thousand levels deep`(_ setting: Setting) throws
  {
    let stack = try _stack(setting)
    let predicate = (0..<40_000).reduce(NSPredicate(value: false)) { rest, number in
      NSCompoundPredicate(orPredicateWithSubpredicates: [rest, NSPredicate(format: "age == %d", number + 30)])
    }
    try #expect(_names(stack, predicate) == ["Ada", "Cyd"])
  }

  @Test(.ofFiles) func `Equality with many constants asks SQLite for one list`() throws {
    let stack = try _stack(.sqlite)
    let predicate = NSCompoundPredicate(
      orPredicateWithSubpredicates: (0..<100).map { NSPredicate(format: "age == %d", $0) }
        + [NSPredicate(format: "name == 'Cyd'"), NSPredicate(format: "age == nil")])
    let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
    request.predicate = predicate
    let statements = try stack.context.performAndWait { try stack.context.sqlStatements(for: request) }
    #expect(statements.contains { $0.sql.contains("ZAGE IN (SELECT value FROM Z_VALUES(?))") })
    try #expect(_names(stack, predicate) == ["Ada", "Bob", "Cyd"])
  }

  @Test(arguments: Setting.direct) func `NOT a hundred and fifty times`(_ setting: Setting) throws {
    let stack = try _stack(setting)
    let text = String(repeating: "NOT ", count: 150) + "age > 20"
    try #expect(_names(stack, NSPredicate(format: text)) == ["Ada", "Cyd"])
    try #expect(_names(stack, NSPredicate(format: "NOT \(text)")) == ["Bob"])
  }

  @Test(arguments: Setting.direct) func `A sum of a hundred and fifty, from either end`(_ setting: Setting)
    throws
  {
    let stack = try _stack(setting)
    let left = "age" + String(repeating: " + 1", count: 150)
    try #expect(_names(stack, NSPredicate(format: "\(left) > 185")) == ["Ada", "Cyd"])
    let right = (0..<150).reduce(NSExpression(forKeyPath: "age")) { sum, _ in
      NSExpression(forFunction: "add:to:", arguments: [NSExpression(forConstantValue: 1), sum])
    }
    try #expect(_names(stack, NSPredicate(format: "%@ > 185", right)) == ["Ada", "Cyd"])
    let product = String(repeating: "2 * (", count: 20) + "age" + String(repeating: ")", count: 20)
    try #expect(_names(stack, NSPredicate(format: "\(product) > 18000000")) == ["Ada", "Cyd"])
  }

  @Test(.ofFiles) func `What SQLite's parser cannot take is an error that says so`() throws {
    let stack = try _stack(.sqlite)
    let text = String(repeating: "2 - (", count: 90) + "age" + String(repeating: ")", count: 90)
    let error = #expect(throws: CocoaError.self) { try _names(stack, NSPredicate(format: "\(text) > 20")) }
    let reason = "\(error?.userInfo ?? [:])"
    #expect(reason.contains("nests deeper"))
    try #expect(_names(_stack(.memory), NSPredicate(format: "\(text) > 20")) == ["Ada", "Cyd"])
  }

  @Test(arguments: Setting.direct) func `An expression beyond the bound is an error of the fetch`(
    _ setting: Setting
  ) throws {
    let stack = try _stack(setting)
    let one = NSExpression(forConstantValue: 1)
    let sum = (0..<40_000).reduce(NSExpression(forKeyPath: "age")) { sum, _ in
      NSExpression(forFunction: "add:to:", arguments: [one, sum])
    }
    let predicate = NSComparisonPredicate(
      leftExpression: sum, rightExpression: one, modifier: .direct, type: .greaterThan)
    #expect(throws: (any Error).self) { try _names(stack, predicate) }
  }

  @Test(.ofFiles, arguments: Setting.direct) func `LIKE with two million characters`(_ setting: Setting)
    throws
  {
    let stack = try _stack(setting)
    let long = String(repeating: "a", count: 2_000_000)
    try #expect(_names(stack, NSPredicate(format: "name LIKE %@", long)) == [])
    try #expect(
      _names(stack, NSPredicate(format: "name LIKE %@", String(repeating: "*", count: 2_000_000)))
        == ["Ada", "Bob", "Cyd"])
    try #expect(_names(stack, NSPredicate(format: "name LIKE[cd] %@", "*" + long)) == [])
  }

  @Test(arguments: Setting.direct) func `LIKE that takes too many steps is an error`(_ setting: Setting)
    throws
  {
    let stack = try _stack(setting)
    stack.context.performAndWait {
      _ = stack.context.insert("Author", ["name": String(repeating: "a", count: 200_000)])
    }
    try stack.save()
    let pattern = "*" + String(repeating: "a", count: 100_000) + "b*"
    #expect(throws: (any Error).self) { try _names(stack, NSPredicate(format: "name LIKE %@", pattern)) }
  }

  @Test(.ofFiles, arguments: Setting.direct, ["(a|b)*", "(a+)+b"])
  func `MATCHES that ICU gives up on is an error`(_ setting: Setting, _ pattern: String) throws {
    let stack = try _stack(setting)
    stack.context.performAndWait {
      _ = stack.context.insert("Author", ["name": String(repeating: "a", count: 4_000_000)])
    }
    try stack.save()
    #expect(throws: (any Error).self) {
      try _names(stack, NSPredicate(format: "name MATCHES %@", pattern))
    }
  }
}
