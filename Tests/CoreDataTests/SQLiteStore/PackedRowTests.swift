import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation
import Testing

@testable import CoreData

@Suite struct PackedRowTests {
  private static let _model = ModelSchema(entities: [
    EntitySchema(
      "Reading",
      [
        AttributeSchema("flag", .boolean), AttributeSchema("label", .string),
        AttributeSchema("note", .string),
        AttributeSchema("number", .integer64), AttributeSchema("taken", .date),
        AttributeSchema("value", .double),
      ], [.one("sensor", "Sensor", inverse: "readings")]),
    EntitySchema(
      "Sensor", [AttributeSchema("name", .string)], [.many("readings", "Reading", inverse: "sensor")]),
  ])
  private let fixture: StoreFixture

  init() throws { fixture = try StoreFixture(Self._model) }

  private func _slot(_ name: String) -> Int { fixture.slot(name, in: "Reading") }

  /// Returns the row as another engine reads it from the file.
  private func _stored(_ values: [String: Value]) throws -> Row {
    let key = try fixture.insert("Reading", values)
    let row = try fixture.engine.rows(for: [key])[0]
    return try #require(row)
  }

  @Test(arguments: [
    "", "short", "a text that is longer than fifteen bytes", "Grüße, 世界 👋🏽", "with a \0 inside",
  ])
  func `a text reads as it was written`(_ text: String) throws {
    let row = try _stored(["label": .string(text), "note": .string("after it")])
    #expect(row[_slot("label")] == .string(text))
    #expect(row[_slot("note")] == .string("after it"))
  }

  @Test(arguments: [Int64.min, -1, 0, 1, .max])
  func `an integer reads as it was written`(_ number: Int64) throws {
    #expect(try _stored(["number": .int(number)])[_slot("number")] == .int(number))
  }

  @Test(arguments: [-1.5, 0, .leastNonzeroMagnitude, .greatestFiniteMagnitude])
  func `a number reads as it was written`(_ value: Double) throws {
    let row = try _stored(["value": .double(value), "taken": .double(value)])
    #expect(row[_slot("value")] == .double(value))
    #expect(row[_slot("taken")] == .double(value))
  }

  @Test func `zero is not null`() throws {
    let zero = try _stored(["number": .int(0), "value": .double(0), "flag": .int(0), "label": .string("")])
    let null = try _stored([:])
    for name in ["number", "value", "flag", "label"] {
      #expect(!zero[_slot(name)].isNull)
      #expect(null[_slot(name)].isNull)
    }
  }

  @Test func `bytes that are no text are repaired each time`() throws {
    let key = try fixture.insert("Reading", ["label": .string("x"), "note": .string("untouched")])
    let connection = try fixture.connection()
    try connection.execute("UPDATE ZREADING SET ZLABEL = CAST(x'41FF42' AS TEXT)")
    let found = try fixture.engine.rows(for: [key])[0]
    let row = try #require(found)
    #expect(row[_slot("label")] == .string("A\u{FFFD}B"))
    #expect(row[_slot("note")] == .string("untouched"))
  }

  @Test func `a copy has all values and can be changed`() throws {
    let row = try _stored(["label": .string("before"), "number": .int(7), "value": .double(2.5)])
    var copy = Row(copying: row, version: 9)
    copy.set(.string("after"), at: _slot("label"))
    #expect(copy[_slot("label")] == .string("after"))
    #expect(copy[_slot("number")] == .int(7))
    #expect(copy[_slot("value")] == .double(2.5))
    #expect(copy[_slot("note")].isNull)
    #expect(copy.version == 9)
    #expect(row[_slot("label")] == .string("before"))
  }

  @Test func `packed rows differ where their values differ`() throws {
    let texts: [Value] = [.null, .string(""), .string("a"), .string("b"), .string("ab"), .string("ba")]
    let numbers: [Value] = [.null, .int(0), .int(-1)]
    let doubles: [Value] = [.null, .double(0), .double(-0.0), .double(0.5)]
    let sensor = try fixture.insert("Sensor", ["name": .string("north")])
    let rows = try (0..<60).map { _ in
      try _stored([
        "label": texts.randomElement()!, "note": texts.randomElement()!, "number": numbers.randomElement()!,
        "value": doubles.randomElement()!, "sensor": Bool.random() ? .null : .reference(sensor),
      ])
    }
    let layout = fixture.entity("Reading")
    for left in rows {
      for right in rows {
        let differing = left.slots(differingIn: right, layout)
        #expect(differing == Row(unpacking: left).slots(differingIn: Row(unpacking: right), layout))
        #expect(left.hasSameValues(as: right, layout) == differing.isEmpty)
      }
    }
  }

  @Test func `a cell holds what equals it`() throws {
    let row = try _stored(["label": .string("café"), "number": .int(3)])
    #expect(row.holds(.string("café"), at: _slot("label")))
    #expect(!row.holds(.string("cafe\u{301}"), at: _slot("label")), "equal to Swift, but other bytes")
    #expect(!row.holds(.string("cafe"), at: _slot("label")))
    #expect(!row.holds(.null, at: _slot("label")))
    #expect(row.holds(.null, at: _slot("note")))
    #expect(!row.holds(.string(""), at: _slot("note")))
    #expect(row.holds(.int(3), at: _slot("number")))
  }

  @Test func `a to-one leads to its object`() throws {
    let sensor = try fixture.insert("Sensor", ["name": .string("north")])
    let row = try _stored(["sensor": .reference(sensor)])
    #expect(row[_slot("sensor")].key == sensor)
    #expect(row[_slot("sensor")] == .reference(sensor))
  }

  @Test func `rows are found whatever the order of their keys`() throws {
    let keys = try fixture.insert((0..<300).map { fixture.insertion("Reading", ["number": .int(Int64($0))]) })
    var asked = keys.shuffled()
    asked += [keys[7], keys[7]]
    let missing = ObjectKey(space: keys[0].space, reference: 100_000)
    asked.insert(missing, at: 50)
    let rows = try fixture.engine.rows(for: asked)
    for (key, row) in zip(asked, rows) {
      let wanted = keys.firstIndex(of: key).map { Value.int(Int64($0)) }
      #expect(row?[_slot("number")] == wanted)
    }
  }
}

/// Fetches of all matches, which are sorted in memory, and fetches with a limit, which SQLite sorts, have the
/// same order.
@Suite struct PackedOrderTests {
  private static let _model = ModelSchema(entities: [
    EntitySchema(
      "Mark",
      [
        AttributeSchema("flag", .boolean), AttributeSchema("label", .string),
        AttributeSchema("number", .integer64),
        AttributeSchema("value", .double),
      ], [])
  ])
  private let fixture: StoreFixture

  init() throws {
    fixture = try StoreFixture(Self._model)
    let labels: [Value] = [
      .null, .string(""), .string("a"), .string("a\0"), .string("a\0b"), .string("ab"), .string("abcdefgh"),
      .string("abcdefghi"), .string("abcdefghj"), .string("B"), .string("é"), .string("e\u{301}"),
      .string("👋🏽"),
      .string("\u{FFFD}"),
    ]
    let numbers: [Value] = [.null, .int(.min), .int(-1), .int(0), .int(1), .int(.max)]
    let values: [Value] = [
      .null, .double(-1e300), .double(-0.5), .double(-0.0), .double(0), .double(.leastNonzeroMagnitude),
      .double(2),
    ]
    var insertions: [ChangeSet.Insertion] = []
    for index in 0..<420 {
      insertions.append(
        fixture.insertion(
          "Mark",
          [
            "label": labels[index * 5 % labels.count], "number": numbers[index * 7 % numbers.count],
            "value": values[index * 3 % values.count], "flag": .int(Int64(index % 2)),
          ]))
    }
    try fixture.insert(insertions)
  }

  private func _term(_ name: String, _ ascending: Bool) -> FetchPlan.SortTerm {
    FetchPlan.SortTerm(keyPath: [name], ascending: ascending, comparison: .binary)
  }

  @Test(arguments: ["label", "number", "value", "flag"], [true, false])
  func `the order is SQ lites`(_ name: String, _ ascending: Bool) throws {
    for second in ["label", "number", "value"] where second != name {
      // SQLite may order equal rows arbitrarily, so the last term leaves only equal rows equal.
      var terms = [_term(name, ascending), _term(second, !ascending)]
      terms += ["label", "number", "value", "flag"].map { _term($0, true) }
      var plan = fixture.plan("Mark", sort: terms)
      #expect(fixture.engine.packedOrder(plan) != nil)
      let mine = try fixture.engine.fetch(plan)
      plan.limit = 1_000_000
      #expect(fixture.engine.packedOrder(plan) == nil)
      let theirs = try fixture.engine.fetch(plan)
      #expect(mine.count == 420)
      for (left, right) in zip(mine, theirs) {
        let (left, right) = (try #require(left.row), try #require(right.row))
        for slot in 0..<left.count { #expect(PackedCell.order(left.packed(slot), right.packed(slot)) == 0) }
      }
    }
  }

  @Test func `what is equal stays as it stood`() throws {
    let found = try fixture.engine.fetch(fixture.plan("Mark", sort: [_term("flag", true)])).map(
      \.key.reference)
    #expect(found == found.filter { $0 % 2 == 1 }.sorted() + found.filter { $0 % 2 == 0 }.sorted())
  }

  @Test(arguments: ["number", "value"], [true, false])
  func `an order by one number puts null before the least`(_ name: String, _ ascending: Bool) throws {
    let slot = try #require(fixture.plan("Mark").layout.slot(named: name))
    let rows = try fixture.engine.fetch(fixture.plan("Mark", sort: [_term(name, ascending)])).compactMap(
      \.row)
    #expect(rows.count == 420)
    for (left, right) in zip(rows, rows.dropFirst()) {
      let verdict = PackedCell.order(left.packed(slot), right.packed(slot))
      #expect(ascending ? verdict <= 0 : verdict >= 0)
    }
  }

  @Test func `an order by rules of a language is left to SQLite`() {
    let term = FetchPlan.SortTerm(keyPath: ["label"], ascending: true, comparison: .localizedStandard)
    #expect(fixture.engine.packedOrder(fixture.plan("Mark", sort: [term])) == nil)
  }
}
