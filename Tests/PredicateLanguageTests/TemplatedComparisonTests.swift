import CoreDataPredicateLanguage
import Testing

/// Predicates from a format that compares a key with its only argument.
@Suite struct TemplatedComparisonTests {
  private func comparison(_ format: String, _ argument: FormatArgument) throws -> TemplatedComparison? {
    try PredicateTemplate.cached(format).comparison(count: 1) { _ in argument }
  }

  @Test(arguments: ["name == %@", "ANY pupils.name BEGINSWITH[cd] %@", "name LIKE %@"])
  func `is the tree of its format`(_ format: String) throws {
    let comparison = try #require(try self.comparison(format, .value(.string("Ada"))))
    let tree = try PredicateTemplate.cached(format).predicate([.value(.string("Ada"))])
    #expect(comparison.tree == tree)
    #expect(comparison.tree == tree, "asked again")
  }

  @Test func `takes the argument as the placeholder wants it`() throws {
    #expect(try comparison("age == %d", .value(.bool(true)))?.value == .int(1))
    #expect(throws: PredicateFormatError.self) { try comparison("age == %d", .value(.string("many"))) }
    #expect(throws: PredicateFormatError.self) {
      try PredicateTemplate.cached("age == %@").comparison(count: 0) { _ in .value(.null) }
    }
  }

  @Test func `is none where the argument says more than a value`() throws {
    #expect(try comparison("name == %@", .expression(.keyPath(["title"]))) == nil)
    #expect(try comparison("name IN %@", .value(.collection([.string("Ada")]))) == nil)
  }

  @Test func `is none where no key is compared with the argument`() throws {
    #expect(try comparison("%@ == name", .value(.string("Ada"))) == nil)
    #expect(try comparison("name == %@ OR age == 3", .value(.string("Ada"))) == nil)
    #expect(try comparison("TRUEPREDICATE", .value(.null)) == nil)
  }
}
