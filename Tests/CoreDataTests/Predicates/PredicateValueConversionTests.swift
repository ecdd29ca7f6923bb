import Testing

@testable import CoreData
@testable import CoreDataPredicateLanguage

@Suite struct PredicateValueConversionTests {
  @Test(
    arguments: [
      (1 as Int8, .int(1)), (1 as UInt16, .int(1)), (UInt64.max, .decimal(Decimal(UInt64.max))),
      (1.5 as Float, .double(1.5)),
      (true, .bool(true)), ("x", .string("x")), (Substring("x"), .string("x")),
      (Character("x"), .string("x")),
      (Decimal(2), .decimal(2)), (Data([1]), .data(Data([1]))),
      (Date(timeIntervalSinceReferenceDate: 3), .date(3)),
      ([1, 2], .collection([.int(1), .int(2)])),
      ([1, "x"] as [any Sendable], .collection([.int(1), .string("x")])), ([Int](), .collection([])),
      (["a": 1], .dictionary(["a": .int(1)])), (Set([7]), .collection([.int(7)])),
      ([1: "x"], .dictionary(["1": .string("x")])),
      (Int?.none, .null), (Int?.some(3), .int(3)), (Int??.some(nil), .null),
      ([String?.none, "a"], .collection([.null, .string("a")])),
    ] as [(any Sendable, PredicateValue)])
  func `Swift values become what they are`(value: any Sendable, expected: PredicateValue) {
    #expect(PredicateValue(any: value) == expected)
  }

  @Test func `Foundation objects become what they are`() throws {
    let url = try #require(URL(string: "a:b"))
    let uuid = UUID()
    let pairs: [(Any, PredicateValue)] = [
      (NSNull(), .null), (NSNumber(value: false), .bool(false)), (NSNumber(value: Int8(1)), .int(1)),
      (NSNumber(value: 2.5), .double(2.5)), (NSDecimalNumber(string: "2.5"), .decimal(2.5)),
      (NSString(string: "x"), .string("x")),
      (NSDate(timeIntervalSinceReferenceDate: 3), .date(3)), (uuid as NSUUID, .uuid(uuid)),
      (url as NSURL, .url(url)),
      (Data([1]) as NSData, .data(Data([1]))), (NSArray(array: [1]), .collection([.int(1)])),
      (NSSet(array: [1]), .collection([.int(1)])),
      (NSOrderedSet(array: [2, 1]), .collection([.int(2), .int(1)])),
      (NSDictionary(dictionary: ["a": 1]), .dictionary(["a": .int(1)])),
    ]
    for (object, expected) in pairs {
      #expect(PredicateValue(any: object) == expected, "\(type(of: object))")
    }
  }

  @Test func `values come back as callers know them`() {
    #expect(PredicateValue.int(3).any as? Int == 3)
    #expect(PredicateValue.bool(true).any as? Bool == true)
    #expect(PredicateValue.null.any == nil)
    #expect(
      PredicateValue.collection([.int(1), .null]).any as? NSArray
        == NSArray(array: [NSNumber(value: 1), NSNull()]))
    let object = NSObject()
    #expect(PredicateValue(any: object).any as? NSObject === object)
  }

  @Test func `other things stay objects`() {
    struct Point: Hashable { let x: Int }
    struct Bare { let x: Int }
    #expect(PredicateValue(any: Point(x: 1)) == PredicateValue(any: Point(x: 1)))
    #expect(PredicateValue(any: Bare(x: 1)) != PredicateValue(any: Bare(x: 1)))
    #expect((PredicateValue(any: Bare(x: 4)).any as? Bare)?.x == 4)
  }

  @Test func `predicates of Foundation have trees`() throws {
    #expect(try PredicateTree(NSPredicate(value: true)) == .constant(true))
    #expect(try PredicateTree(NSPredicate(value: false)) == .constant(false))
    let closure = NSPredicate { _, _ in true }
    #expect(try PredicateTree(closure) == .block(PredicateObject(AnyHashable(closure))))
    let compound = NSCompoundPredicate(
      type: .or, subpredicates: [NSPredicate(format: "a == 1"), NSPredicate(value: true)])
    guard case .or(let members) = try PredicateTree(compound) else {
      Issue.record("no OR")
      return
    }
    #expect(members.count == 2 && members[1] == .constant(true))
  }

  @Test func `compounds nested without end throw`() {
    var predicate = NSPredicate(value: true)
    for _ in 0..<2000 { predicate = NSCompoundPredicate(type: .and, subpredicates: [predicate, predicate]) }
    let deep = predicate
    #expect(throws: PredicateEvaluationError.self) { try PredicateTree(deep) }
  }

  @Test func `object IDs are objects`() {
    #expect(FormatArgument.isExpression(NSExpression(forKeyPath: "a")))
    #expect(!FormatArgument.isExpression(3))
  }
}

extension FormatArgument {
  fileprivate static func isExpression(_ argument: Any) -> Bool {
    if case .expression? = try? FormatArgument(any: argument) { true } else { false }
  }
}
