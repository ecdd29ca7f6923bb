import Foundation
import TestSupport

/// A generated predicate: a format for the SQLite store, and a format with the same meaning for memory.
///
/// The two differ for nil. SQL has a third truth value: a comparison with NULL is neither true nor false, and
/// so is its negation. In memory nil is unequal to everything and less than nothing. A negated or `!=`
/// comparison is therefore guarded in memory by tests for nil; everything else must agree as is.
indirect enum GeneratedPredicate {
  struct Atom {
    /// Format with `§` before each key.
    let text: String
    /// The same for memory, if it cannot be guarded from outside.
    var memoryText: String?
    var arguments: [Argument] = []
    /// Keys that make the comparison unknown in SQL if they are nil.
    var nullable: [String] = []
    /// Whether memory needs the guard even if the comparison is not negated.
    var isGuarded = false
  }

  enum Argument {
    case value(Any)
    /// The object of an entity at an index, from the store that is queried.
    case object(String, Int)
    case objects(String, [Int])
    case objectID(String, Int)
  }

  case atom(Atom)
  case not(GeneratedPredicate)
  case all([GeneratedPredicate])
  case any([GeneratedPredicate])
  case subquery(String, GeneratedPredicate, String, Int)

  /// Returns the format for SQL, with `prefix` before keys.
  func sql(_ prefix: String = "") -> String {
    switch self {
    case .atom(let atom): atom.text.replacingOccurrences(of: "§", with: prefix)
    case .not(let member): "NOT (\(member.sql(prefix)))"
    case .all(let members): members.map { "(\($0.sql(prefix)))" }.joined(separator: " AND ")
    case .any(let members): members.map { "(\($0.sql(prefix)))" }.joined(separator: " OR ")
    case .subquery(let collection, let member, let op, let count):
      "SUBQUERY(\(prefix)\(collection), $x, \(member.sql("$x."))).@count \(op) \(count)"
    }
  }

  /// Returns the format for memory. Pushes negation down to the comparisons, as three-valued logic allows.
  func memory(_ prefix: String = "", negated: Bool = false) -> String {
    switch self {
    case .atom(let atom):
      let text = (atom.memoryText ?? atom.text).replacingOccurrences(of: "§", with: prefix)
      guard negated || atom.isGuarded else { return text }
      let guards = atom.nullable.map { "\(prefix)\($0) != nil" }
      return (guards + [negated ? "NOT (\(text))" : "(\(text))"]).joined(separator: " AND ")
    case .not(let member): return member.memory(prefix, negated: !negated)
    case .all(let members):
      return members.map { "(\($0.memory(prefix, negated: negated)))" }.joined(
        separator: negated ? " OR " : " AND ")
    case .any(let members):
      return members.map { "(\($0.memory(prefix, negated: negated)))" }.joined(
        separator: negated ? " AND " : " OR ")
    case .subquery(let collection, let member, let op, let count):
      let text = "SUBQUERY(\(prefix)\(collection), $x, \(member.memory("$x."))).@count \(op) \(count)"
      return negated ? "NOT (\(text))" : text
    }
  }

  var arguments: [Argument] {
    switch self {
    case .atom(let atom): atom.arguments
    case .not(let member), .subquery(_, let member, _, _): member.arguments
    case .all(let members), .any(let members): members.flatMap(\.arguments)
    }
  }
}

/// Generates predicates for the entities of `LibraryModel`.
struct PredicateGenerator {
  var numbers: SeededRandom

  /// The comparable keys of an entity, by kind.
  struct Keys {
    var texts: [String] = []
    var integers: [String] = []
    var doubles: [String] = []
    var decimals: [String] = []
    var dates: [String] = []
    var flags: [String] = []
    var uuids: [String] = []
    var blobs: [String] = []
    var urls: [String] = []
    var toOne: [(key: String, entity: String)] = []
    var toMany: [(key: String, entity: String)] = []
  }

  private static let _book = Keys(
    texts: ["title", "author.name", "author.mentor.name"],
    integers: ["pages", "copies", "author.age", "author.mentor.age"],
    doubles: ["price", "weight"], decimals: ["cost"], dates: ["published"], flags: ["inPrint"],
    uuids: ["isbn"],
    blobs: ["cover"], urls: ["page"], toOne: [("author", "Author"), ("author.mentor", "Author")],
    toMany: [("tags", "Tag"), ("chapters", "Chapter"), ("author.books", "Book")])

  private static let _keys: [String: Keys] = {
    var novel = _book
    novel.texts.append("genre")
    var publication = Keys()
    publication.texts = ["title"]
    return [
      "Book": _book, "Novel": novel, "Publication": publication,
      "Author": Keys(
        texts: ["name", "mentor.name"], integers: ["age", "mentor.age"], toOne: [("mentor", "Author")],
        toMany: [("books", "Book"), ("pupils", "Author"), ("mentor.books", "Book")]),
      "Tag": Keys(texts: ["name"], toMany: [("books", "Book")]),
      "Chapter": Keys(
        texts: ["heading", "book.title", "book.author.name"], integers: ["book.pages"],
        doubles: ["book.price"],
        dates: ["book.published"], toOne: [("book", "Book"), ("book.author", "Author")],
        toMany: [("book.tags", "Tag")]),
    ]
  }()

  /// Attributes of members, for ANY and collection operators.
  private static let _memberTexts = [
    "Book": ["title"], "Tag": ["name"], "Chapter": ["heading"], "Author": ["name"],
  ]
  private static let _memberNumbers = ["Book": ["pages", "copies"], "Author": ["age"]]

  mutating func predicate(for entity: String, depth: Int = 3) -> GeneratedPredicate {
    let roll = numbers.number(0..<100)
    if depth > 0, roll < 15 { return .not(predicate(for: entity, depth: depth - 1)) }
    if depth > 0, roll < 32 { return .all(_several(entity, depth)) }
    if depth > 0, roll < 49 { return .any(_several(entity, depth)) }
    if depth > 0, roll < 58,
      let many = Self._keys[entity]!.toMany.isEmpty ? nil : numbers.one(of: Self._keys[entity]!.toMany)
    {
      return .subquery(
        many.key, predicate(for: many.entity, depth: depth == 3 ? 1 : 0),
        numbers.one(of: ["==", ">", "<=", "!=", ">="]),
        numbers.number(0..<3))
    }
    return .atom(_atom(entity))
  }

  private mutating func _several(_ entity: String, _ depth: Int) -> [GeneratedPredicate] {
    (0..<numbers.number(2..<4)).map { _ in predicate(for: entity, depth: depth - 1) }
  }

  // MARK: Comparisons

  typealias Atom = GeneratedPredicate.Atom

  private mutating func _atom(_ entity: String) -> Atom {
    let keys = Self._keys[entity]!
    for _ in 0..<50 {
      switch numbers.number(0..<21) {
      case 0, 1, 2: if !keys.texts.isEmpty { return _text(numbers.one(of: keys.texts)) }
      case 3: if !keys.texts.isEmpty { return _textFunction(numbers.one(of: keys.texts)) }
      case 4:
        if keys.texts.count > 1 { return _twoKeys(numbers.one(of: keys.texts), numbers.one(of: keys.texts)) }
      case 5, 6: if !keys.integers.isEmpty { return _number(numbers.one(of: keys.integers)) }
      case 7:
        if keys.integers.count > 1 {
          return _arithmetic(numbers.one(of: keys.integers), numbers.one(of: keys.integers))
        }
      case 8:
        if !keys.doubles.isEmpty {
          return _ordered(numbers.one(of: keys.doubles), numbers.one(of: Words.doubles))
        }
      case 9:
        if !keys.decimals.isEmpty {
          return _ordered(
            numbers.one(of: keys.decimals), NSDecimalNumber(string: numbers.one(of: Words.decimals)))
        }
      case 10:
        if !keys.dates.isEmpty {
          return _ordered(
            numbers.one(of: keys.dates), Date(timeIntervalSinceReferenceDate: numbers.one(of: Words.dates)))
        }
      case 11: return _constantLike(keys)
      case 12: if !keys.toOne.isEmpty { return _toOne(numbers.one(of: keys.toOne)) }
      case 13: if !keys.toMany.isEmpty { return _any(numbers.one(of: keys.toMany)) }
      case 14: if !keys.toMany.isEmpty { return _operator(numbers.one(of: keys.toMany)) }
      case 15: return _identity(entity)
      case 16, 17: if let atom = function(keys) { return atom }
      case 18:
        let many = keys.toMany.isEmpty ? nil : numbers.one(of: keys.toMany)
        if let many, let atom = statistic(many, Self._memberNumbers[many.entity]) { return atom }
      case 19: if let atom = farMembers(entity) { return atom }
      default: if let atom = kind(entity) { return atom }
      }
    }
    return Atom(text: "TRUEPREDICATE")
  }

  private mutating func _options() -> String { numbers.one(of: ["", "", "[c]", "[d]", "[cd]", "[n]"]) }

  private mutating func _text(_ key: String) -> Atom {
    let options = _options()
    switch numbers.number(0..<11) {
    case 0: return Atom(text: "§\(key) == nil")
    case 1: return Atom(text: "§\(key) != nil")
    case 2, 3:
      return Atom(
        text: "§\(key) ==\(options) %@", arguments: [.value(numbers.one(of: Words.texts))], nullable: [key])
    case 4:
      return Atom(
        text: "§\(key) !=\(options) %@", arguments: [.value(numbers.one(of: Words.texts))], nullable: [key],
        isGuarded: true)
    case 5:
      return Atom(
        text: "§\(key) \(numbers.one(of: ["<", "<=", ">", ">="]))\(options) %@",
        arguments: [.value(numbers.one(of: Words.texts))], nullable: [key])
    case 6:
      let op = numbers.one(of: ["CONTAINS", "BEGINSWITH", "ENDSWITH"])
      return Atom(
        text: "§\(key) \(op)\(options) %@", arguments: [.value(numbers.one(of: Words.parts))], nullable: [key]
      )
    case 7:
      return Atom(
        text: "§\(key) LIKE\(options) %@", arguments: [.value(numbers.one(of: Words.patterns))],
        nullable: [key])
    case 8:
      return Atom(
        text: "§\(key) MATCHES\(options == "[n]" ? "" : options) %@",
        arguments: [.value(numbers.one(of: Words.expressions))],
        nullable: [key])
    case 9:
      let list = (0..<numbers.number(0..<5)).map { _ in numbers.one(of: Words.texts) }
      // "In no text at all" is simply false, in SQL too.
      return Atom(
        text: "§\(key) IN\(options) %@", arguments: [.value(list)], nullable: list.isEmpty ? [] : [key])
    default:
      return Atom(
        text: "§\(key) BETWEEN {%@, %@}",
        arguments: [.value(numbers.one(of: Words.texts)), .value(numbers.one(of: Words.texts))],
        nullable: [key])
    }
  }

  private mutating func _textFunction(_ key: String) -> Atom {
    switch numbers.number(0..<4) {
    case 0: return Atom(text: "lowercase(§\(key)) == %@", arguments: [.value("éclair")], nullable: [key])
    case 1: return Atom(text: "uppercase(§\(key)) BEGINSWITH %@", arguments: [.value("STR")], nullable: [key])
    case 2:
      return Atom(
        text: "length(§\(key)) \(numbers.one(of: [">", "=="])) \(numbers.number(0..<18))", nullable: [key])
    default:
      return Atom(
        text: "%@ CONTAINS\(_options()) §\(key)", arguments: [.value(numbers.one(of: Words.texts))],
        nullable: [key])
    }
  }

  private mutating func _twoKeys(_ left: String, _ right: String) -> Atom {
    let op = numbers.one(of: ["==", "!=", "<", ">=", "CONTAINS", "BEGINSWITH"])
    return Atom(text: "§\(left) \(op)\(_options()) §\(right)", nullable: [left, right], isGuarded: true)
  }

  private mutating func _number(_ key: String) -> Atom {
    let value = numbers.one(of: Words.integers)
    switch numbers.number(0..<6) {
    case 0: return Atom(text: "§\(key) == nil")
    case 1: return Atom(text: "§\(key) != \(value)", nullable: [key], isGuarded: true)
    case 2: return Atom(text: "§\(key) BETWEEN {\(min(value, 5)), \(max(value, 5))}", nullable: [key])
    case 3:
      let list = (0..<numbers.number(0..<4)).map { _ in numbers.one(of: Words.integers) }
      return Atom(text: "§\(key) IN %@", arguments: [.value(list)], nullable: list.isEmpty ? [] : [key])
    case 4: return Atom(text: "§\(key) > \(numbers.one(of: Words.doubles))", nullable: [key])
    default:
      return Atom(text: "§\(key) \(numbers.one(of: ["==", "<", "<=", ">", ">="])) \(value)", nullable: [key])
    }
  }

  private mutating func _arithmetic(_ left: String, _ right: String) -> Atom {
    let op = numbers.one(of: ["+", "-", "*", "/", "&", "|"])
    if op == "/" {
      return Atom(
        text: "§\(left) / 3 \(numbers.one(of: ["<", "==", ">"])) §\(right)", nullable: [left, right],
        isGuarded: true)
    }
    switch numbers.number(0..<3) {
    case 0:
      return Atom(
        text: "§\(left) \(op) §\(right) > \(numbers.one(of: Words.integers))", nullable: [left, right])
    case 1:
      return Atom(text: "abs(§\(left)) \(numbers.one(of: ["<", ">="])) §\(right)", nullable: [left, right])
    default:
      return Atom(
        text: "TERNARY(§\(left) > 10, 1, 2) \(numbers.one(of: ["==", "<"])) \(numbers.number(1..<3))")
    }
  }

  private mutating func _ordered(_ key: String, _ value: Any) -> Atom {
    let op = numbers.one(of: ["==", "!=", "<", "<=", ">", ">=", "nil"])
    if op == "nil" { return Atom(text: "§\(key) == nil") }
    return Atom(text: "§\(key) \(op) %@", arguments: [.value(value)], nullable: [key], isGuarded: op == "!=")
  }

  private mutating func _constantLike(_ keys: Keys) -> Atom {
    var choices: [Atom] = [
      Atom(text: numbers.one(of: ["TRUEPREDICATE", "FALSEPREDICATE", "1 == 1", "2 < 1"]))
    ]
    if let key = keys.flags.first {
      choices += [
        Atom(text: "§\(key) == YES", nullable: [key]), Atom(text: "§\(key) == NO", nullable: [key]),
        Atom(text: "§\(key) != %@", arguments: [.value(true)], nullable: [key], isGuarded: true),
      ]
    }
    if let key = keys.uuids.first {
      choices += [
        Atom(text: "§\(key) == %@", arguments: [.value(numbers.one(of: Words.uuids))], nullable: [key]),
        Atom(text: "§\(key) IN %@", arguments: [.value(Array(Words.uuids.prefix(2)))], nullable: [key]),
      ]
    }
    if let key = keys.blobs.first {
      choices.append(
        Atom(text: "§\(key) == %@", arguments: [.value(numbers.one(of: Words.blobs))], nullable: [key]))
    }
    if let key = keys.urls.first {
      choices.append(
        Atom(text: "§\(key) == %@", arguments: [.value(numbers.one(of: Words.urls))], nullable: [key]))
    }
    return numbers.one(of: choices)
  }

  private mutating func _toOne(_ end: (key: String, entity: String)) -> Atom {
    let place = numbers.number(0..<12)
    switch numbers.number(0..<6) {
    case 0: return Atom(text: "§\(end.key) == nil")
    case 1: return Atom(text: "§\(end.key) != nil")
    case 2:
      return Atom(text: "§\(end.key) == %@", arguments: [.object(end.entity, place)], nullable: [end.key])
    case 3:
      return Atom(text: "§\(end.key) == %@", arguments: [.objectID(end.entity, place)], nullable: [end.key])
    case 4:
      return Atom(
        text: "§\(end.key) != %@", arguments: [.object(end.entity, place)], nullable: [end.key],
        isGuarded: true)
    default:
      return Atom(
        text: "§\(end.key) IN %@", arguments: [.objects(end.entity, [place, place + 1, place + 5])],
        nullable: [end.key])
    }
  }

  private mutating func _any(_ many: (key: String, entity: String)) -> Atom {
    switch numbers.number(0..<4) {
    case 0:
      return Atom(text: "§\(many.key) CONTAINS %@", arguments: [.object(many.entity, numbers.number(0..<12))])
    case 1: return Atom(text: "%@ IN §\(many.key)", arguments: [.object(many.entity, numbers.number(0..<12))])
    case 2:
      guard let key = Self._memberNumbers[many.entity].map({ numbers.one(of: $0) }) else { fallthrough }
      let op = numbers.one(of: ["==", ">", "<", "!="]), value = numbers.one(of: Words.integers)
      return Atom(
        text: "ANY §\(many.key).\(key) \(op) \(value)",
        memoryText: "SUBQUERY(§\(many.key), $y, $y.\(key) != nil AND $y.\(key) \(op) \(value)).@count > 0")
    default:
      let key = Self._memberTexts[many.entity]![0]
      let test = "\(numbers.one(of: ["==", "CONTAINS", "BEGINSWITH"]))\(_options()) %@"
      return Atom(
        text: "ANY §\(many.key).\(key) \(test)",
        arguments: [.value(numbers.one(of: Words.parts + Words.texts))])
    }
  }

  private mutating func _operator(_ many: (key: String, entity: String)) -> Atom {
    let op = numbers.one(of: ["==", ">", "<", ">=", "<="])
    guard let key = Self._memberNumbers[many.entity].map({ numbers.one(of: $0) }), numbers.chance(60) else {
      return Atom(text: "§\(many.key).@count \(op) \(numbers.number(0..<4))")
    }
    let function = numbers.one(of: ["sum", "min", "max"])
    let path = "\(many.key).@\(function).\(key)"
    return Atom(
      text: "§\(path) \(op) \(numbers.one(of: Words.integers))", nullable: function == "sum" ? [] : [path])
  }

  private mutating func _identity(_ entity: String) -> Atom {
    let end = entity == "Publication" ? "Book" : entity
    let place = numbers.number(0..<12)
    // Uses a key, since SELF in a subquery is the fetched object and not the member.
    switch numbers.number(0..<3) {
    case 0: return Atom(text: "§objectID == %@", arguments: [.object(end, place)])
    case 1: return Atom(text: "§objectID == %@", arguments: [.objectID(end, place)])
    default: return Atom(text: "§objectID IN %@", arguments: [.objects(end, [place, place + 3, place + 4])])
    }
  }
}
