import Foundation

/// Comparisons of functions, of members' members, of entities and of two objects.
extension PredicateGenerator {
  /// Attributes at the end of more than one to-many step.
  private static let _farTexts = [
    "Author": ["books.tags.name", "books.chapters.heading", "pupils.books.title"],
    "Tag": ["books.chapters.heading", "books.tags.name"], "Book": ["author.books.tags.name"],
    "Novel": ["author.books.chapters.heading"], "Chapter": ["book.author.books.title"],
  ]
  /// Paths to objects of one entity.
  private static let _objectPairs = [
    "Author": [("mentor", "mentor.mentor")], "Book": [("author", "author.mentor")],
    "Chapter": [("book.author", "book.author.mentor")],
  ]

  /// Returns a function of an attribute of all members.
  mutating func statistic(_ many: (key: String, entity: String), _ numbersOfMembers: [String]?) -> Atom? {
    guard let key = numbersOfMembers.map({ numbers.one(of: $0) }) else { return nil }
    let function = numbers.one(of: ["median", "average", "sum", "max"])
    let op = numbers.one(of: ["==", ">", "<", ">="])
    return Atom(
      text: "\(function)(§\(many.key).\(key)) \(op) \(numbers.one(of: Words.integers))",
      // Nil without any numbers, except for the sum.
      nullable: function == "sum" ? [] : ["\(many.key).@max.\(key)"])
  }

  mutating func function(_ keys: Keys) -> Atom? {
    switch numbers.number(0..<7) {
    case 0 where !keys.integers.isEmpty:
      let key = numbers.one(of: keys.integers)
      return Atom(
        text: "modulus:by:(§\(key), \(numbers.one(of: [2, 3, 7]))) == \(numbers.number(0..<3))",
        nullable: [key])
    case 1 where !keys.doubles.isEmpty:
      let key = numbers.one(of: keys.doubles)
      return Atom(
        text: "modulus:by:(§\(key), 2) \(numbers.one(of: ["==", ">"])) \(numbers.one(of: ["1.5", "0"]))",
        nullable: [key])
    case 2 where !keys.integers.isEmpty:
      let key = numbers.one(of: keys.integers)
      return Atom(
        text: "CAST(§\(key), 'NSString') \(numbers.one(of: ["BEGINSWITH '1'", "LIKE '*2*'", "== '7'"]))",
        nullable: [key])
    case 3 where !keys.dates.isEmpty:
      let key = numbers.one(of: keys.dates)
      let date = Date(timeIntervalSinceReferenceDate: numbers.one(of: Words.dates))
      return numbers.chance(50)
        ? Atom(text: "§\(key) + 86400.5 > %@", arguments: [.value(date)], nullable: [key])
        : Atom(text: "§\(key) - %@ < 86400", arguments: [.value(date)], nullable: [key])
    case 4:
      return _between(keys)
    case 5 where !keys.texts.isEmpty:
      let key = numbers.one(of: keys.texts), part = numbers.one(of: Words.parts)
      return Atom(text: "TERNARY(§\(key) == nil, 'none', §\(key)) CONTAINS[cd] %@", arguments: [.value(part)])
    case 6 where keys.texts.count > 1:
      let (left, right) = (numbers.one(of: keys.texts), numbers.one(of: keys.texts))
      let function = numbers.one(of: ["length", "lowercase", "uppercase", "canonical"])
      return Atom(
        text: "\(function)(§\(left)) \(numbers.one(of: ["==", "!=", "<"])) \(function)(§\(right))",
        nullable: [left, right], isGuarded: true)
    default: return nil
    }
  }

  private mutating func _between(_ keys: Keys) -> Atom? {
    let (key, low, high): (String, Any, Any)
    if !keys.dates.isEmpty, numbers.chance(40) {
      let dates = [numbers.one(of: Words.dates), numbers.one(of: Words.dates)].sorted()
      key = numbers.one(of: keys.dates)
      (low, high) = (
        Date(timeIntervalSinceReferenceDate: dates[0]), Date(timeIntervalSinceReferenceDate: dates[1])
      )
    } else if !keys.decimals.isEmpty, numbers.chance(50) {
      key = numbers.one(of: keys.decimals)
      if numbers.chance(50) {
        let list = (0..<3).map { _ in NSDecimalNumber(string: numbers.one(of: Words.decimals)) }
        return Atom(text: "§\(key) IN %@", arguments: [.value(list)], nullable: [key])
      }
      (low, high) = (
        NSDecimalNumber(string: "-3.5"), NSDecimalNumber(string: numbers.one(of: Words.decimals))
      )
    } else if !keys.doubles.isEmpty {
      key = numbers.one(of: keys.doubles)
      (low, high) = (numbers.one(of: [-2.25, 0, 0.1]), numbers.one(of: [0.1, 3, 1e10]))
    } else {
      return nil
    }
    return Atom(text: "§\(key) BETWEEN {%@, %@}", arguments: [.value(low), .value(high)], nullable: [key])
  }

  /// Members of members: each step is an EXISTS.
  mutating func farMembers(_ entity: String) -> Atom? {
    guard let path = Self._farTexts[entity].map({ numbers.one(of: $0) }) else { return nil }
    let modifier = numbers.one(of: ["ANY", "NONE", "SOME"])
    return Atom(
      text:
        "\(modifier) §\(path) \(numbers.one(of: ["==", "CONTAINS", "BEGINSWITH"]))\(numbers.one(of: ["", "[c]", "[cd]"])) %@",
      arguments: [.value(numbers.one(of: Words.parts + Words.texts))])
  }

  mutating func kind(_ entity: String) -> Atom? {
    if let pair = Self._objectPairs[entity].map({ numbers.one(of: $0) }), numbers.chance(50) {
      return Atom(
        text: "§\(pair.0) \(numbers.one(of: ["==", "!="])) §\(pair.1)", nullable: [pair.0, pair.1],
        isGuarded: true)
    }
    let name = numbers.one(of: ["Novel", "Book", "Tag", "Author"])
    return Atom(text: "§entity.name \(numbers.one(of: ["==", "!="])) '\(name)'")
  }
}
