import CoreDataModelSchema
import CoreDataToolKit
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Packed rows with cells of every kind that a store has.
@Suite struct PackedKindsTests {
  private static let _model = ModelSchema(entities: [
    EntitySchema(
      "Sample",
      [
        AttributeSchema("code", .uuid), AttributeSchema("image", .binaryData),
        AttributeSchema("label", .string),
        _composite, AttributeSchema("price", .decimal), AttributeSchema("shape", .transformable),
      ], [.one("site", "Site", inverse: "samples")]),
    EntitySchema(
      "Site", [AttributeSchema("name", .string)], [.many("samples", "Sample", inverse: "site")]),
    EntitySchema("Cave", parent: "Site"),
  ])
  private static var _composite: AttributeSchema {
    var place = AttributeSchema("place", .composite)
    place.compositeName = "Place"
    place.elements = [AttributeSchema("depth", .double), AttributeSchema("room", .string)]
    return place
  }
  private let fixture: StoreFixture
  private let _format: RowFormat

  init() throws {
    fixture = try StoreFixture(Self._model)
    _format = try #require(fixture.engine.rowFormats[fixture.entity("Sample").entityNumber - 1])
  }

  private func _slot(_ name: String) -> Int { fixture.slot(name, in: "Sample") }

  private func _draft(_ values: [String: Value] = [:]) -> Row {
    var row = Row(draft: _format, version: 1)
    for (name, value) in values { row.set(value, at: _slot(name)) }
    return row
  }

  private func _values(_ random: inout SeededRandom, _ sites: [ObjectKey]) -> (String, Value) {
    let number = Int.random(in: 0..<40, using: &random)
    return switch Int.random(in: 0..<8, using: &random) {
    case 0: ("code", .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8(number)))))
    case 1: ("image", .data(Data(repeating: 7, count: number * 20)))
    case 2: ("price", .decimal(DecimalBox(Decimal(number) / 8)))
    case 3: ("shape", .transformable(TransformableBox(object: nil, data: Data([UInt8(number)]))))
    case 4: ("place", .composite(CompositeBox([.double(Double(number)), .string("room \(number)")])))
    case 5: ("site", .reference(sites.randomElement(using: &random)!))
    case 6: ("site", .pending(fixture.temporaryID(number.isMultiple(of: 2) ? "Site" : "Cave")))
    default: ("label", .string(String(repeating: "é", count: number)))
    }
  }

  private func _sites() throws -> [ObjectKey] {
    try fixture.insert(["Site", "Cave", "Cave"].map { fixture.insertion($0, ["name": .string($0)]) })
  }

  @Test(arguments: 1...8)
  func `a packed row holds what a row of values would`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let sites = try _sites()
    var draft = _draft()
    var values = Row(count: draft.count, version: 1)
    for _ in 0..<400 {
      let (name, value) = _values(&random, sites)
      let isNull = Int.random(in: 0..<5, using: &random) == 0
      draft.set(isNull ? .null : value, at: _slot(name))
      values.set(isNull ? .null : value, at: _slot(name))
      let copy = Row(copying: draft, version: 1)
      if Int.random(in: 0..<10, using: &random) == 0 { draft = copy }
      var other = _draft()
      for slot in 0..<draft.count {
        other.set(slot, from: draft)
        #expect(draft[slot] == values[slot] && other[slot] == values[slot])
        #expect(draft.isNull(at: slot) == values.isNull(at: slot))
        #expect(draft.holds(values[slot], at: slot) && values.holds(draft[slot], at: slot))
        #expect(draft.hasSameCell(as: values, at: slot) && values.hasSameCell(as: draft, at: slot))
        #expect(draft.hasSameCell(as: copy, at: slot) && draft.hasSameCell(as: other, at: slot))
      }
    }
    #expect(draft.isPacked)
  }

  @Test(arguments: 1...4)
  func `what is stored is read packed, and equal`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let sites = try _sites()
    let drafts = (0..<40).map { _ in
      var row = _draft()
      for _ in 0..<6 {
        let (name, value) = _values(&random, sites)
        if case .pending = value { continue }
        row.set(value, at: _slot(name))
      }
      return row
    }
    let keys = try fixture.insert(
      drafts.map { ChangeSet.Insertion(id: fixture.temporaryID("Sample"), row: $0) })
    let other = try fixture.reopened()
    defer { other.close() }
    for (draft, found) in zip(drafts, try other.rows(for: keys)) {
      let row = try #require(found)
      #expect(row.isAsRead)
      for slot in 0..<row.count where _slot("site") != slot { #expect(row[slot] == draft[slot]) }
      #expect(row[_slot("site")].key?.reference == draft[_slot("site")].key?.reference)
      #expect(
        row[_slot("site")].key?.space.layout.entityName == draft[_slot("site")].key?.space.layout.entityName)
    }
  }

  @Test func `objects are kept as long as a copy holds them`() {
    weak var released: TransformableBox?
    do {
      var copy: Row
      do {
        let box = TransformableBox(object: nil, data: Data([1]))
        released = box
        var row = _draft(["shape": .transformable(box), "label": .string("x")])
        row.set(.string(String(repeating: "a longer text ", count: 100)), at: _slot("label"))
        row.set(.transformable(box), at: _slot("shape"))
        copy = Row(copying: row, version: 2)
        row.set(.null, at: _slot("shape"))
      }
      #expect(released != nil)
      #expect(copy[_slot("shape")] == .transformable(TransformableBox(object: nil, data: Data([1]))))
      copy.set(.transformable(TransformableBox(object: nil, data: nil)), at: _slot("shape"))
      #expect(released == nil)
    }
  }

  @Test func `a target with a key too large for a word is kept`() {
    let space = fixture.engine.spaces[fixture.entity("Cave").entityNumber - 1]
    for reference in [Int64.max, 1 << 48, -1] {
      let row = _draft(["site": .reference(ObjectKey(space: space, reference: reference))])
      #expect(row[_slot("site")].key == ObjectKey(space: space, reference: reference))
    }
  }

  @Test func `equal decimals of other digits are equal cells`() throws {
    let (one, other) = (try #require(Decimal(string: "1.5")), try #require(Decimal(string: "1.50")))
    let row = _draft(["price": .decimal(DecimalBox(one))])
    #expect(row.hasSameCell(as: _draft(["price": .decimal(DecimalBox(other))]), at: _slot("price")))
    #expect(!row.hasSameCell(as: _draft(["price": .decimal(DecimalBox(2))]), at: _slot("price")))
  }

  @Test func `a UUID that is stored as text is read`() throws {
    let code = UUID()
    let key = try fixture.insert("Sample", ["label": .string("x")])
    try fixture.connection().execute("UPDATE ZSAMPLE SET ZCODE = '\(code.uuidString)'")
    let other = try fixture.reopened()
    defer { other.close() }
    let found = try other.rows(for: [key])[0]
    #expect(try #require(found)[_slot("code")] == .uuid(code))
  }
}
