import CoreDataModelSchema
import Testing

/// Whether programs with an older model can go on with a store of a newer one.
@Suite struct SchemaExpansionTests {
  private func _model(_ change: (inout AttributeSchema) -> Void = { _ in }) -> ModelSchema {
    var attribute = AttributeSchema(traits: PropertyTraits(name: "pages"), type: .integer32)
    change(&attribute)
    var entity = EntitySchema(name: "Book")
    entity.attributes = [attribute]
    return ModelSchema(entities: [entity])
  }

  @Test func `how classes show an attribute and what is searched by it do not matter`() {
    let changes: [(inout AttributeSchema) -> Void] = [
      { $0.usesScalarValueType = true }, { $0.isIndexed = true }, { $0.isIndexedBySpotlight = true },
    ]
    for change in changes {
      #expect(SchemaExpansion.obstacle(from: _model(), to: _model(change)) == nil)
      #expect(SchemaExpansion.obstacle(from: _model(change), to: _model()) == nil)
    }
  }

  @Test func `another type is an obstacle`() throws {
    let obstacle = SchemaExpansion.obstacle(from: _model(), to: _model { $0.type = .string })
    #expect(try #require(obstacle).contains("pages"))
  }
}
