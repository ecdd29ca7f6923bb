import CoreData
import CoreDataPostgreSQL
import Foundation
import PostgreSQLServer
import Testing

/// A model with attributes of all types, all kinds of relationships and subentities.
enum TestModel {
  static func make() -> NSManagedObjectModel {
    let model = NSManagedObjectModel()
    let person = entity("Person"), student = entity("Student"), company = entity("Company")
    let tag = entity("Tag"), list = entity("PlayList"), track = entity("Track"), note = entity("Note")
    person.properties = [
      attribute("firstName", .stringAttributeType), attribute("age", .integer16AttributeType),
      attribute("points", .integer32AttributeType), attribute("total", .integer64AttributeType),
      attribute("height", .doubleAttributeType), attribute("weight", .floatAttributeType),
      attribute("isActive", .booleanAttributeType), attribute("birthday", .dateAttributeType),
      attribute("token", .UUIDAttributeType), attribute("wage", .decimalAttributeType),
      attribute("photo", .binaryDataAttributeType), attribute("homePage", .URIAttributeType),
    ]
    student.properties = [attribute("school", .stringAttributeType)]
    company.properties = [attribute("name", .stringAttributeType)]
    tag.properties = [attribute("name", .stringAttributeType)]
    tag.uniquenessConstraints = [["name"]]
    list.properties = [attribute("title", .stringAttributeType)]
    track.properties = [attribute("title", .stringAttributeType)]
    note.properties = [attribute("text", .stringAttributeType)]
    relate(person, "employer", company, "staff", toMany: (false, true))
    relate(person, "tags", tag, "people", toMany: (true, true))
    relate(list, "tracks", track, "list", toMany: (true, false), ordered: (true, false))
    relate(list, "fans", person, "favorites", toMany: (true, true), ordered: (true, false))
    // A to-many without inverse.
    company.properties.append(relationship("notes", note, toMany: true, ordered: false))
    person.subentities = [student]
    model.entities = [person, student, company, tag, list, track, note]
    return model
  }

  static func entity(_ name: String) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    entity.managedObjectClassName = "NSManagedObject"
    return entity
  }

  static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.isOptional = true
    return attribute
  }

  static func relationship(
    _ name: String, _ destination: NSEntityDescription, toMany: Bool, ordered: Bool
  ) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    relationship.name = name
    relationship.destinationEntity = destination
    relationship.maxCount = toMany ? 0 : 1
    relationship.minCount = 0
    relationship.isOptional = true
    relationship.isOrdered = ordered
    relationship.deleteRule = .nullifyDeleteRule
    return relationship
  }

  static func relate(
    _ one: NSEntityDescription, _ name: String, _ other: NSEntityDescription, _ back: String,
    toMany: (Bool, Bool), ordered: (Bool, Bool) = (false, false)
  ) {
    let forth = relationship(name, other, toMany: toMany.0, ordered: ordered.0)
    let inverse = relationship(back, one, toMany: toMany.1, ordered: ordered.1)
    forth.inverseRelationship = inverse
    inverse.inverseRelationship = forth
    one.properties.append(forth)
    other.properties.append(inverse)
  }
}

/// A coordinator with one store on the tests' server.
struct ServerStack {
  let coordinator: NSPersistentStoreCoordinator
  let store: NSPersistentStore
  let url: URL

  init(
    _ model: NSManagedObjectModel = TestModel.make(), at url: URL? = nil, options: [AnyHashable: Any]? = nil
  ) throws {
    let server = try #require(PostgreSQLServer.shared)
    self.url = url ?? server.newURL()
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    store = try coordinator.addPersistentStore(
      ofType: NSPostgreSQLStoreType, configurationName: nil, at: self.url, options: options)
  }

  func context(_ policy: NSMergePolicy = .error) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    context.mergePolicy = policy
    return context
  }
}

extension NSManagedObjectContext {
  @discardableResult
  func make(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
    for (key, value) in values.sorted(by: { $0.key < $1.key }) { object.setValue(value, forKey: key) }
    return object
  }

  func all(_ entity: String, _ format: String? = nil, sortedBy key: String? = nil) throws -> [NSManagedObject]
  {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    if let format { request.predicate = NSPredicate(format: format) }
    if let key { request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)] }
    return try fetch(request)
  }

  func texts(_ entity: String, _ key: String, _ format: String? = nil) throws -> [String] {
    try all(entity, format, sortedBy: key).map { $0.value(forKey: key) as? String ?? "-" }
  }
}
