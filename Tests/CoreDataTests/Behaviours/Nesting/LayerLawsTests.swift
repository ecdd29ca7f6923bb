import CoreDataModelSchema
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Laws for composing layers of unsaved changes, on generated changes of one object. `LAYER_CASES` sets their
/// number.
@Suite struct LayerLawsTests {
  private static let _cases = ProcessInfo.processInfo.environment["LAYER_CASES"].flatMap { Int($0) } ?? 2_000

  private let _layout: PropertyLayout
  private let _id: NSManagedObjectID
  private let _members: [NSManagedObjectID]

  init() throws {
    let stack = try TestStack(.memory)
    let book = try stack.stored("Book", ["title": "Notes"])
    (_layout, _id) = (book._layout, book._objectID)
    _members = try (0..<4).map { try stack.stored("Tag", ["name": "\($0)"]).objectID }
  }

  // MARK: Generated changes

  private func _row(_ random: inout SeededRandom, version: Int64) -> Row {
    var row = Row(count: _layout.slots.count, version: version)
    for slot in _layout.slots.indices where !_layout.slots[slot].isToMany {
      if random.chance(80) { row.set(.int(Int64(random.below(4))), at: slot) }
    }
    return row
  }

  private func _delta(_ random: inout SeededRandom) -> ToManyDelta {
    var added: [NSManagedObjectID] = [], removed: [NSManagedObjectID] = []
    for member in _members {
      switch random.below(3) {
      case 0: added.append(member)
      case 1: removed.append(member)
      default: break
      }
    }
    return ToManyDelta(added: added, removed: removed, order: nil)
  }

  /// Returns a change made on `base`.
  private func _entry(_ random: inout SeededRandom, on base: Row?, mayInsert: Bool) -> ChangeLayer.Entry {
    let kind: ChangeLayer.Kind
    switch random.below(10) {
    case 0: kind = .deleted
    case 1 where mayInsert: kind = .inserted
    default: kind = .updated
    }
    if kind == .deleted {
      return ChangeLayer.Entry(kind: kind, id: _id, base: base, row: nil, changed: SlotSet(), isWhole: false)
    }
    let base = base ?? _row(&random, version: Int64(1 + random.below(3)))
    var row = Row(copying: base, version: base.version)
    var changed = SlotSet()
    for slot in _layout.slots.indices {
      if _layout.slots[slot].isToMany { row.set(.null, at: slot) }
      let isDerived = _layout.slots[slot].isToMany && !_layout.recordedToManySlots.contains(slot)
      guard !isDerived, random.chance(40) else { continue }
      changed.insert(slot)
      row.set(
        _layout.slots[slot].isToMany ? .toMany(_delta(&random)) : .int(Int64(random.below(4))), at: slot)
    }
    return ChangeLayer.Entry(
      kind: kind, id: _id, base: kind == .inserted ? nil : base, row: row, changed: changed, isWhole: false)
  }

  /// Returns consecutive changes: each is based on the previous one, or on a row read at another time.
  private func _entries(_ random: inout SeededRandom, _ count: Int) -> [ChangeLayer.Entry] {
    var entries: [ChangeLayer.Entry] = []
    for position in 0..<count {
      let isOnTop = random.chance(50)
      entries.append(
        _entry(&random, on: isOnTop ? entries.last.flatMap(\.row) : nil, mayInsert: position == 0))
    }
    return entries
  }

  /// Returns the content of an entry as text, for comparison.
  private func _said(_ entry: ChangeLayer.Entry) -> String {
    var parts = ["\(entry.kind)"]
    guard let row = entry.row else { return parts[0] }
    for slot in _layout.slots.indices where entry.changed.contains(slot) || entry.kind == .inserted {
      if case .toMany(let delta) = row[slot] {
        func names(_ ids: [NSManagedObjectID]) -> [Int] { ids.map { _members.firstIndex(of: $0)! }.sorted() }
        parts.append("\(slot): +\(names(delta.added)) -\(names(delta.removed))")
      } else if entry.changed.contains(slot) || !_layout.slots[slot].isToMany {
        parts.append("\(slot): \(row[slot])")
      }
    }
    return parts.joined(separator: "; ")
  }

  private func _values(_ row: Row?) -> [Value]? {
    row.map { row in _layout.slots.indices.map { _layout.slots[$0].isToMany ? .null : row[$0] } }
  }

  private func _forEachCase(_ body: (inout SeededRandom) throws -> Void) rethrows {
    for seed in 0..<Self._cases {
      var random = SeededRandom(seed: UInt64(seed))
      try body(&random)
    }
  }

  // MARK: Laws

  @Test func `changes are grouped in any way`() {
    _forEachCase { random in
      let e = _entries(&random, 3)
      let left = ChangeLayer.composed(ChangeLayer.composed(e[0], e[1]), e[2])
      let right = ChangeLayer.composed(e[0], ChangeLayer.composed(e[1], e[2]))
      #expect(_said(left) == _said(right))
    }
  }

  @Test func `merging changes at once equals merging them one by one`() {
    _forEachCase { random in
      let entries = _entries(&random, 2 + random.below(4))
      let stepwise = entries.dropFirst().reduce(entries[0]) { ChangeLayer.composed($0, $1) }
      #expect(_said(ChangeLayer.composed(entries.reversed(), withMembers: true)) == _said(stepwise))
    }
  }

  @Test func `a change told twice says what it said once`() {
    _forEachCase { random in
      let entry = _entries(&random, 1)[0]
      let twice = ChangeLayer.composed(entry, entry)
      #expect(_said(twice) == _said(entry) || entry.kind == .inserted && twice.kind == .inserted)
    }
  }

  @Test func `a composed change shows the same as its two parts`() {
    _forEachCase { random in
      let e = _entries(&random, 2).filter { $0.kind == .updated }
      guard e.count == 2 else { return }
      let below = _row(&random, version: 7)
      let stepwise = e[1].row(over: e[0].row(over: below))
      #expect(_values(ChangeLayer.composed(e[0], e[1]).row(over: below)) == _values(stepwise))
    }
  }

  @Test func `keys that a change leaves out come from the row below`() throws {
    try _forEachCase { random in
      let entry = _entries(&random, 1)[0]
      guard entry.kind == .updated else { return }
      let below = _row(&random, version: Int64(random.below(9)))
      let shown = try #require(entry.row(over: below))
      #expect(shown.version == below.version)
      for slot in _layout.slots.indices where !_layout.slots[slot].isToMany {
        #expect(shown[slot] == (entry.changed.contains(slot) ? entry.row![slot] : below[slot]))
      }
    }
  }

  @Test func `a change shown over the row it was made on copies nothing`() {
    _forEachCase { random in
      let entry = _entries(&random, 1)[0]
      guard entry.kind == .updated, let row = entry.row else { return }
      #expect(entry.row(over: entry.base) === row)
    }
  }

  @Test func `only a save into a store raises a version`() {
    _forEachCase { random in
      let entry = _entries(&random, 1)[0]
      guard entry.kind == .updated else { return }
      let stored = _row(&random, version: Int64(random.below(9)))
      let written = entry.written(over: stored)
      #expect(written.base === stored)
      #expect(written.row?.version == stored.version + 1)
      #expect(_values(written.row) == _values(entry.row(over: stored)))
    }
  }
}
