import CoreDataPredicateLanguage
import Foundation
import Testing

@Suite struct FormatErrorTests {
  @Test(arguments: [
    ("", 0), ("   ", 3), ("a ==", 4), ("a == ", 5), ("== 1", 0), ("a == 1 AND", 10), ("a = 1 b = 2", 6),
    ("(a == 1", 7),
    ("a == 1)", 6), ("a IN {1, 2", 10), ("a == 'abc", 5), ("a == 3x", 5), ("a == ?", 5), ("a ==[x] 'b'", 5),
    ("a ==[] 'b'", 5),
    ("a. == 1", 3), ("a == #", 5), ("a == @", 5), ("a == $", 5), ("foo(a) == 1", 0), ("sum() == 1", 0),
    ("now(1) == 1", 0),
    ("AND == 1", 0), ("a == in", 5), ("'x'", 3), ("1 + 2", 5), ("a NOT b", 6), ("a == (b == 1)", 5),
    ("SUBQUERY(a, b, c)", 12),
    ("CAST(1, 'Foo') == 1", 8), ("a == %z", 5), ("a == %5d", 5), ("a %% 2 == 0", 2), ("a == 0x", 5),
    ("a == 1e999", 5), ("FUNCTION(a, b)", 12), ("a == {'k': b}", 11), ("a == 'x\\u12'", 7), ("a == “x”", 5),
    ("a[0 == 1", 4), ("ANY (a == 1)", 12), ("a := 3", 2), ("a == #''", 5),
  ])
  func `the error points at the trouble`(format: String, offset: Int) {
    #expect(failure(of: format)?.offset == offset, "\(failure(of: format)?.description ?? "understood")")
  }

  @Test func `the message shows text caret and expectation`() {
    #expect(
      failure(of: "name == AND age > 3")?.description == """
        Unable to parse the format string: found the reserved word “AND”; expected an expression (a key of \
        that name is written #AND).
          name == AND age > 3
                  ^
        """)
  }

  @Test func `the caret counts characters and lines`() {
    #expect(failure(of: "größe == 1 AND\nname ==")?.caretRendering == "name ==\n       ^")
    #expect(failure(of: "größe ==")?.caretRendering == "größe ==\n        ^")
  }

  @Test func `a long format is shown in part`() throws {
    let long = String(repeating: "a == 1 AND ", count: 50) + "?" + String(repeating: " OR b == 2", count: 50)
    let lines = try #require(failure(of: long)?.caretRendering.split(separator: "\n"))
    #expect(lines[0].count <= 101)
    #expect(lines[0].prefix(lines[1].count).last == "?")
  }

  @Test func `nesting is bounded`() throws {
    for (open, close) in [
      ("(", ")"), ("{", "}"), ("NOT ", ""), ("-", ""), ("~", ""), ("abs(", ")"), ("a[", "]"),
    ] {
      let deep = String(repeating: open, count: 100_000) + "1" + String(repeating: close, count: 100_000)
      #expect(failure(of: deep + " == 1")?.problem.contains("deeper") == true, "\(open)")
    }
    #expect(
      failure(of: "a == 1" + String(repeating: " + 1", count: 10_000))?.problem.contains("deeper") == true)
    #expect(
      failure(of: "a" + String(repeating: "[0]", count: 10_000) + " == 1")?.problem.contains("deeper") == true
    )
    _ = try parsed(String(repeating: "(", count: 150) + "a == 1" + String(repeating: ")", count: 150))
    _ = try parsed("a == 1" + String(repeating: " AND a == 1", count: 5_000))
  }

  @Test func `a missing argument is named`() {
    let error = failure(of: "a == %@ AND b == %@", 1)
    #expect(error?.offset == 17)
    #expect(error?.problem == "argument 2 is missing: 1 argument was given")
  }

  @Test(arguments: [
    ("%K == 1", PredicateValue.int(3), "argument 1 should be a key path as a string here, and is a number"),
    ("a == %d", "x", "argument 1 should be a whole number here, and is a string"),
    ("a == %f", "x", "argument 1 should be a number here, and is a string"),
    ("a == %s", 1, "argument 1 should be a string here, and is a number"),
    ("%K == 1", "a..b", "argument 1, “a..b”, is not a key path"),
    ("%K == 1", "", "argument 1, “”, is not a key path"),
  ])
  func `an argument of the wrong kind is named`(format: String, argument: PredicateValue, problem: String) {
    #expect(failure(of: format, argument)?.problem == problem)
  }
}
