import CoreDataModelSchema
import CoreDataPredicateLanguage
import CoreDataSQLiteBinding
import Foundation
import Synchronization
import TestSupport

@testable import CoreData

/// Records the statements that a store runs.
final class SQLLog: Sendable {
  private let _statements = Mutex<[String]>([])
  func append(_ statement: String) { _statements.withLock { $0.append(statement) } }
  var statements: [String] { _statements.withLock { $0 } }
  /// Returns the log and clears it.
  func take() -> [String] {
    _statements.withLock { statements in
      defer { statements = [] }
      return statements
    }
  }
}

/// A store in a temporary directory, with helpers that create rows and change sets.
final class StoreFixture {
  let directory: URL
  let layout: ModelLayout
  let engine: SQLiteStoreEngine
  let log = SQLLog()
  private let _entities: [NSEntityDescription]
  private let _temporary: [ObjectIDSpace]

  var url: URL { directory.appendingPathComponent("Store.sqlite") }

  init(_ schema: ModelSchema, options: SQLiteStoreOptions = SQLiteStoreOptions()) throws {
    directory = try TemporaryPlace.makeDirectory()
    layout = try ModelLayout(schema)
    let entities = layout.layouts.map { _ in NSEntityDescription() }
    _entities = entities
    _temporary = zip(layout.layouts, entities).map {
      ObjectIDSpace(layout: $0, entity: $1, store: nil, persistentStore: nil)
    }
    var options = options
    let log = log
    options.trace = { log.append($0.sql) }
    engine = try SQLiteStoreEngine(
      url: directory.appendingPathComponent("Store.sqlite"), layout: layout, entities: entities,
      persistentStore: nil,
      options: options, initialMetadata: ["NSStoreModelVersionHashesVersion": 3])
  }

  deinit {
    engine.close()
    try? FileManager.default.removeItem(at: directory)
  }

  /// Returns another engine on the same file.
  func reopened(_ options: SQLiteStoreOptions = SQLiteStoreOptions()) throws -> SQLiteStoreEngine {
    try SQLiteStoreEngine(
      url: url, layout: layout, entities: _entities, persistentStore: nil, options: options)
  }

  /// Opens a plain connection to the file.
  func connection() throws -> Connection { try Connection(path: url.path) }

  func entity(_ name: String) -> PropertyLayout { layout.layoutsByName[name]! }

  func slot(_ property: String, in entity: String) -> Int { self.entity(entity).slot(named: property)! }

  func temporaryID(_ entity: String) -> NSManagedObjectID {
    NSManagedObjectID(temporaryIn: _temporary[self.entity(entity).entityNumber - 1])
  }

  func row(_ entity: String, _ values: [String: Value], version: Int64 = 1) -> Row {
    var row = Row(count: self.entity(entity).slots.count, version: version)
    for (name, value) in values { row.set(value, at: slot(name, in: entity)) }
    return row
  }

  /// Returns an insertion with a temporary ID.
  func insertion(_ entity: String, _ values: [String: Value]) -> ChangeSet.Insertion {
    ChangeSet.Insertion(id: temporaryID(entity), row: row(entity, values))
  }

  /// Inserts objects and returns their keys.
  @discardableResult
  func insert(_ insertions: [ChangeSet.Insertion]) throws -> [ObjectKey] {
    try engine.commit(ChangeSet(inserted: insertions))
    return insertions.map { $0.id.key! }
  }

  @discardableResult
  func insert(_ entity: String, _ values: [String: Value]) throws -> ObjectKey {
    try insert([insertion(entity, values)])[0]
  }

  /// Returns an update of the row that the store has now.
  func update(_ key: ObjectKey, _ entity: String, _ values: [String: Value]) throws -> ChangeSet.Update {
    let base = try engine.rows(for: [key])[0]!
    var row = Row(copying: base, version: base.version + 1)
    for (name, value) in values { row.set(value, at: slot(name, in: entity)) }
    let changed = SlotSet(values.keys.map { slot($0, in: entity) })
    return ChangeSet.Update(id: NSManagedObjectID(key), base: base, row: row, changed: changed)
  }

  func plan(
    _ entity: String, _ predicate: PredicateTree? = nil, sort: [FetchPlan.SortTerm] = []
  ) -> FetchPlan {
    var plan = FetchPlan(layout: self.entity(entity))
    plan.predicate = predicate
    plan.sort = sort
    return plan
  }

  /// Returns the primary keys of the matches, in order.
  func keys(_ entity: String, _ predicate: PredicateTree? = nil, sort: [FetchPlan.SortTerm] = []) throws
    -> [Int64]
  {
    try engine.fetch(plan(entity, predicate, sort: sort)).map(\.key.reference)
  }

  /// Returns the SQL condition for a predicate.
  func condition(_ entity: String, _ predicate: PredicateTree) throws -> String {
    let text = try engine.compiled(plan(entity, predicate), .count).query.sql.text
    return String(text.dropFirst("SELECT COUNT(*) FROM ".count))
  }
}

extension ChangeSet {
  init(
    inserted: [Insertion] = [], updated: [Update] = [], deleted: [Deletion] = [], locked: [Lock] = []
  ) {
    self.init()
    self.inserted = inserted
    self.updated = updated
    self.deleted = deleted
    self.locked = locked
  }
}

// MARK: Short ways to say predicates

func key(_ path: String...) -> ExpressionTree { .keyPath(path) }
func text(_ value: String) -> ExpressionTree { .constant(.string(value)) }
func int(_ value: Int64) -> ExpressionTree { .constant(.int(value)) }
func object(_ key: ObjectKey) -> ExpressionTree {
  .constant(.object(PredicateObject(NSManagedObjectID(key))))
}
func compare(
  _ left: ExpressionTree, _ op: PredicateTree.Comparison.Operator, _ right: ExpressionTree,
  modifier: PredicateTree.Comparison.Modifier = .direct, options: PredicateTree.Comparison.Options = []
) -> PredicateTree {
  .comparison(PredicateTree.Comparison(left, op, right, modifier: modifier, options: options))
}

// MARK: Models

extension AttributeSchema {
  init(_ name: String, _ type: AttributeType) {
    self.init(traits: PropertyTraits(name: name), type: type)
  }
}

extension RelationshipSchema {
  static func one(_ name: String, _ destination: String, inverse: String?) -> RelationshipSchema {
    RelationshipSchema(traits: PropertyTraits(name: name), destination: destination, inverse: inverse)
  }

  static func many(
    _ name: String, _ destination: String, inverse: String?, ordered: Bool = false
  ) -> RelationshipSchema {
    RelationshipSchema(
      traits: PropertyTraits(name: name), destination: destination, inverse: inverse, maxCount: 0,
      isOrdered: ordered)
  }
}

extension EntitySchema {
  init(
    _ name: String, parent: String? = nil, _ attributes: [AttributeSchema] = [],
    _ relationships: [RelationshipSchema] = [], unique: [[String]] = [], indexes: [FetchIndexSchema] = []
  ) {
    self.init(name: name, parent: parent)
    self.attributes = attributes
    self.relationships = relationships
    uniquenessConstraints = unique
    self.indexes = indexes
  }
}

enum Models {
  /// Books with a subentity, pages, authors below writers: covers inheritance, to-ones and constraints.
  static let library = ModelSchema(entities: [
    EntitySchema(
      "Book",
      [
        AttributeSchema("frontCover", .transformable), AttributeSchema("pagesCount", .integer64),
        AttributeSchema("price", .decimal), AttributeSchema("publishedAt", .date),
        AttributeSchema("title", .string),
        AttributeSchema("uniqueID", .uuid),
      ],
      [.one("author", "Author", inverse: "books"), .many("pages", "Page", inverse: "book")],
      unique: [["uniqueID"]]),
    EntitySchema("GraphicNovel", parent: "Book", [AttributeSchema("isBlackAndWhite", .boolean)]),
    EntitySchema(
      "Feedback",
      [
        AttributeSchema("authorAlias", .string), AttributeSchema("bookID", .uuid),
        AttributeSchema("comment", .string),
        AttributeSchema("rating", .double),
      ]),
    EntitySchema(
      "Page",
      [
        AttributeSchema("content", .transformable), AttributeSchema("isBookmarked", .boolean),
        AttributeSchema("number", .integer32),
      ], [.one("book", "Book", inverse: "pages")]),
    EntitySchema("Writer", [AttributeSchema("age", .integer16)]),
    EntitySchema(
      "Author", parent: "Writer", [AttributeSchema("alias", .string)],
      [.many("books", "Book", inverse: "author")],
      unique: [["alias"]]),
  ])

  /// Bookmarks: an ordered tree, and a self-referencing many-to-many ordered at one end.
  static let bookmarks = ModelSchema(entities: [
    EntitySchema(
      "BookmarkEntity",
      [
        AttributeSchema("isFolder", .boolean), AttributeSchema("isPendingDeletion", .boolean),
        AttributeSchema("lastChildrenPayloadReceivedFromSync", .string), AttributeSchema("modifiedAt", .date),
        AttributeSchema("title", .string), AttributeSchema("url", .string), AttributeSchema("uuid", .string),
      ],
      [
        .many("children", "BookmarkEntity", inverse: "parent", ordered: true),
        .many("favoriteFolders", "BookmarkEntity", inverse: "favorites"),
        .many("favorites", "BookmarkEntity", inverse: "favoriteFolders", ordered: true),
        .one("parent", "BookmarkEntity", inverse: "children"),
      ],
      indexes: [
        FetchIndexSchema(
          name: "byUUID", elements: [.init(property: "uuid"), .init(property: "isPendingDeletion")]),
        FetchIndexSchema(
          name: "byURL", elements: [.init(property: "url"), .init(property: "isPendingDeletion")]),
        FetchIndexSchema(name: "byIsPendingDeletion", elements: [.init(property: "isPendingDeletion")]),
      ])
  ])

  /// Stops on routes, tags on stops, and every type of attribute.
  static let transit = ModelSchema(entities: [
    EntitySchema(
      "Route", [AttributeSchema("name", .string)], [.many("stops", "Stop", inverse: "route")]),
    EntitySchema(
      "Stop",
      [
        AttributeSchema("active", .boolean), AttributeSchema("code", .integer64),
        AttributeSchema("createdAt", .date),
        AttributeSchema("fare", .decimal), AttributeSchema("identifier", .string),
        AttributeSchema("latitude", .double),
        AttributeSchema("link", .uri), AttributeSchema("name", .string),
        AttributeSchema("photo", .binaryData),
        AttributeSchema("token", .uuid), .external("scan"), AttributeSchema("style", .transformable),
      ],
      [
        .one("route", "Route", inverse: "stops"), .many("tags", "Tag", inverse: "stops"),
        .many("notices", "Notice", inverse: nil),
      ], unique: [["identifier"]]),
    EntitySchema(
      "Tag", [AttributeSchema("label", .string)], [.many("stops", "Stop", inverse: "tags", ordered: true)]),
    EntitySchema("Notice", [AttributeSchema("text", .string)]),
    EntitySchema(
      "Person", [AttributeSchema("name", .string)], [.many("friends", "Person", inverse: "friends")]),
  ])
}

extension AttributeSchema {
  static func external(_ name: String) -> AttributeSchema {
    var attribute = AttributeSchema(name, .binaryData)
    attribute.allowsExternalBinaryDataStorage = true
    return attribute
  }
}
