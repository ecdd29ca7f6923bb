import CoreData
import Foundation
import TestSupport
import Testing

/// A population of `LibraryModel`, the same in every store.
final class Population: @unchecked Sendable {
  // Unchecked: filled by the initializer and only read afterwards, in the stack's context.
  let stack: TestStack
  private(set) var objects: [String: [NSManagedObject]] = [:]
  private var _places: [NSManagedObjectID: String] = [:]

  init(_ setting: Setting) throws {
    stack = try TestStack(setting)
    try stack.context.performAndWait {
      var numbers = SeededRandom(seed: 2026)
      _insert(&numbers)
      try stack.context.save()
      for (entity, list) in objects where entity != "Novel" {
        for (place, object) in list.enumerated() { _places[object.objectID] = "\(entity) \(place)" }
      }
    }
  }

  private func _insert(_ numbers: inout SeededRandom) {
    let context = stack.context
    func maybe<T>(_ value: T) -> T? { numbers.chance(80) ? value : nil }
    func insert(_ entity: String, _ pairs: [String: Any?]) -> NSManagedObject {
      let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
      for (key, value) in pairs.sorted(by: { $0.key < $1.key }) { object.setValue(value, forKey: key) }
      return object
    }
    var authors: [NSManagedObject] = []
    for _ in 0..<24 {
      let mentor = authors.isEmpty ? nil : maybe(numbers.one(of: authors))
      let name = maybe(numbers.one(of: Words.texts)), age = maybe(numbers.one(of: Words.integers))
      authors.append(insert("Author", ["name": name, "age": age, "mentor": mentor]))
    }
    let tags = (0..<14).map { _ in insert("Tag", ["name": maybe(numbers.one(of: Words.texts))]) }
    var books: [NSManagedObject] = [], novels: [NSManagedObject] = []
    for number in 0..<90 {
      let title = maybe(numbers.one(of: Words.texts))
      let pages = maybe(numbers.one(of: Words.integers)), copies = maybe(numbers.one(of: Words.integers))
      let price = maybe(numbers.one(of: Words.doubles)), weight = maybe(Float(numbers.one(of: Words.doubles)))
      let cost = maybe(NSDecimalNumber(string: numbers.one(of: Words.decimals)))
      let published = maybe(Date(timeIntervalSinceReferenceDate: numbers.one(of: Words.dates)))
      let inPrint = maybe(numbers.chance(50)), isbn = maybe(numbers.one(of: Words.uuids))
      let cover = maybe(numbers.one(of: Words.blobs)), page = maybe(numbers.one(of: Words.urls))
      let author = maybe(numbers.one(of: authors))
      var pairs: [String: Any?] = [
        "title": title, "pages": pages, "copies": copies, "price": price, "weight": weight, "cost": cost,
        "published": published, "inPrint": inPrint, "isbn": isbn, "cover": cover, "page": page,
        "author": author,
      ]
      if number % 3 == 0 { pairs["genre"] = .some(maybe(numbers.one(of: Words.texts))) }
      let book = insert(number % 3 == 0 ? "Novel" : "Book", pairs)
      book.setValue(Set((0..<numbers.number(0..<4)).map { _ in numbers.one(of: tags) }), forKey: "tags")
      books.append(book)
      if number % 3 == 0 { novels.append(book) }
    }
    var chapters: [NSManagedObject] = []
    for _ in 0..<60 {
      let heading = maybe(numbers.one(of: Words.texts)), book = maybe(numbers.one(of: books))
      chapters.append(insert("Chapter", ["heading": heading, "book": book]))
    }
    objects = ["Author": authors, "Tag": tags, "Book": books, "Novel": novels, "Chapter": chapters]
  }

  private func _argument(_ argument: GeneratedPredicate.Argument) -> Any {
    func object(_ entity: String, _ place: Int) -> NSManagedObject {
      let list = objects[entity]!
      return list[place % list.count]
    }
    return switch argument {
    case .value(let value): value
    case .object(let entity, let place): object(entity, place)
    case .objectID(let entity, let place): object(entity, place).objectID
    case .objects(let entity, let places): places.map { object(entity, $0) }
    }
  }

  func predicate(_ format: String, _ arguments: [GeneratedPredicate.Argument]) throws -> NSPredicate {
    try NSPredicate(parsing: format, arguments: arguments.map(_argument))
  }

  /// Returns the names that a fetch of saved objects finds.
  func fetched(_ entity: String, _ predicate: NSPredicate, subentities: Bool) throws -> Set<String> {
    let request = NSFetchRequest<NSManagedObjectID>(entityName: entity)
    request.resultType = .managedObjectIDResultType
    request.predicate = predicate
    request.includesSubentities = subentities
    let found = try stack.context.fetch(request)
    #expect(Set(found).count == found.count, "each object comes once: \(predicate)")
    return Set(found.map { _places[$0] ?? "unknown \($0)" })
  }

  /// Returns the names of the objects for which evaluating the predicate gives true.
  func evaluated(_ entity: String, _ predicate: NSPredicate, subentities: Bool) throws -> Set<String> {
    let wanted = stack.coordinator.managedObjectModel.entitiesByName[entity]!
    var all = Set<NSManagedObject>()
    for list in objects.values { all.formUnion(list) }
    let found = try all.filter { object in
      let fits = subentities ? object.entity.isKindOf(entity: wanted) : object.entity.name == entity
      return try fits && predicate.matches(object)
    }
    return Set(found.map { _places[$0.objectID] ?? "unknown" })
  }
}

/// Random predicates find the same objects in SQLite, in the memory store, and when evaluated on the objects.
@Suite struct DifferentialTests {
  /// A disagreement in a run, with the information to reproduce it.
  struct Disagreement: CustomStringConvertible {
    let number: Int, entity: String, sql: String, memory: String, arguments: String
    let missing: [String], extra: [String], who: String
    var description: String {
      "#\(number) \(entity): \(sql) | memory: \(memory) | \(arguments) | \(who) lacks \(missing.prefix(4)), has too many \(extra.prefix(4))"
    }
  }

  private static func shortest(_ found: [Disagreement]) -> String {
    found.sorted { $0.sql.count < $1.sql.count }.prefix(6).map(\.description).joined(separator: "\n")
  }

  @Test(arguments: 0..<8) func `generated predicates agree`(_ part: Int) throws {
    let sqlite = try Population(.sqlite), memory = try Population(.memory)
    var generator = PredicateGenerator(numbers: SeededRandom(seed: UInt64(1000 + part)))
    var found: [Disagreement] = []
    var matched = 0
    var refused = 0
    for number in 0..<320 {
      let entity = generator.numbers.one(of: [
        "Book", "Book", "Book", "Novel", "Author", "Author", "Chapter", "Tag", "Publication",
      ])
      let subentities = generator.numbers.chance(80)
      let predicate = generator.predicate(for: entity)
      let (sql, plain) = (predicate.sql(), predicate.memory())
      do {
        let fromSQL = try sqlite.stack.context.performAndWait {
          try sqlite.fetched(entity, sqlite.predicate(sql, predicate.arguments), subentities: subentities)
        }
        let fromMemory = try memory.stack.context.performAndWait {
          try memory.fetched(entity, memory.predicate(plain, predicate.arguments), subentities: subentities)
        }
        let fromObjects = try sqlite.stack.context.performAndWait {
          try sqlite.evaluated(entity, sqlite.predicate(plain, predicate.arguments), subentities: subentities)
        }
        if !fromSQL.isEmpty { matched += 1 }
        for (who, other) in [("the memory store", fromMemory), ("evaluation", fromObjects)]
        where other != fromSQL {
          found.append(
            Disagreement(
              number: number, entity: entity, sql: sql, memory: plain, arguments: "\(predicate.arguments)",
              missing: fromSQL.subtracting(other).sorted(), extra: other.subtracting(fromSQL).sorted(),
              who: who))
        }
      } catch let error where TestDatabase.refuses(error) {
        refused += 1
      } catch {
        found.append(
          Disagreement(
            number: number, entity: entity, sql: sql, memory: plain, arguments: "\(predicate.arguments)",
            missing: [],
            extra: ["\(error)"], who: "an error"))
      }
    }
    let isEmpty = found.isEmpty
    #expect(isEmpty, "\(found.count) disagree, such as \(Self.shortest(found))")
    // Predicates without matches prove little, and refused ones nothing.
    #expect(matched > 100)
    #expect(refused < 24)
  }
}
