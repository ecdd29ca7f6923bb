import CoreData
import Foundation
import Testing

/// What a copied description keeps.
@Suite struct DescriptionCopyTests {
  private func _copy(_ attribute: NSDerivedAttributeDescription) throws -> NSDerivedAttributeDescription {
    try #require(attribute.copy() as? NSDerivedAttributeDescription)
  }

  @Test func `a derived attribute's copy derives from the same expression`() throws {
    let attribute = NSDerivedAttributeDescription()
    attribute.name = "total"
    attribute.attributeType = .integer64AttributeType
    attribute.derivationExpression = NSExpression(format: "books.@count")
    let copy = try _copy(attribute)
    #expect(copy !== attribute)
    #expect(copy.name == "total")
    #expect(copy.attributeType == .integer64AttributeType)
    #expect(copy.derivationExpression?.description == attribute.derivationExpression?.description)
    #expect(copy.derivationExpression != nil)
  }

  @Test func `an expression description's copy has its name, type and options`() throws {
    let total = NSExpressionDescription()
    total.name = "total"
    total.expression = NSExpression(format: "sum:(pages)")
    total.expressionResultType = .integer64AttributeType
    total.isOptional = false
    total.userInfo = ["shown": "yes"]
    let copy = try #require(total.copy() as? NSExpressionDescription)
    #expect(copy !== total)
    #expect(copy.name == "total" && copy.expressionResultType == .integer64AttributeType)
    #expect(!copy.isOptional && copy.userInfo?["shown"] as? String == "yes")
    #expect(copy.expression?.description == total.expression?.description)
  }

  @Test func `a copied model derives as the original does`() throws {
    let author = LibraryModel.entity("Author")
    let name = LibraryModel.attribute("name", .stringAttributeType)
    let folded = NSDerivedAttributeDescription()
    folded.name = "folded"
    folded.attributeType = .stringAttributeType
    folded.isOptional = true
    folded.derivationExpression = NSExpression(format: "canonical:(name)")
    author.properties = [name, folded]
    let model = NSManagedObjectModel()
    model.entities = [author]
    let copied = try #require(model.copy() as? NSManagedObjectModel)
    let attribute =
      copied.entitiesByName["Author"]?.attributesByName["folded"] as? NSDerivedAttributeDescription
    #expect(attribute?.derivationExpression?.description == folded.derivationExpression?.description)
    #expect(copied.entityVersionHashesByName == model.entityVersionHashesByName)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: copied)
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: "/dev/null"), options: nil)
    let context = coordinator.newContext()
    try context.performAndWait {
      let author = context.insert("Author", ["name": "ÉMILE"])
      try context.save()
      context.refresh(author, mergeChanges: false)
      #expect(author.text("folded") == "emile")
    }
  }
}
