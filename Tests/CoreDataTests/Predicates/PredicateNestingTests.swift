import Foundation
import Testing

@testable import CoreData

import class CoreData.NSComparisonPredicate
import class CoreData.NSExpression

/// Predicates and expressions nested without limit in code yield a result or an error, and never a crash.
@Suite struct PredicateNestingTests {
  private static let depth = 40_000

  private func _deep(_ wrap: (NSPredicate) -> NSPredicate, from core: NSPredicate) -> NSPredicate {
    (0..<Self.depth).reduce(core) { predicate, _ in wrap(predicate) }
  }

  private var _core: NSPredicate { NSPredicate(format: "age == 1") }

  @Test func `NOT around NOT forty thousand times has an answer`() throws {
    let predicate = _deep({ NSCompoundPredicate(notPredicateWithSubpredicate: $0) }, from: _core)
    try #expect(predicate.matches(["age": 1]))
    #expect(predicate.canonicalFormat == "age == 1")
    #expect(NSCompoundPredicate(notPredicateWithSubpredicate: predicate).canonicalFormat == "NOT age == 1")
  }

  @Test func `AND within AND forty thousand times has an answer`() throws {
    let other = NSPredicate(format: "age > 0")
    let predicate = _deep({ NSCompoundPredicate(andPredicateWithSubpredicates: [$0, other]) }, from: _core)
    try #expect(predicate.matches(["age": 1]))
    try #expect(!predicate.matches(["age": 2]))
    #expect(predicate == predicate)
  }

  @Test func `AND within OR forty thousand times is an error`() throws {
    var isAnd = false
    let predicate = _deep(
      {
        isAnd.toggle()
        return isAnd
          ? NSCompoundPredicate(andPredicateWithSubpredicates: [$0, _core])
          : NSCompoundPredicate(orPredicateWithSubpredicates: [$0, _core])
      }, from: _core)
    let error = #expect(throws: NSPredicate.EvaluationError.self) { try predicate.matches(["age": 1]) }
    #expect(error?.description.contains("deeper than 500 levels") == true)
  }

  @Test func `Compounds that share members throw instead of hanging`() {
    let predicate = (0..<64).reduce(_core) { predicate, _ in
      NSCompoundPredicate(andPredicateWithSubpredicates: [
        predicate, NSCompoundPredicate(orPredicateWithSubpredicates: [predicate, predicate]),
      ])
    }
    #expect(throws: NSPredicate.EvaluationError.self) { try predicate.matches(["age": 1]) }
  }

  @Test func `A nested compound within the bound keeps its form`() {
    let inner = NSCompoundPredicate(andPredicateWithSubpredicates: [_core, NSPredicate(format: "b == 2")])
    let outer = NSCompoundPredicate(andPredicateWithSubpredicates: [inner, NSPredicate(format: "c == 3")])
    #expect(outer.canonicalFormat == "(age == 1 AND b == 2) AND c == 3")
  }

  @Test func `A sum nested beyond the bound is an error`() throws {
    let one = NSExpression(forConstantValue: 1)
    let sum = (0..<Self.depth).reduce(one) { sum, _ in
      NSExpression(forFunction: "add:to:", arguments: [one, sum])
    }
    #expect(throws: NSPredicate.EvaluationError.self) { try sum.evaluated(with: nil) }
    #expect(sum == sum.copy() as? NSExpression)
    _ = sum.hash
    #expect(!sum.description.isEmpty)
    let comparison = NSComparisonPredicate(
      leftExpression: sum, rightExpression: one, modifier: .direct, type: .greaterThan)
    #expect(throws: NSPredicate.EvaluationError.self) { try comparison.matches(nil) }
  }

  @Test func `An expression that doubles sixty times is an error`() {
    let doubled = (0..<60).reduce(NSExpression(forConstantValue: 1)) { sum, _ in
      NSExpression(forFunction: "add:to:", arguments: [sum, sum])
    }
    #expect(throws: NSPredicate.EvaluationError.self) { try doubled.evaluated(with: nil) }
  }

  @Test func `Four hundred levels have an answer`() throws {
    let one = NSExpression(forConstantValue: 1)
    let sum = (0..<400).reduce(one) { sum, _ in NSExpression(forFunction: "add:to:", arguments: [one, sum]) }
    try #expect(sum.evaluated(with: nil) as? Int == 401)
    #expect(sum.description.count > 400)
    #expect(sum.hash == NSExpression(format: "%@", sum).hash)
  }

  @Test func `Subqueries nested beyond the bound are an error`() {
    let members = NSExpression(forKeyPath: "books")
    let predicate = (0..<2_000).reduce(_core) { predicate, _ in
      NSComparisonPredicate(
        leftExpression: NSExpression(
          forFunction: "count:",
          arguments: [NSExpression(forSubquery: members, usingIteratorVariable: "x", predicate: predicate)]),
        rightExpression: NSExpression(forConstantValue: 0), modifier: .direct, type: .greaterThan)
    }
    #expect(throws: NSPredicate.EvaluationError.self) { try predicate.matches(["books": [["books": []]]]) }
  }
}
