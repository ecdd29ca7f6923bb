import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation
import Testing

@testable import CoreData

@Suite struct VersionConflictTests {
  private let fixture: StoreFixture
  private let keys: [ObjectKey]

  init() throws {
    let fixture = try StoreFixture(Models.transit)
    self.fixture = fixture
    keys = try fixture.insert((0..<3).map { fixture.insertion("Route", ["name": .string("\($0)")]) })
  }

  @Test func `conflicts are all reported and nothing is written`() throws {
    let stale = try keys.map { try fixture.update($0, "Route", ["name": .string("mine")]) }
    try fixture.engine.commit(
      ChangeSet(updated: [try fixture.update(keys[0], "Route", ["name": .string("theirs")])]))
    try fixture.engine.commit(ChangeSet(deleted: [.init(id: stale[1].id, base: stale[1].base)]))
    let error = #expect(throws: StoreConflictError.self) {
      try fixture.engine.commit(ChangeSet(updated: stale))
    }
    let conflicts = try #require(error?.conflicts)
    #expect(conflicts.map { $0.id.reference } == [1, 2])
    #expect(conflicts[0].persisted?[0] == .string("theirs"))
    #expect(conflicts[0].persisted?.version == 2)
    #expect(conflicts[1].persisted == nil)
    #expect(try fixture.engine.rows(for: [keys[2]])[0]?[0] == .string("2"))
  }

  @Test func `one changed row among many deleted is the conflict`() throws {
    let keys = try fixture.insert((0..<20).map { _ in fixture.insertion("Route", [:]) })
    let bases = try keys.map { try #require(try fixture.engine.rows(for: [$0])[0]) }
    try fixture.engine.commit(ChangeSet(updated: [fixture.update(keys[4], "Route", [:])]))
    try fixture.engine.commit(ChangeSet(deleted: [.init(id: NSManagedObjectID(keys[9]), base: bases[9])]))
    let error = #expect(throws: StoreConflictError.self) {
      try fixture.engine.commit(
        ChangeSet(deleted: zip(keys, bases).map { .init(id: NSManagedObjectID($0), base: $1) }))
    }
    #expect(error?.conflicts.map { $0.id.reference } == [keys[4].reference, keys[9].reference])
    #expect(error?.conflicts.map { $0.persisted?.version } == [2, nil])
    #expect(try fixture.keys("Route").count == 22)
  }

  @Test func `a deletion of a changed row is a conflict`() throws {
    let base = try fixture.engine.rows(for: [keys[0]])[0]!
    try fixture.engine.commit(ChangeSet(updated: [try fixture.update(keys[0], "Route", [:])]))
    let deletion = ChangeSet.Deletion(id: NSManagedObjectID(keys[0]), base: base)
    let error = #expect(throws: StoreConflictError.self) {
      try fixture.engine.commit(ChangeSet(deleted: [deletion]))
    }
    #expect(error?.conflicts.first?.persisted?.version == 2)
  }

  @Test func `a locked object must be unchanged`() throws {
    let base = try fixture.engine.rows(for: [keys[0]])[0]!
    let lock = ChangeSet.Lock(id: NSManagedObjectID(keys[0]), base: base)
    try fixture.engine.commit(ChangeSet(locked: [lock]))
    try fixture.engine.commit(ChangeSet(updated: [try fixture.update(keys[0], "Route", [:])]))
    #expect(throws: StoreConflictError.self) { try fixture.engine.commit(ChangeSet(locked: [lock])) }
  }

  @Test func `two engines over one file see each others changes`() throws {
    let other = try fixture.reopened()
    let stale = try fixture.update(keys[0], "Route", ["name": .string("mine")])
    try other.commit(ChangeSet(updated: [try fixture.update(keys[0], "Route", ["name": .string("theirs")])]))
    #expect(throws: StoreConflictError.self) { try fixture.engine.commit(ChangeSet(updated: [stale])) }
    // Both coordinators identify the store by its UUID, so their IDs are equal.
    let theirs = try other.fetch(fixture.plan("Route")).map { NSManagedObjectID($0.key) }
    #expect(theirs[0].isEqual(NSManagedObjectID(keys[0])))
  }

  @Test func `a locked file ends in a timeout`() throws {
    var options = SQLiteStoreOptions()
    options.timeout = 0.01
    let engine = try fixture.reopened(options)
    let blocker = try fixture.connection()
    try blocker.beginImmediate()
    defer { blocker.rollback() }
    let error = #expect(throws: SQLiteStoreError.self) {
      try engine.commit(ChangeSet(inserted: [fixture.insertion("Route", [:])]))
    }
    #expect(error?.cocoaCode == 134090)
    #expect(try engine.count(fixture.plan("Route")) == 3)
  }
}

@Suite struct ConstraintTests {
  private let fixture: StoreFixture
  init() throws { fixture = try StoreFixture(Models.transit) }

  private func _violations(_ changes: ChangeSet) throws -> [StoreConstraintError.Violation] {
    let error = #expect(throws: StoreConstraintError.self) { try fixture.engine.commit(changes) }
    return try #require(error?.violations)
  }

  @Test func `the stored object with the same value is named`() throws {
    let stored = try fixture.insert("Stop", ["identifier": .string("x"), "code": .int(5)])
    let new = fixture.insertion("Stop", ["identifier": .string("x")])
    let violations = try _violations(ChangeSet(inserted: [fixture.insertion("Stop", [:]), new]))
    #expect(violations.count == 1)
    #expect(violations[0].constraint == ["identifier"])
    #expect(violations[0].objects.map(ObjectIdentifier.init) == [ObjectIdentifier(new.id)])
    #expect(violations[0].existing?.key == stored)
    #expect(violations[0].existing?.row?[fixture.slot("code", in: "Stop")] == .int(5))
    #expect(new.id.permanent == nil)
    #expect(try fixture.engine.count(fixture.plan("Stop")) == 1)
  }

  @Test func `objects of one save at odds are named together`() throws {
    let new = (0..<3).map { _ in fixture.insertion("Stop", ["identifier": .string("x")]) }
    let violations = try _violations(ChangeSet(inserted: new))
    #expect(violations.count == 1)
    #expect(violations[0].objects.count == 3)
    #expect(violations[0].existing == nil)
  }

  @Test func `nil is never at odds`() throws {
    try fixture.insert([fixture.insertion("Stop", [:]), fixture.insertion("Stop", [:])])
    #expect(try fixture.engine.count(fixture.plan("Stop")) == 2)
  }

  @Test func `a deleted objects value is free`() throws {
    let old = try fixture.insert("Stop", ["identifier": .string("x")])
    let base = try fixture.engine.rows(for: [old])[0]!
    let new = fixture.insertion("Stop", ["identifier": .string("x")])
    try fixture.engine.commit(
      ChangeSet(inserted: [new], deleted: [.init(id: NSManagedObjectID(old), base: base)]))
    #expect(try fixture.keys("Stop") == [2])
  }

  @Test func `objects may exchange values`() throws {
    let keys = try fixture.insert(["a", "b"].map { fixture.insertion("Stop", ["identifier": .string($0)]) })
    let first = try fixture.update(keys[0], "Stop", ["identifier": .string("b")])
    let second = try fixture.update(keys[1], "Stop", ["identifier": .string("a")])
    try fixture.engine.commit(ChangeSet(updated: [first, second]))
    let rows = try fixture.engine.rows(for: keys)
    let slot = fixture.slot("identifier", in: "Stop")
    #expect(rows.map { $0?[slot] } == [.string("b"), .string("a")])
    #expect(rows.map { $0?.version } == [2, 2])
  }
}
