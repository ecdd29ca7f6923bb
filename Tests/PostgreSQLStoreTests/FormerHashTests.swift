import CoreData
import CoreDataModelSchema
import Foundation
import PostgreSQLServer
import Testing

@testable import CoreDataPostgreSQL

/// Stores on a server that an earlier version of this package wrote, with other hashes for some entities.
@Suite(
  "Hashes by the former rule on a server",
  .enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct FormerHashTests {
  private static func _model() -> NSManagedObjectModel {
    let person = TestModel.entity("Person")
    person.properties = [TestModel.attribute("name", .stringAttributeType)]
    let friends = TestModel.relationship("friends", person, toMany: true, ordered: false)
    friends.inverseRelationship = friends
    person.properties.append(friends)
    let model = NSManagedObjectModel()
    model.entities = [person]
    return model
  }

  /// The hash that an earlier version gave to the model's entity.
  private static func _former() -> [String: Data] {
    var person = EntitySchema(name: "Person")
    person.attributes = [AttributeSchema(traits: PropertyTraits(name: "name"), type: .string)]
    person.relationships = [
      RelationshipSchema(
        traits: PropertyTraits(name: "friends"), destination: "Person", inverse: "friends", maxCount: 0)
    ]
    return ModelSchema(entities: [person]).entityVersionHashes(.former).mapValues { Data($0) }
  }

  private func _stored(_ url: URL) throws -> [String: Data]? {
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: NSPostgreSQLStoreType, at: url)
    return metadata[NSStoreModelVersionHashesKey] as? [String: Data]
  }

  private func _save(_ url: URL) throws {
    let stack = try ServerStack(Self._model(), at: url)
    let context = stack.context()
    try context.performAndWait {
      context.make("Person", ["name": "a"])
      try context.save()
    }
    try stack.coordinator.remove(stack.store)
  }

  @Test func `an owner's save renews them, a role's without the right leaves them`() throws {
    let model = Self._model()
    let former = Self._former()
    #expect(former != model.entityVersionHashesByName)
    let prepared = try PreparedSchema(model)
    try NSPersistentStoreCoordinator.setMetadata(
      StoreVersioning.hashMetadata(former), forPersistentStoreOfType: NSPostgreSQLStoreType,
      at: prepared.owner)
    #expect(try _stored(prepared.owner) == former)
    try _save(prepared.url)
    #expect(try _stored(prepared.owner) == former)
    try _save(prepared.owner)
    #expect(try _stored(prepared.owner) == model.entityVersionHashesByName)
    let context = try ServerStack(model, at: prepared.url).context()
    try context.performAndWait { try #expect(context.all("Person").count == 2) }
  }
}
