import CoreData
import CoreDataStacks
import Foundation
import Observation
import Testing

// Classes and repositories in the style of applications, without `required` initializers.

class Publication: NSManagedObject {
  @NSManaged var title: String?
  /// The argument of the class's own designated initializer.
  private(set) var isMadeByDesignatedInitializer = false

  override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    super.init(entity: entity, insertInto: context)
    isMadeByDesignatedInitializer = true
  }

  convenience init(title: String, in context: NSManagedObjectContext) {
    self.init(context: context)
    self.title = title
  }

  class func made(in context: NSManagedObjectContext) -> Self { Self(context: context) }
}

final class Magazine: Publication {}

// NSManagedObject does not conform to Observable, so this conformance is not redundant.
extension Magazine: Observable {}

protocol Creatable: NSManagedObject {}

extension Creatable {
  init(creatingIn context: NSManagedObjectContext) { self.init(context: context) }
  static func create(in context: NSManagedObjectContext) -> Self { .init(context: context) }
}

extension Magazine: Creatable {}

private struct Repository<Object: NSManagedObject> {
  let context: NSManagedObjectContext
  func create() -> Object { Object(context: context) }
  func create(_ entity: NSEntityDescription) -> Object { Object(entity: entity, insertInto: context) }
  func createByStack() -> Object { Object(managedObjectContext: context) }
}

@Suite("Creating objects of a class known only at run time")
struct GenericCreationTests {
  /// Immutable after its first use.
  nonisolated(unsafe) static let model: NSManagedObjectModel = {
    let publication = NSEntityDescription()
    publication.name = "Publication"
    publication.managedObjectClassName = NSStringFromClass(Publication.self)
    let title = NSAttributeDescription()
    title.name = "title"
    title.attributeType = .stringAttributeType
    publication.properties = [title]
    let magazine = NSEntityDescription()
    magazine.name = "Magazine"
    magazine.managedObjectClassName = NSStringFromClass(Magazine.self)
    publication.subentities = [magazine]
    let model = NSManagedObjectModel()
    model.entities = [publication, magazine]
    return model
  }()

  private let _context: NSManagedObjectContext

  init() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model)
    try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
    _context = NSManagedObjectContext(.privateQueue)
    _context.persistentStoreCoordinator = coordinator
  }

  @Test func `a generic type is created by its designated initializer`() {
    _context.performAndWait {
      let magazine: Magazine = Repository(context: _context).create()
      #expect(magazine.isMadeByDesignatedInitializer)
      #expect(magazine.entity.name == "Magazine")
      #expect(_context.insertedObjects == [magazine])
    }
  }

  @Test func `a generic type is created of an entity`() throws {
    try _context.performAndWait {
      let entity = try #require(Self.model.entitiesByName["Magazine"])
      let magazine: Publication = Repository(context: _context).create(entity)
      #expect(magazine.entity.name == "Magazine")
    }
  }

  @Test func `a generic type is created by the stack's initializer`() {
    _context.performAndWait {
      let magazine: Magazine = Repository(context: _context).createByStack()
      #expect(magazine.managedObjectContext === _context)
    }
  }

  @Test func `Self and a protocol's self create the class itself`() {
    _context.performAndWait {
      #expect(Magazine.made(in: _context).entity.name == "Magazine")
      #expect(Publication.made(in: _context).entity.name == "Publication")
      #expect(Magazine.create(in: _context).entity.name == "Magazine")
      #expect(Magazine(creatingIn: _context).isMadeByDesignatedInitializer)
      #expect(Magazine(title: "Vogue", in: _context).title == "Vogue")
    }
  }

  @Test func `any managed class has a request for its entity in a context`() throws {
    try _context.performAndWait {
      _ = Magazine(title: "Vogue", in: _context)
      let request = Magazine.fetchRequestForEntity(inContext: _context)
      let titles = try _context.fetch(request).map(\.title)
      #expect(titles == ["Vogue"])
    }
  }
}
