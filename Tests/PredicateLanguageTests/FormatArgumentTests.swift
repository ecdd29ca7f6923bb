import Foundation
import Testing

@testable import CoreDataPredicateLanguage

@Suite struct FormatArgumentTests {
  @Test(arguments: [
    "%d", "%i", "%u", "%ld", "%lu", "%lld", "%llu", "%hd", "%hhd", "%x", "%X", "%zd", "%qi", "%D",
  ])
  func `whole numbers`(specifier: String) throws {
    #expect(try parsed("a == \(specifier)", 7) == parsed("a == 7"))
  }

  @Test(arguments: ["%f", "%lf", "%e", "%g", "%a", "%la", "%F", "%Lf"])
  func `floating point numbers`(specifier: String) throws {
    #expect(try parsed("a == \(specifier)", 7) == parsed("a == 7.0"))
  }

  @Test func `numbers of any width keep all their digits`() throws {
    #expect(try parsed("a == %d", .int(.max)) == parsed("a == 9223372036854775807"))
  }

  @Test func `objects take any value`() throws {
    let values: [PredicateValue] = ["x", 1, 1.5, true, .null, [1, 2], .date(3), .uuid(UUID()), ["a": 1]]
    for value in values {
      #expect(try comparison("a == %@", value)?.right == .constant(value))
    }
  }

  @Test func `text and characters`() throws {
    #expect(try parsed("a == %s", "x") == parsed("a == 'x'"))
    #expect(try parsed("a == %c", 65) == parsed("a == 65"))
    #expect(try parsed("a == %c", "x") == parsed("a == 'x'"))
  }

  @Test(arguments: [
    ("%K == 1", "a", "a == 1"), ("%K == 1", "a.b.@count", "a.b.@count == 1"),
    ("%K.c == 1", "a.b", "a.b.c == 1"),
    ("x.%K == 1", "a.b", "x.a.b == 1"), ("$v.%K == 1", "a", "$v.a == 1"),
    ("x.@sum.%K == 1", "a", "x.@sum.a == 1"),
    ("%K[0] == 1", "a", "a[0] == 1"), ("%K == 1", "self", "SELF == 1"), ("%K == 1", "SELF.a", "a == 1"),
    ("%K == 1", "and", "#and == 1"), ("%K == 1", "two words", "#\"two words\" == 1"),
    ("SUBQUERY(x, $v, $v.%K == 1).@count == 0", "a", "SUBQUERY(x, $v, $v.a == 1).@count == 0"),
  ])
  func `key paths`(format: String, path: String, same: String) throws {
    #expect(try parsed(format, .string(path)) == parsed(same))
  }

  @Test func `arguments follow the order of the format`() throws {
    #expect(try parsed("%K == %@ AND %K < %d", "a", "x", "b", 3) == parsed("a == 'x' AND b < 3"))
  }

  @Test func `arguments may be numbered`() throws {
    #expect(
      try parsed("a == %2$@ OR b == %1$d OR c == %2$@", 1, "x") == parsed("a == 'x' OR b == 1 OR c == 'x'"))
  }

  @Test func `places in quotes are text`() throws {
    #expect(try parsed("a == '%@' AND b == %@", 1) == parsed("a == \"%@\" AND b == 1"))
  }

  @Test func `an expression takes its place as it is`() throws {
    let tree = try PredicateTemplate.cached("%@ > 100").predicate([.expression(.variable("count"))])
    #expect(tree == (try parsed("$count > 100")))
  }

  @Test func `a list of arguments is one constant`() throws {
    #expect(try comparison("a IN {%@, %@}", 1, "x")?.right == .constant([1, "x"]))
    #expect(try comparison("a BETWEEN {%d, b}", 1)?.right == .aggregate([.constant(1), .keyPath(["b"])]))
  }

  @Test func `a cast of an argument is a literal`() throws {
    #expect(try comparison("a == CAST(%f, 'NSDate')", 5.5)?.right == .constant(.date(5.5)))
  }

  @Test func `arguments beyond the format are ignored`() throws {
    #expect(try parsed("a == %d", 1, 2, 3) == parsed("a == 1"))
  }

  @Test func `one template serves many arguments`() throws {
    let template = try PredicateTemplate.cached("shape == %@ OR %@ == 2")
    #expect(try PredicateTemplate.cached("shape == %@ OR %@ == 2") === template)
    for number in 0..<1000 {
      let value = PredicateValue.int(Int64(number))
      let tree = try template.predicate([.value(value), .value("x")])
      #expect(tree.constants == [value, "x", 2])
    }
  }

  @Test func `a flood of formats leaves the one in use`() throws {
    let cache = TemplateCache<PredicateTemplate>()
    let template = try PredicateTemplate(parsing: "survivor == %@")
    cache["survivor == %@"] = template
    for number in 0..<2000 {
      cache["flood == \(number)"] = try PredicateTemplate(parsing: "flood == \(number)")
      if number % 100 == 0 { #expect(cache["survivor == %@"] === template) }
    }
    #expect(cache["flood == 0"] == nil)
  }

  @Test func `the cache may be used from many threads`() async throws {
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for task in 0..<8 {
        group.addTask {
          for number in 0..<500 {
            let tree = try PredicateTemplate.cached("k\((number + task) % 300) == %@").predicate([.value(1)])
            if tree.constants != [1] { return false }
          }
          return true
        }
      }
      for try await isRight in group { #expect(isRight) }
    }
  }
}
