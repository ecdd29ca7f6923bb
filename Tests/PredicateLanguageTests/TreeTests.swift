import CoreDataPredicateLanguage
import Foundation
import Testing

@Suite struct TreeTests {
  @Test func `both branches of a condition are a part of the tree`() throws {
    let tree = try parsed("TERNARY(kind == $k, first.price + $a, last.count - $b) > 1")
    #expect(tree.freeVariables == ["k", "a", "b"])
    var paths: [String] = []
    tree.forEachExpression { if case .keyPath(let path) = $0 { paths.append(path.joined(separator: ".")) } }
    #expect(paths.sorted() == ["first.price", "kind", "last.count"])
  }

  @Test func `substitution replaces free variables only`() throws {
    let tree = try parsed("a == $x AND SUBQUERY(b, $x, $x.c == $y).@count == $x")
    let expected = try parsed("a == 1 AND SUBQUERY(b, $x, $x.c == d).@count == 1")
    #expect(tree.substituting(["x": .constant(1), "y": .keyPath(["d"]), "z": .constant(9)]) == expected)
    #expect(tree.freeVariables == ["x", "y"])
    #expect(expected.freeVariables.isEmpty)
  }

  @Test func `an object is equal however it was given`() {
    let object = NSString("text")
    let (given, hashed) = (PredicateObject(reference: object), PredicateObject(AnyHashable(object)))
    #expect(given == hashed)
    #expect(given.hashValue == hashed.hashValue)
    #expect(given == PredicateObject(reference: NSString("text")))
    #expect(given != PredicateObject(reference: NSString("other")))
    #expect(given.wrapped as? NSString === object)
  }

  @Test func `constants come from left to right`() throws {
    let tree = try parsed("a == 1 AND (b IN {2, 3} OR NOT c == 'x') AND sum({d, 4}) == nil")
    #expect(tree.constants == [1, [2, 3], "x", 4, nil])
  }

  @Test func `constants can be mapped`() throws {
    let tree = try parsed("a == 1 AND SUBQUERY(b, $x, $x.c == 2).@count == 3")
    let doubled = tree.mapConstants { value in
      guard case .int(let number) = value else { return value }
      return .int(number * 2)
    }
    #expect(doubled == (try parsed("a == 2 AND SUBQUERY(b, $x, $x.c == 4).@count == 6")))
  }

  @Test func `rewriting what is not there answers nothing`() throws {
    #expect(
      try parsed("a == 1 AND b == 2").rewritten { (_: ExpressionTree) -> ExpressionTree? in nil } == nil)
  }

  @Test func `every predicate is visited`() throws {
    var count = 0
    try parsed("a == 1 AND SUBQUERY(b, $x, $x.c == 2 OR $x.d == 3).@count == 0").forEachPredicate { _ in
      count += 1
    }
    #expect(count == 6)
  }

  private func _shape(_ format: String, _ arguments: PredicateValue...) throws -> PredicateShape {
    PredicateShape.taking(try PredicateTemplate.cached(format).predicate(arguments.map { .value($0) })).shape
  }

  @Test func `shapes forget the values of constants`() throws {
    #expect(try _shape("a == 1 AND b IN {'x', 'y'}") == _shape("a == 2 AND b IN {'p', 'q'}"))
    #expect(try _shape("a == %@", .date(1)) == _shape("a == %@", .date(2)))
    #expect(try _shape("a == 1").hashValue == _shape("a == 5").hashValue)
  }

  @Test(arguments: [
    ("a == 1", "a == nil"), ("a == 1", "a == 'x'"), ("a == 1", "b == 1"), ("a == 1", "a != 1"),
    ("a == 'x'", "a ==[c] 'x'"),
    ("a IN {1}", "a IN {1, 2}"), ("a IN {1, 2}", "a IN {1, nil}"), ("a IN {1, 2}", "a IN {1, 2, 3}"),
    ("a == 'x'", "a == ''"), ("a == 1", "ANY a == 1"),
    ("a == 1 AND b == 1", "a == 1 OR b == 1"), ("a.b == 1", "ab == 1"), ("a.b == 1", "a == b"),
    ("a == $x", "a == $y"),
    ("a == 1", "NOT a == 1"), ("a + 1 == 1", "a - 1 == 1"),
    ("CAST(a, 'NSString') == 1", "CAST(a, 'NSNumber') == 1"),
    ("a UNION b == c", "a MINUS b == c"), ("TRUEPREDICATE", "FALSEPREDICATE"), ("a like: 1", "a unlike: 1"),
  ])
  func `shapes tell what changes the query`(left: String, right: String) throws {
    #expect(try _shape(left) != _shape(right))
  }

  @Test func `long collections have one shape whatever their length`() throws {
    #expect(try _shape("a IN {1, 2, 3}") == _shape("a IN {'x', 2, 3, nil, 5}"))
  }

  @Test func `a shape comes with its constants`() throws {
    let tree = try parsed("a == 1 AND b IN {2, 3} AND CAST(c, 'NSString') == nil")
    #expect(PredicateShape.taking(tree).constants == tree.constants)
  }

  @Test func `tags tell objects apart`() throws {
    let (one, two) = (
      PredicateValue.object(.init(AnyHashable(1))), PredicateValue.object(.init(AnyHashable(2)))
    )
    let (first, second) = (try parsed("a == %@", one), try parsed("a == %@", two))
    #expect(PredicateShape.taking(first).shape == PredicateShape.taking(second).shape)
    let tag: PredicateShape.Tag = { UInt32($0.base.base as? Int ?? 0) }
    #expect(PredicateShape.taking(first, tag: tag).shape != PredicateShape.taking(second, tag: tag).shape)
  }
}
