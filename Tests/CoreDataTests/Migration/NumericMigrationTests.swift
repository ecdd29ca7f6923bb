import Foundation
import Testing

@testable import CoreData

/// Numbers whose attribute changes to another numeric type.
@Suite("Numbers migrated to other types")
struct NumericMigrationTests {
  private static let types = [
    "Boolean", "Integer 16", "Integer 32", "Integer 64", "Decimal", "Double", "Float",
  ]

  private static func model(_ type: String) -> String {
    ModelText.entity(
      "A", "", ModelText.text("n"), "<attribute name=\"x\" optional=\"YES\" attributeType=\"\(type)\"/>")
  }

  /// Returns the values of one type after a migration to another, by their names.
  private static func migrated(
    _ values: [String: NSNumber], from old: String, to new: String
  ) throws -> [String: NSNumber] {
    try MigrationFixture().migrate(
      model(old),
      { context in
        context.make("A", ["n": "nothing"])
        for (name, value) in values { context.make("A", ["n": name, "x": value]) }
      }, to: model(new)
    ) { context in
      try context.listed("A", by: "n").compactMapValues { $0.value(forKey: "x") as? NSNumber }
    }
  }

  @Test(arguments: types)
  func `small whole numbers stay in every numeric type`(old: String) throws {
    let values: [String: NSNumber] = old == "Boolean" ? ["no": 0, "yes": 1] : ["no": 0, "yes": 1, "more": 7]
    for new in Self.types where new != old {
      let found = try Self.migrated(values, from: old, to: new)
      let expected = new == "Boolean" ? values.mapValues { NSNumber(value: $0.boolValue) } : values
      #expect(found.mapValues(\.doubleValue) == expected.mapValues(\.doubleValue), "\(old) to \(new)")
    }
  }

  @Test func `what a type cannot hold is cut as an assignment cuts it`() throws {
    let long: [String: NSNumber] = ["big": 70_000, "low": -40_000]
    try #expect(Self.migrated(long, from: "Integer 64", to: "Integer 16") == ["big": 4464, "low": 25536])
    let fractions: [String: NSNumber] = ["up": 2.75, "down": -2.75]
    try #expect(Self.migrated(fractions, from: "Double", to: "Integer 32") == ["up": 2, "down": -2])
    try #expect(Self.migrated(fractions, from: "Decimal", to: "Integer 32") == ["up": 2, "down": -2])
    try #expect(Self.migrated(["x": 0.1], from: "Double", to: "Float") == ["x": NSNumber(value: Float(0.1))])
    try #expect(Self.migrated(["x": 0.5], from: "Double", to: "Boolean")["x"]?.boolValue == true)
  }

  @Test func `decimals are the shortest text of what they were`() throws {
    let tenth = NSDecimalNumber(string: "0.1")
    try #expect(Self.migrated(["x": 0.1], from: "Double", to: "Decimal") == ["x": tenth])
    try #expect(
      Self.migrated(["x": NSNumber(value: Float(0.1))], from: "Float", to: "Decimal") == ["x": tenth])
  }

  @Test func `a converted number is found by predicates of its new type`() throws {
    try MigrationFixture().migrate(
      Self.model("Integer 64"), { $0.make("A", ["n": "a", "x": 70_000]) }, to: Self.model("Integer 16")
    ) { context in
      let request = NSFetchRequest<NSManagedObject>(entityName: "A")
      request.predicate = NSPredicate(format: "x == 4464")
      try #expect(context.count(for: request) == 1)
    }
  }

  @Test func `a required number keeps its default where there was none`() throws {
    let new = Self.model("Double").replacing(
      "optional=\"YES\" attributeType=\"Double\"", with: "attributeType=\"Double\" defaultValueString=\"2.5\""
    )
    try MigrationFixture().migrate(
      Self.model("Integer 16"),
      { context in
        context.make("A", ["n": "nothing"])
        context.make("A", ["n": "one", "x": 1])
      }, to: new
    ) { context in
      let found = try context.listed("A", by: "n")
      #expect(found["nothing"]?.value(forKey: "x") as? Double == 2.5)
      #expect(found["one"]?.value(forKey: "x") as? Double == 1)
    }
  }
}
