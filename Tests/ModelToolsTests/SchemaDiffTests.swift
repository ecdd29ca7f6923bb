import CoreDataModelSchema
import Testing

@Suite struct SchemaDiffTests {
  private func schema(_ change: (inout EntitySchema) -> Void = { _ in }) -> ModelSchema {
    var book = EntitySchema(name: "Book")
    book.attributes = [
      AttributeSchema(traits: PropertyTraits(name: "title"), type: .string),
      AttributeSchema(traits: PropertyTraits(name: "pages"), type: .integer16),
    ]
    book.relationships = [
      RelationshipSchema(traits: PropertyTraits(name: "next"), destination: "Book", inverse: nil)
    ]
    change(&book)
    return ModelSchema(entities: [book])
  }

  private func verdicts(_ change: (inout EntitySchema) -> Void) -> [SchemaChange.Verdict] {
    SchemaDiff(from: schema(), to: schema(change)).changes.map(\.verdict)
  }

  @Test func `The same models have no differences`() {
    #expect(SchemaDiff(from: schema(), to: schema()).changes == [])
  }

  @Test func `A changed type needs a mapping model`() {
    #expect(verdicts { $0.attributes[1].type = .uuid } == [.blocked])
  }

  @Test func `An attribute without value fails the migration`() {
    let traits = PropertyTraits(name: "isbn", isOptional: false)
    #expect(verdicts { $0.attributes.append(AttributeSchema(traits: traits, type: .string)) } == [.fails])
    #expect(
      verdicts {
        $0.attributes.append(AttributeSchema(traits: traits, type: .string, defaultValue: .string("-")))
      } == [.inferred])
  }

  @Test func `A renaming identifier keeps the values`() {
    let change = SchemaDiff(
      from: schema(),
      to: schema {
        $0.attributes[0].traits.name = "name"
        $0.attributes[0].traits.renamingIdentifier = "title"
      }
    ).changes
    #expect(change.map(\.what) == ["renamed from title"])
    #expect(change.map(\.verdict) == [.inferred])
  }

  @Test func `A removed attribute loses its values`() {
    #expect(verdicts { $0.attributes.remove(at: 0) } == [.loses])
  }

  @Test func `To-one becomes to-many without loss, not the other way round`() {
    #expect(verdicts { $0.relationships[0].maxCount = 0 } == [.inferred])
    let old = schema { $0.relationships[0].maxCount = 0 }
    #expect(SchemaDiff(from: old, to: schema()).changes.map(\.verdict) == [.loses])
  }

  @Test func `Delete rules are no business of the store's`() {
    #expect(verdicts { $0.relationships[0].deleteRule = .cascade } == [.free])
  }
}
