import Foundation
import Testing

@testable import CoreData

@Suite("Migration manager")
struct MigrationManagerTests {
  private let fixture: MigrationFixture
  private let old: NSManagedObjectModel
  private let new: NSManagedObjectModel
  private var copy: URL { fixture.url.deletingLastPathComponent().appendingPathComponent("Copy.sqlite") }

  init() throws {
    fixture = try MigrationFixture()
    old = try fixture.model(ModelText.library)
    new = try fixture.model(ModelText.publishing)
    try fixture.open(old, options: nil) { context in
      let jane = context.make("Author", ["name": "jane"])
      context.make("Author", ["name": "anne"])
      context.make("Book", ["title": "Emma", "pages": 474, "author": jane])
      context.make("Book", ["title": "Persuasion", "pages": 249, "author": jane])
      context.make("Book", ["title": "Beowulf", "pages": 120])
      try context.save()
    }
  }

  // MARK: Mappings

  private func mapping(
    _ name: String, _ source: String?, _ destination: String?, attributes: [(String, String?)] = [],
    relationships: [(String, String?)] = [], policy: NSEntityMigrationPolicy.Type? = nil
  ) -> NSEntityMapping {
    func properties(_ list: [(String, String?)]) -> [NSPropertyMapping] {
      list.map { name, expression in
        let property = NSPropertyMapping()
        property.name = name
        property.valueExpression = expression.map { NSExpression(format: $0) }
        return property
      }
    }
    let mapping = NSEntityMapping()
    mapping.name = name
    mapping.sourceEntityName = source
    mapping.destinationEntityName = destination
    mapping.mappingType = policy == nil ? .transformEntityMappingType : .customEntityMappingType
    mapping.attributeMappings = properties(attributes)
    mapping.relationshipMappings = properties(relationships)
    mapping.entityMigrationPolicyClassName = policy.map { String(reflecting: $0) }
    return mapping
  }

  private func members(_ mapping: String, _ relationship: String) -> String {
    "FUNCTION($manager, 'destinationInstancesForEntityMappingNamed:sourceInstances:', '\(mapping)', $source.\(relationship))"
  }

  private func model(_ mappings: NSEntityMapping...) -> NSMappingModel {
    let model = NSMappingModel()
    model.entityMappings = mappings
    return model
  }

  private func authors(_ policy: NSEntityMigrationPolicy.Type? = nil) -> NSEntityMapping {
    mapping(
      "AuthorToAuthor", "Author", "Author",
      attributes: [("name", "$source.name"), ("initial", "uppercase($source.name)")],
      relationships: [("works", members("BookToWork", "books"))], policy: policy)
  }

  private func works(_ policy: NSEntityMigrationPolicy.Type? = nil) -> NSEntityMapping {
    mapping(
      "BookToWork", "Book", "Work",
      attributes: [("title", "$source.title"), ("length", "CAST($source.pages, 'NSString')")],
      relationships: [("author", members("AuthorToAuthor", "author"))], policy: policy)
  }

  @discardableResult
  private func migrate(_ mapping: NSMappingModel, _ manager: NSMigrationManager? = nil) throws
    -> NSMigrationManager
  {
    let manager = manager ?? NSMigrationManager(sourceModel: old, destinationModel: new)
    try manager.migrateStore(
      from: fixture.url, type: .sqlite, mapping: mapping, to: copy, type: .sqlite)
    return manager
  }

  private func opened<T>(_ body: (NSManagedObjectContext) throws -> T) throws -> T {
    try fixture.open(new, at: copy, options: nil, body)
  }

  private func code(_ body: () throws -> Void) -> Int? {
    do {
      try body()
      return nil
    } catch {
      return (error as NSError).code
    }
  }

  // MARK: What comes out

  @Test(.ofFiles) func `Expressions compute values and associations give links`() throws {
    try migrate(model(authors(), works()))
    try opened { context in
      let authors = try context.listed("Author", by: "name")
      #expect(authors.keys.sorted() == ["anne", "jane"])
      #expect(authors["jane"]?.value(forKey: "initial") as? String == "JANE")
      #expect(authors["jane"]?.texts("works", "title") == ["Emma", "Persuasion"])
      let emma = try context.listed("Work", by: "title")["Emma"]
      #expect(emma?.value(forKey: "length") as? String == "474")
      let beowulf = try context.listed("Work", by: "title")["Beowulf"]
      #expect(beowulf?.value(forKey: "author") == nil)
    }
    // The source is unchanged.
    try fixture.open(old, options: nil) { try #expect($0.texts("Book", "title").count == 3) }
  }

  @Test(.ofFiles)
  func `A key path leads through relationships of the source`() throws {
    let works = mapping(
      "BookToWork", "Book", "Work",
      attributes: [("title", "$source.title"), ("length", "$source.author.name")])
    try migrate(model(works))
    try opened { context in
      let works = try context.listed("Work", by: "title")
      #expect(works["Emma"]?.value(forKey: "length") as? String == "jane")
      #expect(works["Beowulf"]?.value(forKey: "length") == nil)
    }
  }

  @Test(.ofFiles)
  func `A source expression chooses the objects that are mapped`() throws {
    let works = works()
    works.sourceExpression = NSExpression(
      format:
        "FETCH(FUNCTION($manager, 'fetchRequestForSourceEntityNamed:predicateString:', 'Book', 'pages > 200'), $manager.sourceContext, NO)"
    )
    try migrate(model(works))
    try opened { try #expect($0.texts("Work", "title") == ["Emma", "Persuasion"]) }
  }

  @Test(.ofFiles)
  func `Objects of subentities are not mapped with their parent's`() throws {
    let fixture = try MigrationFixture()
    let parent = ModelText.entity("P", "", ModelText.text("n"))
    let child = ModelText.entity("C", "parentEntity=\"P\"")
    let (old, new) = (
      try fixture.model(parent + child),
      try fixture.model(parent + ModelText.entity("C", "parentEntity=\"P\"", ModelText.text("m")))
    )
    try fixture.open(old, options: nil) { context in
      context.make("P", ["n": "p"])
      context.make("C", ["n": "c"])
      try context.save()
    }
    let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
    manager.usesStoreSpecificMigrationManager = false
    let copy = fixture.url.deletingLastPathComponent().appendingPathComponent("Copy.sqlite")
    try manager.migrateStore(
      from: fixture.url, type: .sqlite,
      mapping: .inferredMappingModel(forSourceModel: old, destinationModel: new), to: copy, type: .sqlite)
    try fixture.open(new, at: copy, options: nil) { context in
      try #expect(context.count(for: NSFetchRequest<NSManagedObject>(entityName: "P")) == 2)
      try #expect(context.count(for: NSFetchRequest<NSManagedObject>(entityName: "C")) == 1)
    }
  }

  @Test(.ofFiles)
  func `A destination that is there gets the objects in addition`() throws {
    try fixture.open(new, at: copy, options: nil) { context in
      context.make("Author", ["name": "homer"])
      try context.save()
    }
    try migrate(model(authors()))
    try opened { try #expect($0.texts("Author", "name") == ["anne", "homer", "jane"]) }
  }

  @Test(.ofFiles)
  func `The destination is a separate store`() throws {
    try migrate(model(authors()))
    func uuid(_ url: URL) throws -> String? {
      try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)[NSStoreUUIDKey]
        as? String
    }
    try #expect(uuid(copy) != nil)
    try #expect(uuid(copy) != uuid(fixture.url))
  }

  // MARK: Policies

  @Test(.ofFiles) func `Each pass finishes for all mappings before the next`() throws {
    let manager = try migrate(model(authors(NotingPolicy.self), works(NotingPolicy.self)))
    let (a, b) = ("AuthorToAuthor", "BookToWork")
    #expect(
      manager.userInfo?["notes"] as? [String] == [
        "begin \(a)", "create \(a)", "create \(a)", "created \(a)",
        "begin \(b)", "create \(b)", "create \(b)", "create \(b)", "created \(b)",
        "relate \(a)", "relate \(a)", "related \(a)",
        "relate \(b)", "relate \(b)", "relate \(b)", "related \(b)",
        "validate \(a)", "end \(a)", "validate \(b)", "end \(b)",
      ])
  }

  @Test(.ofFiles)
  func `A policy makes several objects of one, or none`() throws {
    try migrate(model(authors(), works(SplittingPolicy.self)))
    try opened { context in
      try #expect(context.texts("Work", "title") == ["Emma 1", "Emma 2"])
      // They were associated, so that relationships find them.
      try #expect(
        context.listed("Author", by: "name")["jane"]?.texts("works", "title") == ["Emma 1", "Emma 2"])
    }
  }

  @Test(.ofFiles)
  func `A policy shares an object by the manager's user information`() throws {
    try migrate(model(authors(SharingPolicy.self)))
    try opened { context in
      try #expect(context.texts("House", "name") == ["Murray"])
      try #expect(context.texts("Author", "initial") == ["Murray"])
    }
  }

  @Test(.ofFiles)
  func `A policy answers to functions in expressions`() throws {
    let authors = mapping(
      "AuthorToAuthor", "Author", "Author",
      attributes: [
        ("name", "$source.name"), ("initial", "FUNCTION($entityPolicy, 'initialOf:', $source.name)"),
      ],
      policy: AnsweringPolicy.self)
    try migrate(model(authors))
    try opened { try #expect($0.texts("Author", "initial") == ["A", "J"]) }
  }

  @Test(.ofFiles) func `a manager with SelectorPerforming answers to functions`() throws {
    let authors = mapping(
      "AuthorToAuthor", "Author", "Author",
      attributes: [("name", "$source.name"), ("initial", "FUNCTION($manager, 'initialOf:', $source.name)")])
    try migrate(model(authors), AnsweringManager(sourceModel: old, destinationModel: new))
    try opened { try #expect($0.texts("Author", "initial") == ["A", "J"]) }
  }

  @Test(.ofFiles) func `Objects are plain NSManagedObjects during a migration`() throws {
    let classed = try fixture.model(ModelText.publishing)
    for entity in classed.entities { entity.managedObjectClassName = String(reflecting: HookedAuthor.self) }
    let manager = NSMigrationManager(sourceModel: old, destinationModel: classed)
    try migrate(model(authors(WatchingPolicy.self)), manager)
    #expect(Set(manager.userInfo?["classes"] as? [String] ?? []) == ["NSManagedObject"])
    let progress = manager.userInfo?["progress"] as? [Float] ?? []
    #expect(progress.count == 2 && progress[0] > 0.3 && progress[1] > progress[0] && progress[1] < 1)
    #expect(manager.userInfo?["mapping"] as? String == "AuthorToAuthor")
    #expect(manager.migrationProgress == 0)
    #expect(manager.currentEntityMapping.sourceEntityName == nil)
  }

  @Test(
    .ofFiles,
    arguments: ["creation", "relationships", "end"])
  func `An error in a policy ends the migration`(_ place: String) throws {
    let works = works(FailingPolicy.self)
    works.userInfo = ["fails": place]
    #expect(throws: FailingPolicy.Failure(place: place)) { try migrate(model(authors(), works)) }
    #expect(!FileManager.default.fileExists(atPath: copy.path))
    try fixture.open(old, options: nil) { try #expect($0.texts("Book", "title").count == 3) }
  }

  @Test(.ofFiles)
  func `A cancelled migration fails with the error that it was given`() throws {
    #expect(code { try migrate(model(authors(CancellingPolicy.self))) } == NSMigrationCancelledError)
    #expect(!FileManager.default.fileExists(atPath: copy.path))
  }

  @Test(.ofFiles)
  func `A manager is used again after a reset`() throws {
    let manager = try migrate(model(authors()))
    #expect(
      !manager.destinationInstances(forEntityMappingName: "AuthorToAuthor", sourceInstances: nil).isEmpty)
    manager.reset()
    #expect(
      manager.destinationInstances(forEntityMappingName: "AuthorToAuthor", sourceInstances: nil).isEmpty)
    try migrate(model(works()), manager)
    try opened { context in
      try #expect(context.texts("Author", "name") == ["anne", "jane"])
      try #expect(context.texts("Work", "title").count == 3)
    }
  }

  @Test(.ofFiles) func `A migration that was cancelled beforehand does not start`() throws {
    let same = try fixture.model(ModelText.library + ModelText.entity("Extra"))
    let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: same)
    for isSpecific in [true, false] {
      let manager = NSMigrationManager(sourceModel: old, destinationModel: same)
      manager.usesStoreSpecificMigrationManager = isSpecific
      manager.cancelMigrationWithError(CocoaError(CocoaError.Code(rawValue: NSMigrationCancelledError)))
      #expect(code { try migrate(mapping, manager) } == NSMigrationCancelledError)
      #expect(!FileManager.default.fileExists(atPath: copy.path))
      try migrate(mapping, manager)
      try FileManager.default.removeItem(at: copy)
    }
  }

  // MARK: What does not fit

  @Test(.ofFiles) func `A mapping that fits other models is refused at the start`() throws {
    let otherHash = authors()
    otherHash.sourceEntityVersionHash = Data(count: 32)
    let unknownEntity = mapping("X", "Nobody", "Author")
    let unknownProperty = mapping("X", "Author", "Author", attributes: [("shoeSize", nil)])
    for mapping in [otherHash, unknownEntity, unknownProperty] {
      #expect(code { try migrate(model(mapping)) } == NSMigrationError)
    }
    #expect(!FileManager.default.fileExists(atPath: copy.path))
  }

  @Test(.ofFiles) func `A wrong key or type in an expression is an error`() throws {
    for expression in [
      "$source.shoeSize", "$source.books", "$nobody", "FUNCTION($manager, 'burn:', 1)", "$source.name + 1",
    ] {
      let authors = mapping("A", "Author", "Author", attributes: [("name", expression)])
      #expect(code { try migrate(model(authors)) } == NSMigrationError, "\(expression)")
    }
  }

  @Test(.ofFiles)
  func `A missing policy class is a distinct error`() throws {
    let authors = authors()
    authors.entityMigrationPolicyClassName = "Nowhere.Nobody"
    #expect(code { try migrate(model(authors)) } == NSEntityMigrationPolicyError)
  }

  @Test(.ofFiles)
  func `Stores that cannot be used are told apart`() throws {
    let manager = NSMigrationManager(sourceModel: new, destinationModel: old)
    // The store does not match the source model.
    #expect(code { try migrate(NSMappingModel(), manager) } == NSMigrationManagerSourceStoreError)
    try Data("no store".utf8).write(to: copy)
    #expect(code { try migrate(model(authors())) } == NSMigrationManagerDestinationStoreError)
    try #expect(Data(contentsOf: copy) == Data("no store".utf8))
    let other = NSMigrationManager(sourceModel: old, destinationModel: new)
    #expect(
      code {
        try other.migrateStore(
          from: fixture.url, sourceType: NSSQLiteStoreType, with: nil, toDestinationURL: copy,
          destinationType: NSSQLiteStoreType)
      } == NSMigrationMissingMappingModelError)
  }

  @Test(.ofFiles) func `Invalid objects end the migration with their errors`() throws {
    let strict = try fixture.model(
      ModelText.publishing.replacing(
        "<attribute name=\"initial\" attributeType=\"String\" optional=\"YES\"/>",
        with: "<attribute name=\"initial\" attributeType=\"String\"/>"))
    let manager = NSMigrationManager(sourceModel: old, destinationModel: strict)
    let authors = mapping("A", "Author", "Author", attributes: [("name", "$source.name")])
    let error = #expect(throws: CocoaError.self) { try migrate(model(authors), manager) }
    #expect(error?.code.rawValue == NSMigrationError)
    let underlying = (error as NSError?)?.userInfo[NSUnderlyingErrorKey] as? NSError
    #expect(underlying?.code == NSValidationMultipleErrorsError)
    #expect(!FileManager.default.fileExists(atPath: copy.path))
  }
}
