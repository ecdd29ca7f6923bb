import CoreDataModelSchema
import CoreDataToolKit
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Rows that are packed while a context fills them.
@Suite struct PackedDraftTests {
  private static let _model = ModelSchema(entities: [
    EntitySchema(
      "Reading",
      [
        AttributeSchema("flag", .boolean), AttributeSchema("label", .string),
        AttributeSchema("note", .string),
        AttributeSchema("number", .integer64), AttributeSchema("value", .double),
      ], [.one("sensor", "Sensor", inverse: "readings")]),
    EntitySchema(
      "Sensor", [AttributeSchema("name", .string)], [.many("readings", "Reading", inverse: "sensor")]),
  ])
  private let fixture: StoreFixture
  private let _format: RowFormat

  init() throws {
    fixture = try StoreFixture(Self._model)
    let layout = fixture.entity("Reading")
    _format = try #require(fixture.engine.rowFormats[layout.entityNumber - 1])
  }

  private func _slot(_ name: String) -> Int { fixture.slot(name, in: "Reading") }

  private func _draft(_ values: [String: Value] = [:]) -> Row {
    var row = Row(draft: _format, version: 1)
    for (name, value) in values { row.set(value, at: _slot(name)) }
    return row
  }

  @Test func `a new draft holds nulls`() {
    let row = _draft()
    #expect(row.isPacked)
    for slot in 0..<row.count { #expect(row[slot].isNull && row.isNull(at: slot)) }
  }

  @Test func `a text can be replaced, whatever its length`() {
    var row = _draft(["label": .string("first"), "note": .string("beside it")])
    for text in ["", "a text that needs far more room than the first one took", "short", "x"] {
      row.set(.string(text), at: _slot("label"))
      #expect(row[_slot("label")] == .string(text))
      #expect(row[_slot("note")] == .string("beside it"))
      #expect(row.isPacked)
    }
  }

  @Test func `a text no longer than the last one needs no room`() throws {
    let key = try fixture.insert("Reading", ["label": .string("first"), "note": .string("beside it")])
    let found = try fixture.engine.rows(for: [key])[0]
    var row = Row(copying: try #require(found), version: 1)
    let cells = row.cells
    for text in ["other", "less", ""] {
      row.set(.string(text), at: _slot("label"))
      #expect(row[_slot("label")] == .string(text))
      #expect(row[_slot("note")] == .string("beside it"))
      #expect(row.cells === cells)
    }
  }

  @Test func `texts of many kilobytes stay packed`() {
    let long = String(repeating: "Grüße, 世界 ", count: 4000)
    let row = _draft(["label": .string(long), "note": .string(long + "!"), "number": .int(7)])
    #expect(row.isPacked)
    #expect(row[_slot("label")] == .string(long))
    #expect(row[_slot("note")] == .string(long + "!"))
    #expect(row[_slot("number")] == .int(7))
  }

  @Test func `a value can be set to null again`() throws {
    let sensor = try fixture.insert("Sensor", ["name": .string("north")])
    var row = _draft([
      "label": .string("x"), "number": .int(0), "value": .double(0), "sensor": .reference(sensor),
    ])
    for name in ["label", "number", "value", "sensor"] {
      #expect(!row.isNull(at: _slot(name)))
      row.set(.null, at: _slot(name))
      #expect(row.isNull(at: _slot(name)))
    }
  }

  @Test func `an unsaved target is kept and released`() {
    weak var released: NSManagedObjectID?
    do {
      let id = fixture.temporaryID("Sensor")
      released = id
      var row = _draft(["sensor": .pending(id), "label": .string("x")])
      #expect(row.isPacked && !row.isNull(at: _slot("sensor")))
      #expect(row[_slot("sensor")] == .pending(id))
      let copy = Row(copying: row, version: 2)
      row.set(.null, at: _slot("sensor"))
      #expect(row.isNull(at: _slot("sensor")))
      #expect(copy[_slot("sensor")] == .pending(id))
      row.set(.pending(id), at: _slot("sensor"))
      row.set(.string(String(repeating: "a longer text ", count: 100)), at: _slot("label"))
      #expect(row[_slot("sensor")] == .pending(id))
      row.set(.pending(fixture.temporaryID("Sensor")), at: _slot("sensor"))
      #expect(row[_slot("sensor")] != .pending(id))
    }
    #expect(released == nil)
  }

  @Test func `a value of another kind makes it a row of values`() {
    var row = _draft(["label": .string("kept"), "number": .int(3)])
    let delta = ToManyDelta(added: [], removed: [], order: nil)
    row.set(.toMany(delta), at: _slot("flag"))
    #expect(!row.isPacked)
    #expect(row[_slot("label")] == .string("kept"))
    #expect(row[_slot("number")] == .int(3))
    #expect(row[_slot("flag")] == .toMany(delta))
  }

  @Test func `a target of another coordinator is kept`() throws {
    let sensor = try fixture.insert("Sensor", ["name": .string("north")])
    let other = try fixture.reopened()
    defer { other.close() }
    let space = other.spaces[sensor.space.layout.entityNumber - 1]
    let row = _draft(["sensor": .reference(ObjectKey(space: space, reference: sensor.reference))])
    #expect(row[_slot("sensor")].key?.space === space)
  }

  @Test func `a copy of a row that a store read is no such row`() throws {
    let key = try fixture.insert("Reading", ["label": .string("x")])
    let found = try fixture.engine.rows(for: [key])[0]
    let row = try #require(found)
    #expect(row.isAsRead)
    #expect(!Row(copying: row, version: row.version).isAsRead)
    #expect(!_draft().isAsRead)
  }

  @Test(arguments: 1...8)
  func `a draft holds what a row of values would`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let sensors = try fixture.insert((0..<3).map { fixture.insertion("Sensor", ["name": .string("\($0)")]) })
    let unsaved = (0..<3).map { _ in fixture.temporaryID("Sensor") }
    var draft = _draft()
    var values = Row(count: draft.count, version: 1)
    for _ in 0..<400 {
      let (name, value): (String, Value) =
        switch Int.random(in: 0..<7, using: &random) {
        case 0: ("flag", .int(Int64.random(in: 0...1, using: &random)))
        case 1: ("number", .int(Int64.random(in: -3...3, using: &random)))
        case 2: ("value", .double(Double.random(in: -1...1, using: &random)))
        case 3: ("sensor", .reference(sensors.randomElement(using: &random)!))
        case 4: ("sensor", .pending(unsaved.randomElement(using: &random)!))
        default:
          (
            Bool.random(using: &random) ? "label" : "note",
            .string(String(repeating: "é", count: Int.random(in: 0..<90, using: &random)))
          )
        }
      let isNull = Int.random(in: 0..<5, using: &random) == 0
      draft.set(isNull ? .null : value, at: _slot(name))
      values.set(isNull ? .null : value, at: _slot(name))
      if Int.random(in: 0..<10, using: &random) == 0 { draft = Row(copying: draft, version: 1) }
      for slot in 0..<draft.count {
        #expect(draft[slot] == values[slot])
        #expect(draft.isNull(at: slot) == values.isNull(at: slot))
        #expect(draft.hasSameCell(as: values, at: slot) && values.hasSameCell(as: draft, at: slot))
        #expect(draft.hasSameCell(as: Row(copying: draft, version: 1), at: slot))
      }
    }
    #expect(draft.isPacked)
  }

  @Test func `equal keys of two stores are told apart`() throws {
    let other = try StoreFixture(Self._model)
    let format = try #require(other.engine.rowFormats[other.entity("Reading").entityNumber - 1])
    let here = try fixture.insert("Sensor", ["name": .string("x")])
    let there = try other.insert("Sensor", ["name": .string("x")])
    #expect(here.reference == there.reference)
    let row = _draft(["sensor": .reference(here), "label": .string("same")])
    var foreign = Row(draft: format, version: 1)
    foreign.set(.reference(there), at: _slot("sensor"))
    foreign.set(_slot("label"), from: row)
    #expect(!row.hasSameCell(as: foreign, at: _slot("sensor")))
    #expect(row.hasSameCell(as: foreign, at: _slot("label")))
  }

  @Test func `a text goes into no cell of another kind`() {
    var row = _draft(["number": .int(1)])
    let texts = _draft(["label": .string("text")])
    row.set(_slot("label"), from: texts)
    #expect(row[_slot("label")] == .string("text"))
    var foreign = Row(
      draft: RowFormat(
        [.int, .int, .int, .int, .int, .int], spaces: Array(repeating: nil, count: 6), entitySpaces: []),
      version: 1)
    foreign.set(_slot("label"), from: texts)
    #expect(foreign[_slot("label")] == .string("text"))
  }

  @Test func `cells that differ are told apart`() {
    let row = _draft(["label": .string("café"), "number": .int(3), "value": .double(1)])
    let other = _draft(["label": .string("cafe\u{301}"), "number": .int(4), "flag": .int(0)])
    for name in ["label", "number", "value", "flag"] {
      #expect(!row.hasSameCell(as: other, at: _slot(name)))
    }
    #expect(row.hasSameCell(as: other, at: _slot("note")))
  }

  @Test func `a draft is stored as it is`() throws {
    let sensor = try fixture.insert("Sensor", ["name": .string("north")])
    let values: [String: Value] = [
      "label": .string("Grüße"), "note": .string(""), "number": .int(-7), "value": .double(0.5),
      "sensor": .reference(sensor),
    ]
    let insertion = ChangeSet.Insertion(id: fixture.temporaryID("Reading"), row: _draft(values))
    let key = try fixture.insert([insertion])[0]
    let other = try fixture.reopened()
    defer { other.close() }
    let found = try other.rows(for: [key])[0]
    let row = try #require(found)
    for (name, value) in values { #expect(row[_slot(name)] == value) }
    #expect(row.isNull(at: _slot("flag")))
  }
}
