import CoreData
import Testing

@Suite struct NSPredicateEvaluationTests {
  /// An object that is read by key.
  final class Person: NSObject, KeyValueCoding, SelectorPerforming {
    let name: String
    var friends: [Person] = []
    var born: Date?

    init(_ name: String) { self.name = name }

    func value(forKey key: String) -> Any? {
      switch key {
      case "name": name
      case "friends": NSSet(array: friends)
      case "born": born
      case "age": 36 as Int16
      default: nil
      }
    }

    func perform(_ selector: String, with arguments: [Any?]) throws -> Any? {
      guard selector == "isFriendOf:", let other = arguments[0] as? Person else { return nil }
      return friends.contains(other)
    }
  }

  @Test(arguments: [
    "name == 'Ada'", "age > 35", "born == nil", "ANY friends.name == 'Charles'", "friends.@count == 1",
    "SUBQUERY(friends, $f, $f.age == 36).@count == 1", "friends[FIRST].name BEGINSWITH 'C'",
    "SELF.name == 'Ada'",
    "friends.@avg.age == 36", "unknown == nil", "self.self == SELF",
  ])
  func `objects are read by key`(format: String) {
    let ada = Person("Ada")
    ada.friends = [Person("Charles")]
    #expect(NSPredicate(format: format).evaluate(with: ada))
    #expect(!NSPredicate(format: "NOT (\(format))").evaluate(with: ada))
  }

  @Test func `objects are compared and members`() {
    let (ada, charles) = (Person("Ada"), Person("Charles"))
    ada.friends = [charles]
    #expect(NSPredicate(format: "SELF == %@", ada).evaluate(with: ada))
    #expect(!NSPredicate(format: "SELF == %@", charles).evaluate(with: ada))
    #expect(NSPredicate(format: "SELF IN %@", [ada, charles]).evaluate(with: charles))
    #expect(NSPredicate(format: "friends CONTAINS %@", charles).evaluate(with: ada))
    #expect(NSPredicate(format: "SELF isFriendOf: %@", charles).evaluate(with: ada))
    #expect(!NSPredicate(format: "FUNCTION(SELF, 'isFriendOf:', %@) == YES", ada).evaluate(with: ada))
  }

  @Test func `dictionaries and plain values are read`() {
    let row: [String: Any] = ["name": "Ada", "age": 36, "tags": ["a", "b"], "city": ["name": "London"]]
    let predicate = NSPredicate(
      format: "name == 'Ada' AND age < 40 AND 'b' IN tags AND city.name ENDSWITH 'don'")
    #expect(predicate.evaluate(with: row))
    #expect(predicate.evaluate(with: NSDictionary(dictionary: row)))
    #expect(NSPredicate(format: "SELF > 3").evaluate(with: 4))
    #expect(NSPredicate(format: "SELF > 3").evaluate(with: NSNumber(value: 3.5)))
    #expect(NSPredicate(format: "SELF LIKE 'a*'").evaluate(with: "abc"))
    #expect(NSPredicate(format: "SELF < %@", Date() as NSDate).evaluate(with: Date.distantPast))
    #expect(NSPredicate(format: "SELF.@count == 2 AND ANY SELF == 1").evaluate(with: [1, 2]))
    #expect(NSPredicate(format: "SELF == nil").evaluate(with: nil))
  }

  @Test(arguments: [
    "dict[4].key == 'value'", "dict['4'].key == 'value'", "dict[4]['key'] == 'value'", "dict[5].key == nil",
    "names[7].key == 'value'", "dict[4.0].key == 'value'", "dict[SIZE] == 1", "dict[-1] == nil",
    "dict[nil] == nil",
    "dict[dict] == nil", "dict[now()] == nil",
  ])
  func `a number is a key of a dictionary`(format: String) {
    let row: [String: Any] = [
      "dict": NSDictionary(dictionary: [4: ["key": "value"]]), "names": [7: ["key": "value"]],
    ]
    #expect(NSPredicate(format: format).evaluate(with: row))
    #expect(NSPredicate(format: format).evaluate(with: NSDictionary(dictionary: row)))
  }

  @Test(arguments: [
    ("public.jpeg", "public.image", true), ("public.jpeg", "public.data", true),
    ("PUBLIC.JPEG", "Public.Item", true), ("public.image", "public.jpeg", false),
    ("public.utf8-plain-text", "public.text", true), ("com.apple.quicktime-movie", "public.movie", true),
    ("com.example.own", "com.example.own", true), ("com.example.own", "public.data", false),
    ("public.png", "public.movie", false), ("com.adobe.pdf", "public.content", true),
  ])
  func `a uniform type conforms to its supertypes`(type: String, supertype: String, conforms: Bool) {
    let predicate = NSPredicate(format: "SELF UTI-CONFORMS-TO %@", supertype)
    #expect(predicate.evaluate(with: type) == conforms)
  }

  @Test func `attachments are chosen by uniform type`() {
    let predicate = NSPredicate(
      format: "SUBQUERY(attachments, $a, ANY $a.types UTI-CONFORMS-TO 'public.image').@count == 1")
    let attachments = [["types": ["public.png"]], ["types": ["public.html", "public.url"]]]
    #expect(predicate.evaluate(with: ["attachments": attachments]))
    #expect(!predicate.evaluate(with: ["attachments": [["types": [String]()]]]))
  }

  @Test func `collections of Foundation are filtered`() {
    let names = NSArray(array: ["Ada", "Charles", "Mary"])
    #expect(
      names.filtered(using: NSPredicate(format: "SELF CONTAINS 'a'")) as? [String] == [
        "Ada", "Charles", "Mary",
      ])
    #expect(names.filtered(using: NSPredicate(format: "length == 3")) as? [String] == ["Ada"])
    #expect(NSSet(array: [1, 2, 3]).filtered(using: NSPredicate(format: "SELF >= 2")).count == 2)
  }

  @Test func `foundations compounds hold ours`() {
    let parts = [
      NSPredicate(format: "SELF > 1"), NSPredicate(format: "SELF < 5"), NSPredicate { _, _ in true },
    ]
    let compound = NSCompoundPredicate(andPredicateWithSubpredicates: parts)
    #expect(compound.evaluate(with: 3))
    #expect(!compound.evaluate(with: 7))
  }

  @Test func `closures take part`() throws {
    let closure = NSPredicate { object, bindings in (object as? Int) == bindings?["X"] as? Int }
    let compound = NSCompoundPredicate(andPredicateWithSubpredicates: [
      closure, NSPredicate(format: "SELF > 1"),
    ])
    #expect(compound.evaluate(with: 3, substitutionVariables: ["X": 3]))
    #expect(!compound.evaluate(with: 3, substitutionVariables: ["X": 4]))
    #expect(compound.subpredicates[0] === closure)
  }

  @Test func `variables are given values`() {
    let predicate = NSPredicate(format: "name == $NAME")
    #expect(predicate.evaluate(with: ["name": "Ada"], substitutionVariables: ["NAME": "Ada"]))
    #expect(!predicate.evaluate(with: ["name": "Ada"], substitutionVariables: ["NAME": NSNull()]))
  }

  @Test func `what cannot be answered throws`() {
    #expect(throws: NSPredicate.EvaluationError.self) { try NSPredicate(format: "a == $X").matches(["a": 1]) }
    #expect(throws: NSPredicate.EvaluationError.self) { try NSPredicate(format: "a < 'x'").matches(["a": 1]) }
    #expect(throws: NSPredicate.EvaluationError.self) {
      try NSPredicate(format: "a == 1").matches(NSObject())
    }
  }

  @Test func `an unbound variable traps`() async {
    await #expect(processExitsWith: .failure) { _ = NSPredicate(format: "a == $X").evaluate(with: ["a": 1]) }
  }

  @Test func `objects that are not hashable are compared by identity`() {
    final class Thing {}
    let (one, other) = (Thing(), Thing())
    #expect(NSPredicate(format: "SELF == %@", argumentArray: [one]).evaluate(with: one))
    #expect(!NSPredicate(format: "SELF == %@", argumentArray: [one]).evaluate(with: other))
  }
}
