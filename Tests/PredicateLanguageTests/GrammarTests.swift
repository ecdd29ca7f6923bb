import CoreDataPredicateLanguage
import Foundation
import Testing

@Suite struct GrammarTests {
  @Test(
    arguments: [
      ("a = 1", PredicateTree.Comparison.Operator.equal), ("a == 1", .equal), ("a != 1", .notEqual),
      ("a <> 1", .notEqual), ("a < 1", .lessThan), ("a <= 1", .lessThanOrEqual), ("a =< 1", .lessThanOrEqual),
      ("a > 1", .greaterThan), ("a >= 1", .greaterThanOrEqual), ("a => 1", .greaterThanOrEqual),
      ("a in {1}", .in), ("a contains 'x'", .contains), ("a BEGINSWITH 'x'", .beginsWith),
      ("a ENDSWITH 'x'", .endsWith), ("a LIKE 'x'", .like), ("a MATCHES 'x'", .matches),
      ("a BETWEEN {1, 2}", .between),
    ] as [(String, PredicateTree.Comparison.Operator)])
  func `reads every operator`(format: String, op: PredicateTree.Comparison.Operator) throws {
    #expect(try comparison(format)?.op == op)
  }

  @Test(
    arguments: [
      ("a ==[c] 'x'", PredicateTree.Comparison.Options.caseInsensitive),
      ("a CONTAINS[cd] 'x'", [.caseInsensitive, .diacriticInsensitive]),
      ("a CONTAINS [c] 'x'", .caseInsensitive), ("a LIKE[n] 'x'", .normalized),
      ("a ==[l] 'x'", .localeSensitive),
      ("a ==[DC] 'x'", [.caseInsensitive, .diacriticInsensitive]), ("a <[c] 'x'", .caseInsensitive),
    ] as [(String, PredicateTree.Comparison.Options)])
  func `reads string options`(format: String, options: PredicateTree.Comparison.Options) throws {
    #expect(try comparison(format)?.options == options)
  }

  @Test func `chains of one operator are flat`() throws {
    let tree = try parsed("a == 1 AND b == 2 && c == 3")
    guard case .and(let members) = tree else {
      Issue.record("no conjunction: \(tree)")
      return
    }
    #expect(members.count == 3)
  }

  @Test(arguments: [
    ("a == 1 OR b == 2 AND c == 3", "a == 1 OR (b == 2 AND c == 3)"),
    ("NOT a == 1 OR b == 2", "NOT a == 1 OR b == 2"),
    ("NOT a == 1 AND b == 2 OR c == 3", "(NOT a == 1 AND b == 2) OR c == 3"),
    ("! (a == 1 || b == 2) && c == 3", "NOT (a == 1 OR b == 2) AND c == 3"),
    ("not available = true or value >= 1", "NOT available == TRUE OR value >= 1"),
    ("((a == 1))", "a == 1"),
    ("NOT NOT a == 1", "NOT NOT a == 1"),
    ("(a == 1 AND b == 2) AND c == 3", "(a == 1 AND b == 2) AND c == 3"),
  ])
  func `not binds tighter than and than or`(format: String, canonical: String) throws {
    #expect(PredicatePrinter.text(of: try parsed(format)) == canonical)
  }

  @Test(arguments: [
    ("a + b * c == 0", "a + b * c == 0"), ("(a + b) * c == 0", "(a + b) * c == 0"),
    ("a - b - c == 0", "a - b - c == 0"), ("a - (b - c) == 0", "a - (b - c) == 0"),
    ("a ** b ** c == 0", "a ** b ** c == 0"), ("(a ** b) ** c == 0", "(a ** b) ** c == 0"),
    ("-a == 0", "0 - a == 0"), ("-2 ** 2 == 0", "0 - 2 ** 2 == 0"), ("(-2) ** 2 == 0", "(-2) ** 2 == 0"),
    ("a & b | c ^ d == 0", "a & b | c ^ d == 0"), ("(a | b) & c == 0", "(a | b) & c == 0"),
    ("a << 2 + 1 == 0", "a << 2 + 1 == 0"), ("~a & b == 0", "~a & b == 0"),
    ("a UNION b MINUS c == d", "a UNION b MINUS c == d"),
    ("a UNION (b MINUS c) == d", "a UNION (b MINUS c) == d"), ("(a) == (b)", "a == b"),
  ])
  func `arithmetic has the usual precedence`(format: String, canonical: String) throws {
    #expect(PredicatePrinter.text(of: try parsed(format)) == canonical)
  }

  @Test func `any all some none`() throws {
    #expect(try comparison("ANY a.b == 1")?.modifier == .any)
    #expect(try comparison("SOME a.b == 1")?.modifier == .any)
    #expect(try comparison("ALL a.b == 1")?.modifier == .all)
    #expect(try parsed("NONE a.b == 1") == .not(parsed("ANY a.b == 1")))
  }

  @Test func `not in is the negation of in`() throws {
    #expect(try parsed("a NOT IN {1, 2}") == .not(parsed("a IN {1, 2}")))
    #expect(try parsed("a NOT CONTAINS[c] 'x'") == .not(parsed("a CONTAINS[c] 'x'")))
  }

  @Test func `a key alone means true`() throws {
    #expect(try parsed("hidden") == parsed("hidden == YES"))
    #expect(try parsed("NOT hidden AND a == 1") == parsed("NOT hidden == TRUE AND a == 1"))
  }

  @Test(
    arguments: [
      ("'x'", PredicateValue.string("x")), ("\"x\"", "x"), ("'it''s'", nil), ("\"a \\\"b\\\"\"", "a \"b\""),
      ("'a\\n\\tb'", "a\n\tb"), ("'\\\\'", "\\"), ("'\\u00e9'", "é"), ("'\\U0001F600'", "😀"),
      ("'\\d+\\.'", "\\d+\\."),
      ("'%@ $x %K'", "%@ $x %K"), ("12", 12), ("-12", -12), ("1.5", 1.5), (".5", 0.5), ("1e3", 1000.0),
      ("2.5E-1", 0.25),
      ("0x1F", 31), ("0b101", 5), ("0o17", 15), ("9223372036854775807", 9_223_372_036_854_775_807),
      ("TRUE", true), ("yes", true), ("False", false), ("NO", false), ("nil", .null), ("NULL", .null),
      ("{}", []), ("{1, 'a'}", [1, "a"]), ("{{1}, {}}", [[1], []]), ("{'a': 1, 'b': 2}", ["a": 1, "b": 2]),
      ("{:}", [:]),
      ("CAST(60, 'NSDate')", .date(60)), ("CAST('12.50', 'NSDecimalNumber')", .decimal(12.5)),
    ] as [(String, PredicateValue?)])
  func `literals`(text: String, value: PredicateValue?) throws {
    guard let value else {
      #expect(throws: PredicateFormatError.self) { try expression(text) }
      return
    }
    #expect(try expression(text) == .constant(value))
  }

  @Test func `a whole number beyond 64 bits is a decimal`() throws {
    #expect(try expression("-9223372036854775808") == .constant(.int(.min)))
    let large = try #require(Decimal(string: "18446744073709551616"))
    #expect(try expression("18446744073709551616") == .constant(.decimal(large)))
  }

  @Test(
    arguments: [
      ("a", ExpressionTree.keyPath(["a"])), ("a.b.c", .keyPath(["a", "b", "c"])),
      ("a.@count", .keyPath(["a", "@count"])),
      ("a.@sum.b", .keyPath(["a", "@sum", "b"])), ("SELF", .evaluatedObject), ("SELF.a", .keyPath(["a"])),
      ("self.@count", .keyPath(["@count"])), ("#size", .keyPath(["size"])),
      ("a.size.first", .keyPath(["a", "size", "first"])),
      ("#\"two words\".b", .keyPath(["two words", "b"])), ("größe.名前", .keyPath(["größe", "名前"])),
      ("size", .keyPath(["size"])), ("$x", .variable("x")),
      ("$x.a.b", .keyPathOf(.variable("x"), ["a", "b"])),
      ("ANYKEY", .anyKey), ("now()", .function(.now, [])), ("$x := 3", .assignment("x", .constant(3))),
      ("a[0]", .function(.element, [.keyPath(["a"]), .constant(0)])),
      ("a[FIRST]", .function(.element, [.keyPath(["a"]), .function(.first, [])])),
      ("a['k'].b", .keyPathOf(.function(.element, [.keyPath(["a"]), .constant("k")]), ["b"])),
      ("lowercase(a)", .function(.lowercase, [.keyPath(["a"])])),
      ("SUM({a, 2})", .function(.sum, [.aggregate([.keyPath(["a"]), .constant(2)])])),
      ("modulus:by:(a, 2)", .function(.modulus, [.keyPath(["a"]), .constant(2)])),
      ("CAST(a, 'NSString')", .function(.cast, [.keyPath(["a"]), .constant("NSString")])),
      ("FUNCTION(a, 'b:', 1)", .customFunction(.keyPath(["a"]), "b:", [.constant(1)])),
      ("FUNCTION(a, 'b')", .customFunction(.keyPath(["a"]), "b", [])),
      ("FETCH($r, $c, NO)", .function(.fetch, [.variable("r"), .variable("c"), .constant(false)])),
      ("a INTERSECT {1}", .set(.intersect, .keyPath(["a"]), .constant([1]))),
    ] as [(String, ExpressionTree)])
  func expressions(text: String, tree: ExpressionTree) throws {
    #expect(try expression(text) == tree)
  }

  @Test func `subqueries hold a variable and a predicate`() throws {
    let tree = try expression("SUBQUERY(books, $b, $b.year > 1900 AND $b.sold).@count")
    let predicate = try parsed("$b.year > 1900 AND $b.sold == TRUE")
    #expect(tree == .keyPathOf(.subquery(.keyPath(["books"]), variable: "b", predicate), ["@count"]))
  }

  @Test func `conditionals hold a predicate`() throws {
    let tree = try expression("TERNARY(a > 1 OR b, 'x', 'y')")
    #expect(tree == .conditional(try parsed("a > 1 OR b == TRUE"), .constant("x"), .constant("y")))
  }

  @Test func `mapping model expressions are understood`() throws {
    let text = """
      FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:" , "A", $source.b)
      """
    guard case .customFunction(.variable("manager"), _, let arguments) = try expression(text) else {
      Issue.record("no custom function")
      return
    }
    #expect(arguments == [.constant("A"), .keyPathOf(.variable("source"), ["b"])])
    _ = try expression(
      """
      FETCH(FUNCTION($manager, "fetchRequestForSourceEntityNamed:predicateString:" , "A", "TRUEPREDICATE"), \
      $manager.sourceContext, NO)
      """)
  }

  @Test func `selectors and uniform types compare`() throws {
    #expect(try comparison("a isSimilarTo: 'b'")?.selector == "isSimilarTo:")
    #expect(try comparison("type UTI-EQUALS 'public.text'")?.selector == "UTI-EQUALS")
    #expect(try comparison("type UTI-CONFORMS-TO 'public.text'")?.op == .customSelector)
  }

  @Test func `keywords have no case`() throws {
    #expect(
      try parsed("any a.b Contains[C] 'x' And not B == nIL")
        == parsed("ANY a.b CONTAINS[c] 'x' AND NOT B == NIL"))
    #expect(try parsed("truePredicate") == .constant(true))
    #expect(try parsed("FALSEPREDICATE") == .constant(false))
  }

  @Test func `space of any kind separates`() throws {
    #expect(try parsed("\n a\t==\u{A0}1\r\n") == parsed("a==1"))
  }
}
