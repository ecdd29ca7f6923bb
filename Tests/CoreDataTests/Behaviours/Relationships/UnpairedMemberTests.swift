import CoreData
import Testing

/// To-manys whose other end is none, or the relationship itself, in contexts and their children.
@Suite struct UnpairedMemberTests {
  private static func model() -> NSManagedObjectModel {
    let person = LibraryModel.entity("Person")
    let friends = LibraryModel.relationship("friends", to: person, many: true)
    LibraryModel.pair(friends, friends)
    person.properties = [
      LibraryModel.attribute("name", .stringAttributeType), friends,
      LibraryModel.relationship("idols", to: person, many: true),
    ]
    let model = NSManagedObjectModel()
    model.entities = [person]
    return model
  }

  private func stack(_ setting: Setting) throws -> (stack: TestStack, ids: [NSManagedObjectID]) {
    let stack = try TestStack(setting, model: Self.model())
    let ids = try ["Ada", "Bob"].map { try stack.stored("Person", ["name": $0]).objectID }
    return (stack, ids)
  }

  private func names(_ stack: TestStack, of id: NSManagedObjectID, _ key: String) -> [String?] {
    stack.fresh { $0.object(with: id).objects(key).map { $0.text("name") } }
  }

  @Test(arguments: Setting.allCases)
  func `members without inverse are saved and removed`(_ setting: Setting) throws {
    let (stack, ids) = try stack(setting)
    let context = stack.context
    func change(_ body: (NSMutableSet, NSManagedObject) -> Void) throws {
      context.performAndWait {
        body(
          context.object(with: ids[0]).mutableSetValue(forKey: "idols"), context.object(with: ids[1]))
      }
      try stack.save()
    }
    try change { $0.add($1) }
    #expect(names(stack, of: ids[0], "idols") == ["Bob"])
    #expect(names(stack, of: ids[1], "idols").isEmpty)
    try change { $0.remove($1) }
    #expect(names(stack, of: ids[0], "idols").isEmpty)
  }

  @Test(arguments: Setting.allCases)
  func `friends are friends of each other`(_ setting: Setting) throws {
    let (stack, ids) = try stack(setting)
    let context = stack.context
    context.performAndWait {
      let (ada, bob) = (context.object(with: ids[0]), context.object(with: ids[1]))
      ada.mutableSetValue(forKey: "friends").add(bob)
      #expect(bob.objects("friends") == [ada])
      bob.mutableSetValue(forKey: "friends").add(bob)
    }
    try stack.save()
    #expect(names(stack, of: ids[0], "friends") == ["Bob"])
    #expect(Set(names(stack, of: ids[1], "friends")) == ["Ada", "Bob"])
    context.performAndWait {
      let bob = context.object(with: ids[1])
      bob.mutableSetValue(forKey: "friends").removeAllObjects()
      #expect(context.object(with: ids[0]).objects("friends").isEmpty)
    }
    try stack.save()
    #expect(ids.allSatisfy { names(stack, of: $0, "friends").isEmpty })
  }
}
