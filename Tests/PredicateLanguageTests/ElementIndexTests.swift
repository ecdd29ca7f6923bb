import CoreDataPredicateLanguage
import Foundation
import TestSupport
import Testing

/// IN and CONTAINS over large constant collections, which are indexed, against comparing each element.
@Suite struct ElementIndexTests {
  private static let _texts = [
    "", "a", "A", "ab", "Ab", "\u{E9}", "e\u{301}", "E\u{301}", "e", "\u{DF}", "ss", "SS", "\u{130}", "i",
    "I", "\u{131}", "a\u{323}\u{302}", "a\u{302}\u{323}", "1", "1.0", "\u{4E2D}",
  ]

  private static let _numbers: [PredicateValue] = [
    0, 1, -1, 2, 0.0, -0.0, 1.0, 0.5, 0.1, true, false, .int(1 << 53), .int(1 << 53 + 1), .int(.max),
    .int(.min), .double(0x1p53), .double(0x1p63), .double(-0x1p63), .double(1e20), .double(.nan),
    .double(.infinity), .decimal(1), .decimal(Decimal(string: "0.5")!), .decimal(Decimal(string: "0.1")!),
    .decimal(Decimal(string: "9223372036854775807")!), .decimal(Decimal(string: "1e20")!),
  ]

  private static let _moments: [PredicateValue] = [
    nil, .date(0), .date(1), .date(0.5), .data(Data([1, 2])), .data(Data()), .data(Data("1".utf8)),
    .uuid(UUID(uuidString: "68753A44-4D6F-1226-9C60-0050E4C00067")!),
    .url(URL(string: "https://example.org/a")!), .object(PredicateObject(AnyHashable(7))),
    .object(PredicateObject(AnyHashable("a"))), [1, 2], [2, 1], [], ["a": 1], ["a": 1.0],
  ]

  private static func _value(_ random: inout SeededRandom) -> PredicateValue {
    switch random.below(5) {
    case 0, 1: .string(_texts[random.below(_texts.count)])
    case 2, 3: _numbers[random.below(_numbers.count)]
    default: _moments[random.below(_moments.count)]
    }
  }

  @Test(arguments: ["", "[c]", "[d]", "[cd]", "[n]", "[l]", "[cl]"])
  func `A member of a large collection is what equals an element`(options: String) throws {
    var random = SeededRandom(seed: 11)
    for round in 0..<60 {
      let elements = (0..<(8 + random.below(40))).map { _ in Self._value(&random) }
      let isIn = try parsed("SELF IN\(options) %@", .collection(elements))
      let isContained = try parsed("%@ CONTAINS\(options) SELF", .collection(elements))
      let equals = try elements.map { try comparison("SELF ==\(options) %@", $0)! }
      for _ in 0..<12 {
        let value = Self._value(&random)
        let subject = ValueSubject(value)
        let expected = try equals.contains { try PredicateTree.comparison($0).matches(subject) }
        for _ in 0..<3 {
          #expect(try isIn.matches(subject) == expected, "\(value) in \(elements), round \(round)")
          #expect(try isContained.matches(subject) == expected, "\(value) in \(elements), round \(round)")
        }
      }
    }
  }

  @Test(arguments: [("ANY", true), ("ALL", true), ("NONE", false)])
  func `The modifiers test each value of the left side`(modifier: String, some: Bool) throws {
    let known = PredicateValue.collection((0..<20).map { .int($0) })
    let predicate = try parsed("\(modifier) numbers IN %@", known)
    for _ in 0..<3 {
      #expect(try predicate.matches(ValueSubject(["numbers": [3, 19]])) == some)
      #expect(try predicate.matches(ValueSubject(["numbers": [3, 20]])) == (modifier == "ANY"))
      #expect(try predicate.matches(ValueSubject(["numbers": [20, 21]])) == !some)
    }
  }

  @Test func `A template's predicates search each its own collection`() throws {
    for start in [0, 100, 200] {
      let predicate = try parsed("SELF IN %@", .collection((start..<(start + 20)).map { .int(Int64($0)) }))
      for _ in 0..<3 {
        #expect(try predicate.matches(ValueSubject(.int(Int64(start + 7)))))
        #expect(try !predicate.matches(ValueSubject(.int(Int64(start + 27)))))
      }
    }
  }

  @Test func `A substituted variable replaces the searched collection`() throws {
    let template = try parsed("SELF IN $KNOWN")
    for start in [0, 100] {
      let known = PredicateValue.collection((start..<(start + 20)).map { .int(Int64($0)) })
      let predicate = template.substituting(["KNOWN": .constant(known)])
      for _ in 0..<3 {
        #expect(try predicate.matches(ValueSubject(.int(Int64(start + 7)))))
        #expect(try !predicate.matches(ValueSubject(.int(Int64(start + 27)))))
      }
    }
  }

  @Test func `Predicates that have been evaluated equal those that have not`() throws {
    let known = PredicateValue.collection((0..<20).map { .int($0) })
    let (first, second) = (try parsed("SELF IN %@", known), try parsed("SELF IN %@", known))
    for _ in 0..<3 { _ = try first.matches(ValueSubject(1)) }
    #expect(first == second)
    #expect(first.hashValue == second.hashValue)
  }
}
