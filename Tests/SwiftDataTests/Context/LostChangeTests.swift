import CoreData
import Foundation
import Testing

@testable import SwiftData

@Model private final class Thing {
  @Attribute(.unique) var name: String
  var note: String?
  @Relationship(inverse: \Fragment.thing) var parts: [Fragment] = []

  init(_ name: String, _ note: String? = nil) {
    self.name = name
    self.note = note
  }
}

@Model private final class Fragment {
  var name: String
  var thing: Thing?

  init(_ name: String) { self.name = name }
}

@Model private final class Holder {
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \Holding.owner) var owned: [Holding] = []

  init(_ name: String) { self.name = name }
}

@Model private final class Holding {
  var name: String
  var owner: Holder

  init(_ name: String, owner: Holder) {
    self.name = name
    self.owner = owner
  }

  init(owner: Holder, naming name: () throws -> String) rethrows {
    self.owner = owner
    self.name = try name()
  }
}

/// Changes that a program makes are saved, or it learns that they are not.
struct LostChangeTests {
  private let _container: ModelContainer

  init() throws {
    _container = try ModelContainer(
      for: Thing.self, Holder.self, configurations: .init(isStoredInMemoryOnly: true))
  }

  private func _context() -> ModelContext {
    let context = ModelContext(_container)
    context.autosaveEnabled = false
    return context
  }

  private func _notes(_ name: String) throws -> [String?] {
    try _context().fetch(FetchDescriptor<Thing>(predicate: #Predicate { $0.name == name })).map(\.note)
  }

  // MARK: Upserts

  @Test func `an instance that an upsert merged into another saves its later changes`() throws {
    let context = _context()
    let first = Thing("a", "1")
    context.insert(first)
    try context.save()
    let second = Thing("a", "2")
    context.insert(second)
    try context.save()
    #expect(second.note == "2" && second.modelContext === context)
    #expect(second.persistentModelID == first.persistentModelID && second == first)
    second.note = "3"
    #expect(context.hasChanges)
    try context.save()
    #expect(try _notes("a") == ["3"] && first.note == "3")
    first.note = "4"
    try context.save()
    #expect(try _notes("a") == ["4"] && second.note == "4")
  }

  @Test func `an instance that takes over another context's row saves its later changes`() throws {
    let (context, other) = (_context(), _context())
    other.insert(Thing("a", "1"))
    try other.save()
    let second = Thing("a", "2")
    context.insert(second)
    try context.save()
    second.note = "3"
    try context.save()
    #expect(try _notes("a") == ["3"])
  }

  @Test func `two new instances of one save both stay usable`() throws {
    let context = _context()
    let (first, second) = (Thing("a", "1"), Thing("a", "2"))
    context.insert(first)
    context.insert(second)
    try context.save()
    #expect(try _notes("a").count == 1)
    first.note = "3"
    try context.save()
    #expect(try _notes("a") == ["3"] && second.note == "3")
    second.note = "4"
    try context.save()
    #expect(try _notes("a") == ["4"] && first.note == "4")
  }

  @Test func `relationships of an instance that an upsert merged are the survivor's`() throws {
    let context = _context()
    let first = Thing("a")
    context.insert(first)
    first.parts = [Fragment("one")]
    try context.save()
    let second = Thing("a")
    context.insert(second)
    second.parts = [Fragment("two")]
    try context.save()
    second.parts.append(Fragment("three"))
    try context.save()
    #expect(Set(first.parts.map(\.name)) == ["one", "two", "three"])
    #expect(try _context().fetch(FetchDescriptor<Fragment>()).allSatisfy { $0.thing?.name == "a" })
  }

  @Test func `an instance that an upsert merged can be deleted`() throws {
    let context = _context()
    let first = Thing("a")
    context.insert(first)
    try context.save()
    let second = Thing("a")
    context.insert(second)
    try context.save()
    context.delete(second)
    try context.save()
    #expect(try _notes("a").isEmpty && second.modelContext == nil && first.modelContext == nil)
  }

  // MARK: Required relationships

  @Test func `a new model with a required to-one to an inserted one is inserted`() throws {
    let context = _context()
    let owner = Holder("o")
    context.insert(owner)
    try context.save()
    _ = Holding("k", owner: owner)
    #expect(context.hasChanges)
    try context.save()
    #expect(try _context().fetch(FetchDescriptor<Holding>()).map(\.owner.name) == ["o"])
  }

  @Test func `a model whose initializer relates it before it sets all values is whole when saved`() throws {
    let context = _context()
    let owner = Holder("o")
    context.insert(owner)
    let held = Holding(owner: owner) { "k" }
    try context.save()
    #expect(held.name == "k" && held.modelContext === context)
    held.name = "l"
    try context.save()
    #expect(try _context().fetch(FetchDescriptor<Holding>()).map(\.name) == ["l"])
  }

  @Test func `a model whose initializer throws is not inserted`() throws {
    let context = _context()
    let owner = Holder("o")
    context.insert(owner)
    _ = try? Holding(owner: owner) { throw CancellationError() }
    try context.save()
    #expect(try _context().fetchCount(FetchDescriptor<Holding>()) == 0)
  }

  @Test func `a new model joins when its owner is inserted later`() throws {
    let context = _context()
    let owner = Holder("o")
    let owned = Holding("k", owner: owner)
    context.insert(owned)
    try context.save()
    #expect(try _context().fetchCount(FetchDescriptor<Holder>()) == 1)
  }

  // MARK: Deletions taken back

  @Test func `inserting a deleted model before the save keeps it`() throws {
    let context = _context()
    let thing = Thing("a", "1")
    context.insert(thing)
    thing.parts = [Fragment("one")]
    try context.save()
    context.delete(thing)
    context.insert(thing)
    #expect(!thing.isDeleted)
    try context.save()
    #expect(try _notes("a") == ["1"])
    thing.note = "2"
    try context.save()
    #expect(try _notes("a") == ["2"])
  }

  @Test func `inserting a model whose deletion was saved inserts it anew`() throws {
    let context = _context()
    let thing = Thing("a", "1")
    context.insert(thing)
    try context.save()
    context.delete(thing)
    try context.save()
    #expect(thing.modelContext == nil && thing.note == "1")
    context.insert(thing)
    #expect(thing.modelContext === context)
    thing.note = "2"
    try context.save()
    #expect(try _notes("a") == ["2"])
  }

  @Test func `a new model that was deleted can be inserted again`() throws {
    let context = _context()
    let thing = Thing("a", "1")
    context.insert(thing)
    context.delete(thing)
    context.insert(thing)
    try context.save()
    #expect(try _notes("a") == ["1"])
  }

  // MARK: Losses that are told

  @Test func `a change of a model whose context is gone is told`() throws {
    let thing: Thing
    do {
      let context = _context()
      context.insert(Thing("a", "1"))
      try context.save()
      thing = try #require(try context.fetch(FetchDescriptor<Thing>()).first)
    }
    thing.note = "2"
    #expect(thing.note == "2" && Console.hasWarned(about: "orphaned Thing"))
    #expect(try _notes("a") == ["1"])
  }

  @Test func `unsaved changes of a context that is let go are told`() throws {
    do { _context().insert(Thing("a", "1")) }
    #expect(Console.hasWarned(about: "unsaved changes of a context"))
    #expect(try _notes("a").isEmpty)
  }

  @Test func `a changed model whose row another context has deleted leaves its context`() throws {
    let (context, other) = (_context(), _context())
    other.insert(Thing("a", "1"))
    try other.save()
    let thing = try #require(try context.fetch(FetchDescriptor<Thing>()).first)
    thing.note = "2"
    other.delete(try #require(try other.fetch(FetchDescriptor<Thing>()).first))
    try other.save()
    try context.save()
    #expect(thing.modelContext == nil && !context.hasChanges)
    #expect(try _notes("a").isEmpty)
  }

  @Test func `changes in a transaction that throws stay pending`() throws {
    let context = _context()
    #expect(throws: CancellationError.self) {
      try context.transaction {
        context.insert(Thing("a", "1"))
        throw CancellationError()
      }
    }
    #expect(context.hasChanges)
    try context.save()
    #expect(try _notes("a") == ["1"])
  }

  @MainActor @Test func `erasing makes changed models leave the main context, and keeps new ones`() throws {
    let context = _container.mainContext
    context.autosaveEnabled = false
    context.insert(Thing("a", "1"))
    try context.save()
    let thing = try #require(try context.fetch(FetchDescriptor<Thing>()).first)
    thing.note = "2"
    context.insert(Thing("b", "1"))
    try _container.erase()
    #expect(try context.fetch(FetchDescriptor<Thing>()).map(\.name) == ["b"])
    try context.save()
    #expect(try _notes("a").isEmpty && _notes("b") == ["1"])
    #expect(thing.modelContext == nil)
  }
}
