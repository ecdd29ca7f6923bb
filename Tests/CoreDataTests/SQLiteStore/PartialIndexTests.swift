import CoreDataModelSchema
import Foundation
import Testing

@testable import CoreData

/// Partial indexes of new stores.
@Suite struct PartialIndexTests {
  private func _schema(_ indexes: [FetchIndexSchema]) -> ModelSchema {
    var place = EntitySchema(
      "Place",
      [
        AttributeSchema("latitude", .double), AttributeSchema("longitude", .double),
        AttributeSchema("name", .string), AttributeSchema("isOpen", .boolean),
      ])
    place.indexes = indexes
    return ModelSchema(entities: [place])
  }

  private func _indexes(_ indexes: [FetchIndexSchema]) throws -> [String] {
    try SchemaWriter(MappingBuilder.mapping(for: ModelLayout(_schema(indexes)))).statements()
      .filter { !$0.hasPrefix("CREATE TABLE") }
  }

  private func _partial(_ predicate: String) -> FetchIndexSchema {
    FetchIndexSchema(
      name: "byName", elements: [FetchIndexSchema.Element(property: "name")], partialIndexPredicate: predicate
    )
  }

  @Test(arguments: [
    ("name != nil", "ZNAME IS NOT NULL"), ("isOpen == YES AND name == nil", "ZISOPEN = 1 AND ZNAME IS NULL"),
    (
      "isOpen == 1 AND (latitude >= 0 OR longitude != 3)",
      "ZISOPEN = 1 AND (ZLATITUDE >= 0 OR ZLONGITUDE <> 3)"
    ),
    ("NOT (latitude < 0.5 OR name == nil)", "NOT (ZLATITUDE < 0.5 OR ZNAME IS NULL)"), ("TRUEPREDICATE", "1"),
  ])
  func `a partial index has the condition of its predicate`(_ predicate: String, _ condition: String) throws {
    try #expect(
      _indexes([_partial(predicate)]) == [
        "CREATE INDEX Z_Place_byName ON ZPLACE (ZNAME COLLATE BINARY ASC) WHERE \(condition)"
      ])
  }

  @Test func `texts in a condition are quoted`() throws {
    let indexes = try _indexes([_partial(#"name IN {"a", "it's"}"#)])
    #expect(indexes.count == 1 && indexes[0].hasSuffix("WHERE ZNAME IN ('a', 'it''s')"))
  }

  @Test(arguments: [
    "name BEGINSWITH 'a'", "name ==[c] 'a'", "latitude > longitude", "colour == 1", "name ==",
  ])
  func `what is no condition of an index is left out`(_ predicate: String) throws {
    try #expect(_indexes([_partial(predicate)]) == [])
  }

  @Test func `indexes that cannot be made are left out, the others stay`() throws {
    let tree = FetchIndexSchema(
      name: "place",
      elements: [
        FetchIndexSchema.Element(property: "latitude", isRTree: true),
        FetchIndexSchema.Element(property: "longitude", isRTree: true),
      ])
    let computed = FetchIndexSchema(
      name: "lower", elements: [FetchIndexSchema.Element(property: nil, expression: "lowercase:(name)")])
    let named = FetchIndexSchema(name: "named", elements: [FetchIndexSchema.Element(property: "name")])
    let unknown = FetchIndexSchema(name: "unknown", elements: [FetchIndexSchema.Element(property: "colour")])
    try #expect(_indexes([tree, computed, unknown, named]) == _indexes([named]))
  }
}
