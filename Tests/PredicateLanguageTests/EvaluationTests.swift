import CoreDataPredicateLanguage
import Foundation
import Testing

@Suite struct EvaluationTests {
  @Test(arguments: [
    "name == 'Ada Lovelace'", "name ==[c] 'ada LOVELACE'", "name != 'Ada'", "age == 36", "age == 36.0",
    "age < 37",
    "age <= 36", "age > 35.5", "age >= 36", "age BETWEEN {36, 40}", "NOT age BETWEEN {37, 40}", "admin",
    "admin == 1",
    "admin == YES", "score > age / 4", "nickname == nil", "nickname != 'x'", "NOT nickname < 'x'",
    "NOT nickname > 'x'",
    "NOT nickname == 'x'", "city.name == 'London'", "city.mayor == nil", "city.mayor.name == nil",
    "name BEGINSWITH 'Ada'", "name BEGINSWITH[c] 'ADA'", "name ENDSWITH 'lace'", "name CONTAINS 'a L'",
    "NOT name CONTAINS 'A L'", "name LIKE 'A*e'", "name LIKE 'Ada?Lovelace'", "NOT name LIKE 'Ada'",
    "name MATCHES 'A\\w+ L.*'", "NOT name MATCHES 'Ada'", "name MATCHES[c] 'ada.*'", "'Love' IN name",
    "age IN {35, 36}", "NOT age IN {}", "name IN {'x', 'Ada Lovelace'}", "name IN[c] {'ADA LOVELACE'}",
    "'maths' IN tags", "tags CONTAINS 'poetry'", "tags CONTAINS[c] 'POETRY'", "tags.@count == 2",
    "ANY friends.age > 44", "NOT ANY friends.age > 45", "ALL friends.age >= 40", "NOT ALL friends.age > 40",
    "NONE friends.age < 40", "ANY friends.name IN {'Mary'}", "ANY friends.pets.name == 'Tom'",
    "ALL nothing.age > 3", "NOT ANY nothing.age > 3", "friends.@sum.age == 130", "friends.age.@sum == 130",
    "friends.@avg.age > 43.3", "friends.@max.age == 45", "friends.@min.name == 'Charles'",
    "nothing.@sum.age == 0",
    "nothing.@max.age == nil", "friends.@distinctUnionOfObjects.age.@count == 2",
    "friends.pets.@count == 3", "SUBQUERY(friends, $f, $f.age == 45 AND $f.pets.@count == 1).@count == 1",
    "SUBQUERY(friends, $f, SUBQUERY($f.pets, $p, $p.name == 'Rex').@count > 0)[0].name == 'Charles'",
    "SUBQUERY(friends, $f, $f.age > SELF.age).@count == friends.@count", "friends[0].name == 'Charles'",
    "friends[FIRST].name == 'Charles'", "friends[LAST].name == 'Luigi'", "friends[SIZE] == 3",
    "friends[9] == nil",
    "city['name'] == 'London'", "{36, 'x'} CONTAINS age", "TERNARY(age > 18, 'adult', 'child') == 'adult'",
    "tags UNION {'poetry', 'x'} == {'maths', 'poetry', 'x'}", "tags INTERSECT {'poetry'} == {'poetry'}",
    "tags MINUS {'poetry'} == {'maths'}", "born < now()", "CAST(-100, 'NSDate') == born",
    "born + 50 < CAST(0, 'NSDate')",
    "CAST(age, 'NSString') == '36'", "($x := age) == 36 AND $x == 36",
    "FUNCTION(name, 'uppercaseString') == 'ADA LOVELACE'",
    "FUNCTION(born, 'dateByAddingTimeInterval:', 100) == CAST(0, 'NSDate')", "name.length == 12",
    "TRUEPREDICATE",
    "name UTI-EQUALS 'ADA LOVELACE'", "ANYKEY == 36", "name isEqualToString: 'Ada Lovelace'",
    "self.age == 36",
    "nickname IN {nil}", "ANY tags BEGINSWITH 'p'", "name > 'A' AND name < 'B'", "name >[c] 'aca'",
  ])
  func `holds for ada`(format: String) throws {
    #expect(try holds(format, for: ada))
  }

  @Test(
    arguments: [
      ("abs(-3)", PredicateValue.int(3)), ("floor(2.7)", 2.0), ("ceiling(2.1)", 3.0), ("trunc(-2.7)", -2.0),
      ("sqrt(9)", 3.0),
      ("log(1000)", 3.0), ("ln(1)", 0.0), ("exp(0)", 1.0), ("2 ** 10", 1024.0), ("7 / 2", 3),
      ("7.0 / 2", 3.5), ("7 / 0", nil),
      ("modulus:by:(7, 3)", 1), ("modulus:by:(-7.5, 2)", -1.5), ("6 & 3", 2), ("6 | 3", 7), ("6 ^ 3", 5),
      ("1 << 4", 16), ("-16 >> 2", -4), ("~0", -1),
      ("1 + 2 * 3 - 4", 3), ("1 + nil", nil), ("9223372036854775807 + 1", 9_223_372_036_854_775_808.0),
      ("sum({1, 2, 3})", 6), ("sum(1, 2.5)", 3.5), ("count({1, 2})", 2), ("min({3, 1, 2})", 1),
      ("max({'a', 'c'})", "c"),
      ("average({1, 2})", 1.5), ("median({5, 1, 3})", 3), ("median({1, 2})", 1.5),
      ("mode({1, 2, 2, 1, 3})", [1, 2]),
      ("stddev({2, 4, 4, 4, 5, 5, 7, 9})", 2.0), ("average({})", nil), ("uppercase('aß')", "ASS"),
      ("lowercase('É')", "é"),
      ("canonical('Éa')", "ea"), ("length('añ')", 2), ("noindex('x')", "x"), ("uppercase(nil)", nil),
      ("CAST('12', 'NSNumber')", 12), ("CAST('1.5', 'NSDecimalNumber') + 1", .decimal(2.5)),
      ("FUNCTION('a-b', 'componentsSeparatedByString:', '-')", ["a", "b"]), ("FUNCTION(nil, 'length')", nil),
      ("FUNCTION({1, 2}, 'valueForKey:', 'stringValue')", ["1", "2"]), ("{1, 1, 2} UNION {2}", [1, 2]),
      ("CAST('1.5', 'NSDecimalNumber') / 0", nil), ("-9223372036854775807 - 1", .int(.min)),
      ("modulus:by:(CAST('7.5','NSDecimalNumber'), 2)", .decimal(1.5)),
      ("floor(CAST('2.7','NSDecimalNumber'))", .decimal(2)),
      ("ceiling(CAST('2.1','NSDecimalNumber'))", .decimal(3)),
      ("trunc(CAST('-2.7','NSDecimalNumber'))", .decimal(-2)),
    ] as [(String, PredicateValue)])
  func `expressions have values`(text: String, result: PredicateValue) throws {
    #expect(try value(text) == result)
  }

  @Test func `random numbers keep their limit`() throws {
    for _ in 0..<100 {
      guard case .int(let number) = try value("randomn(3)") else {
        Issue.record("no whole number")
        return
      }
      #expect((0..<3).contains(number))
    }
  }

  @Test func `now is one instant in an evaluation`() throws {
    #expect(try holds("now() == now()"))
    var evaluator = PredicateEvaluator(ValueSubject(nil), now: 5)
    #expect(try evaluator.value(of: expression("now()")) == .date(5))
  }

  @Test(
    arguments: [
      ("$x == 1", PredicateEvaluationError.unboundVariable("x")),
      ("name.foo == 1", .unknownKey("foo", of: "A string")),
      ("name < 3", .incomparable("A string", "a number")),
      ("name MATCHES '('", .badPattern("(")),
      ("name MATCHES 'a)(b'", .badPattern("a)(b")), ("friends.@foo == 1", .unknownCollectionOperator("@foo")),
      ("name + 1 == 2", .wrongOperand("add:to:", "a string")),
      ("FUNCTION(name, 'foo') == 1", .unknownSelector("foo", on: "a string")),
      ("name foo: 1", .unknownSelector("foo:", on: "a string")),
      ("age BETWEEN {1}", .wrongOperand("BETWEEN", "anything but a collection of two bounds")),
      ("SUBQUERY(age, $x, $x == 1).@count == 0", .needsCollection("a number")),
      ("friends.@sum.name == 1", .wrongOperand("The sum", "a string")),
      ("CAST(name, 'NSDate') == 1", .wrongOperand("CAST to NSDate", "a string")),
      ("randomn(0) == 1", .wrongOperand("randomn:", "a limit that is not positive")),
      ("name[0] == 'A'", .wrongOperand("An index that is a number", "a string")),
    ] as [(String, PredicateEvaluationError)])
  func `what cannot be answered throws`(format: String, error: PredicateEvaluationError) {
    #expect(throws: error) { try holds(format, for: ada) }
  }

  @Test func `a function of the wrong number of arguments throws`() {
    #expect(throws: PredicateEvaluationError.self) {
      try ExpressionTree.function(.add, [.constant(1)]).value(for: ValueSubject(nil))
    }
  }

  @Test func `FIRST outside of brackets throws`() {
    #expect(throws: PredicateEvaluationError.self) {
      try ExpressionTree.function(.first, []).value(for: ValueSubject(nil))
    }
  }

  @Test func `variables come from outside`() throws {
    #expect(try holds("age > $limit AND name == $who.name", for: ada, variables: ["limit": 30, "who": ada]))
  }

  @Test func `a subquery variable hides the outer one only inside`() throws {
    #expect(
      try holds("SUBQUERY(friends, $f, $f.age > 44).@count == 2 AND $f == 7", for: ada, variables: ["f": 7]))
  }

  @Test func `plain values are subjects too`() throws {
    #expect(try holds("SELF > 3 AND SELF < 5", for: 4))
    #expect(try holds("SELF CONTAINS 'b' AND length == 3", for: "abc"))
    #expect(try holds("@count == 2 AND ANY SELF == 'x' AND SELF.@count == 2", for: ["x", "y"]))
    #expect(try holds("SELF == nil", for: nil))
    #expect(try holds("@max.age == 45", for: [ada, ["age": 45]]))
  }

  @Test func `numbers of all kinds compare by value`() throws {
    let equal: [PredicateValue] = [1, 1.0, true, .decimal(1)]
    for left in equal {
      for right in equal {
        #expect(try holds("SELF == %@", for: left, right))
        #expect(try holds("SELF <= %@ AND SELF IN {%@}", for: left, right, right))
      }
    }
    let large = PredicateValue.int(9_007_199_254_740_993)
    #expect(try holds("SELF > 9007199254740992.0", for: large))
    #expect(try !holds("SELF == 9007199254740992.0", for: large))
    #expect(
      try !holds("SELF == %@ OR SELF < %@ OR SELF >= %@", for: 1, .double(.nan), .double(.nan), .double(.nan))
    )
    #expect(try holds("SELF < %@", for: large, .double(.infinity)))
    #expect(try holds("SELF < 1e300", for: .decimal(3)))
  }

  @Test func `collections are equal in any order`() throws {
    #expect(try holds("SELF == {2, 1, 1}", for: [1, 2, 1]))
    #expect(try !holds("SELF == {1, 2, 2}", for: [1, 2, 1]))
  }

  @Test func `averages of key paths count nil as zero`() throws {
    let subject: PredicateValue = ["items": [["n": 4], ["n": nil]]]
    #expect(try value("items.@avg.n", for: subject) == 2.0)
    #expect(try value("average(items.n)", for: subject) == 4.0)
    #expect(try value("items.@sum.n", for: subject) == 4)
  }

  @Test func `objects are read and compared through the subject`() throws {
    let people = People(names: [1: "Ada", 2: "Charles"], friends: [1: [2], 2: []])
    let subject = PersonSubject(people: people, id: 1)
    #expect(try parsed("name == 'Ada' AND friends.name CONTAINS 'Charles'").matches(subject))
    let reference = PredicateValue.object(PredicateObject(AnyHashable("person 2")))
    #expect(try parsed("friends CONTAINS %@ AND ANY friends == %@", reference, reference).matches(subject))
    #expect(try parsed("SELF == %@", .object(PredicateObject(AnyHashable("person 1")))).matches(subject))
    #expect(try parsed("FUNCTION(SELF, 'greeting:', 'Hello') == 'Hello Ada'").matches(subject))
    #expect(throws: PredicateEvaluationError.unknownKey("age", of: "person")) {
      try parsed("age == 1").matches(subject)
    }
  }
}

/// People identified by number; an object is its number, or a text with it.
struct People: Sendable {
  let names: [Int: String]
  let friends: [Int: [Int]]
}

struct PersonSubject: PredicateSubject {
  let people: People
  let id: Int

  var predicateValue: PredicateValue { .object(PredicateObject(AnyHashable(id))) }

  func predicateValue(forKey key: String) throws -> PredicateValue {
    try predicateValue(forKey: key, of: PredicateObject(AnyHashable(id)))
  }

  func predicateValue(forKey key: String, of object: PredicateObject) throws -> PredicateValue {
    guard let id = object.base.base as? Int else { return .null }
    switch key {
    case "name": return people.names[id].map { .string($0) } ?? .null
    case "friends":
      return .collection((people.friends[id] ?? []).map { .object(PredicateObject(AnyHashable($0))) })
    default: throw PredicateEvaluationError.unknownKey(key, of: "person")
    }
  }

  func predicateIdentity(of object: PredicateObject) -> AnyHashable {
    (object.base.base as? Int).map { AnyHashable("person \($0)") } ?? object.base
  }

  func predicateResult(
    of selector: String, on target: PredicateValue, arguments: [PredicateValue]
  ) throws -> PredicateValue? {
    guard selector == "greeting:", case .object(let object) = target, case .string(let word) = arguments[0],
      case .string(let name) = try predicateValue(forKey: "name", of: object)
    else { return nil }
    return .string("\(word) \(name)")
  }
}
