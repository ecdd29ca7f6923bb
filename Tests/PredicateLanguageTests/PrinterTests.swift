import CoreDataPredicateLanguage
import Foundation
import TestSupport
import Testing

@Suite struct PrinterTests {
  @Test(arguments: [
    "a == 1", "a != \"x\"", "a <[c] b", "a IN {1, 2, 3}", "a BETWEEN {1, 10}", "ANY a.b CONTAINS[cd] \"x\"",
    "ALL a.b >= 2.5", "NOT ANY a.b == nil", "a LIKE[n] \"*x?\"", "a MATCHES \"\\\\d+\"",
    "a == TRUE OR b == FALSE",
    "(a == 1 AND b == 2) OR NOT (c == 3 OR d == 4)", "SELF == $x", "SELF IN $list", "a.@count == 0",
    "SUBQUERY(a, $x, $x.b == 1 AND $x.c == $y).@count > 2", "TERNARY(a == 1, b, c) == 2",
    "CAST(a, \"NSString\") LIKE \"1*\"", "CAST(60.0, \"NSDate\") < born",
    "a == CAST(\"1.25\", \"NSDecimalNumber\")",
    "a == 3F2504E0-4F89-41D3-9A0C-0305E82C3301", "a == CAST(\"AQID\", \"NSData\")",
    "a == CAST(\"http://example.com/?a=b\", \"NSURL\")", "a == CAST(\"inf\", \"NSNumber\")",
    "FUNCTION(a, \"b:c:\", 1, d) == 2", "a[0].b == c[FIRST]", "a[LAST] == b[SIZE]", "a[\"k\"] == 1",
    "$x.a[b + 1] == 2",
    "#size == 1", "#\"odd key\" == 1", "a.#and.b == 1", "now() > a", "lowercase(a) == \"x\"",
    "noindex(a) == 1",
    "modulus:by:(a, 2) == 1", "sum({1, a}) == 2", "random() < randomn(10)", "a + b - (c - d) == -5",
    "(a + 1) * -2 == (-3) ** 2", "2 ** (a ** b) ** 3 == 1", "~a & b | c << 2 == 3", "~(a + b) == 1",
    "a UNION b INTERSECT {1} == c",
    "($x := 3) + $x == 6", "ANYKEY == 1", "{a, 1} == b", "{} == a", "a == {:}",
    "a == {\"k\": {1}, \"l\": nil}",
    "TRUEPREDICATE", "FALSEPREDICATE OR a == 1", "a isLike: \"x\"", "a UTI-EQUALS \"y\"",
    "\"a\\\"b\\\\\\n\\t\\u0001é\" == a",
    "FETCH($r, $c, FALSE) == 1", "distanceToLocation:fromLocation:(a, b) < 10.5", "(1).a == 2", "a == 1e+300",
  ])
  func `the canonical form is a fixed point`(text: String) throws {
    let tree = try parsed(text)
    #expect(
      PredicatePrinter.text(of: tree).replacing("a.and.b", with: "a.#and.b") == text || text.contains("**"))
    #expect(try parsed(PredicatePrinter.text(of: tree)) == tree)
  }

  @Test func `empty compounds print what they mean`() {
    #expect(PredicatePrinter.text(of: .and([])) == "TRUEPREDICATE")
    #expect(PredicatePrinter.text(of: .or([])) == "FALSEPREDICATE")
  }

  @Test func `random trees survive the round trip`() throws {
    var generator = SeededRandom(seed: 42)
    for _ in 0..<3000 {
      let tree = RandomTree.predicate(depth: 4, &generator)
      let text = PredicatePrinter.text(of: tree)
      #expect(try PredicateTemplate(parsing: text).predicate() == tree, "\(text)")
    }
  }

  @Test func `mutilated texts never trap`() throws {
    var generator = SeededRandom(seed: 7)
    for _ in 0..<3000 {
      var text = Array(PredicatePrinter.text(of: RandomTree.predicate(depth: 3, &generator)).unicodeScalars)
      for _ in 0..<Int.random(in: 1...4, using: &generator) where !text.isEmpty {
        let index = Int.random(in: 0..<text.count, using: &generator)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: text.remove(at: index)
        case 1:
          text.insert(
            "()[]{}'\"%$@#.,:=<>!&|*-\u{301}é".unicodeScalars.randomElement(using: &generator) ?? "(",
            at: index)
        default: text.swapAt(index, Int.random(in: 0..<text.count, using: &generator))
        }
      }
      var format = ""
      format.unicodeScalars.append(contentsOf: text)
      if let error = failure(of: format) {
        #expect(error.offset <= format.utf8.count)
        #expect(!error.description.isEmpty)
      }
    }
  }
}

/// Random trees of the forms that parsing can produce.
enum RandomTree {
  static func predicate(depth: Int, _ g: inout SeededRandom) -> PredicateTree {
    switch Int.random(in: 0..<(depth > 0 ? 8 : 4), using: &g) {
    case 0: return .constant(Bool.random(using: &g))
    case 5: return .not(predicate(depth: depth - 1, &g))
    case 6: return .and((0..<Int.random(in: 2...4, using: &g)).map { _ in predicate(depth: depth - 1, &g) })
    case 7: return .or((0..<Int.random(in: 2...4, using: &g)).map { _ in predicate(depth: depth - 1, &g) })
    default:
      let operators: [PredicateTree.Comparison.Operator] = [
        .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual, .equal, .notEqual, .matches, .like,
        .beginsWith, .endsWith, .in, .contains, .between,
      ]
      return .comparison(
        .init(
          expression(depth: depth - 1, &g), operators.randomElement(using: &g) ?? .equal,
          expression(depth: depth - 1, &g),
          modifier: [.direct, .any, .all].randomElement(using: &g) ?? .direct,
          options: .init(rawValue: UInt.random(in: 0..<16, using: &g))))
    }
  }

  static func expression(depth: Int, _ g: inout SeededRandom) -> ExpressionTree {
    let names = ["a", "name", "size", "and", "odd key", "@count", "größe", "x1"]
    func path(_ g: inout SeededRandom) -> [String] {
      (0..<Int.random(in: 1...3, using: &g)).map { _ in names.randomElement(using: &g) ?? "a" }
    }
    switch Int.random(in: 0..<(depth > 0 ? 16 : 6), using: &g) {
    case 0, 1: return .constant(value(&g))
    case 2: return .evaluatedObject
    case 3: return .variable(["x", "y", "FETCH_SOURCE"].randomElement(using: &g) ?? "x")
    case 4, 5: return .keyPath(path(&g))
    case 6: return .keyPathOf(.variable("x"), path(&g))
    case 7:
      let function =
        PredicateFunction.allCases.filter { $0.arity == 2...2 && $0 != .cast && $0 != .distance }
        .randomElement(using: &g) ?? .add
      return .function(function, [expression(depth: depth - 1, &g), expression(depth: depth - 1, &g)])
    case 8:
      let function: PredicateFunction =
        [.absolute, .lowercase, .onesComplement, .unindexed, .sum].randomElement(using: &g) ?? .absolute
      return .function(function, [expression(depth: depth - 1, &g)])
    case 9: return .customFunction(expression(depth: depth - 1, &g), "a:", [expression(depth: depth - 1, &g)])
    case 10:
      return .subquery(expression(depth: depth - 1, &g), variable: "x", predicate(depth: depth - 1, &g))
    case 11: return .aggregate([expression(depth: depth - 1, &g), .keyPath(["a"])])
    case 12:
      let op: ExpressionTree.SetOperator = [.union, .intersect, .minus].randomElement(using: &g) ?? .union
      return .set(op, expression(depth: depth - 1, &g), expression(depth: depth - 1, &g))
    case 13:
      return .conditional(
        predicate(depth: depth - 1, &g), expression(depth: depth - 1, &g), expression(depth: depth - 1, &g))
    case 14: return .assignment("x", expression(depth: depth - 1, &g))
    default:
      return .function(.element, [expression(depth: depth - 1, &g), .function(.last, [])])
    }
  }

  static func value(_ g: inout SeededRandom) -> PredicateValue {
    switch Int.random(in: 0..<10, using: &g) {
    case 0: .null
    case 1: .bool(Bool.random(using: &g))
    case 2: .int(Int64.random(in: -5...5, using: &g))
    case 3: .double(Double.random(in: -1e6...1e6, using: &g))
    case 4: .decimal(Decimal(Int.random(in: -9999...9999, using: &g)) / 100)
    case 5: .string(["", "x", "it's \"so\"", "\\", "a\nb\u{1}", "é😀"].randomElement(using: &g) ?? "")
    case 6: .date(Double.random(in: -1e9...1e9, using: &g))
    case 7: .data(Data([1, 2, UInt8.random(in: 0...255, using: &g)]))
    case 8: .collection([.int(1), .string("a"), .null])
    default: .dictionary(["k": .int(1), "odd \"key\"": .collection([])])
    }
  }
}
