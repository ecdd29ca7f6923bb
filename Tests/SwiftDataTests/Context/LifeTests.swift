import SwiftData
import Testing

/// A model from its creation to the save of its deletion.
struct LifeTests {
  @Test func `a new model belongs to no context and can be used`() {
    let shelf = Shelf(code: "A")
    shelf.room = "hall"
    #expect(shelf.modelContext == nil && !shelf.hasChanges && shelf.room == "hall")
    #expect(shelf.persistentModelID.storeIdentifier == nil && shelf.persistentModelID.isTemporary)
  }

  @Test func `the identity becomes permanent with the first save`() throws {
    let context = try ModelContext.ofShelves()
    let shelf = Shelf(code: "A")
    let before = shelf.persistentModelID
    context.insert(shelf)
    #expect(shelf.persistentModelID == before)
    try context.save()
    #expect(shelf.persistentModelID != before && !shelf.persistentModelID.isTemporary)
    #expect(shelf.id == shelf.persistentModelID && shelf.persistentModelID.entityName == "Shelf")
  }

  @Test func `inserting again does nothing`() throws {
    let context = try ModelContext.ofShelves()
    let shelf = Shelf(code: "A")
    context.insert(shelf)
    context.insert(shelf)
    #expect(context.insertedModelsArray.count == 1)
  }

  @Test func `a fetch gives the instance that is there`() throws {
    let context = try ModelContext.ofShelves()
    let shelf = Shelf(code: "A")
    context.insert(shelf)
    #expect(try context.fetch(FetchDescriptor<Shelf>()).first === shelf)
    try context.save()
    #expect(try context.fetch(FetchDescriptor<Shelf>()).first === shelf)
  }

  @Test func `the context lists what is pending`() throws {
    let context = try ModelContext.ofShelves()
    let (kept, changed, deleted) = (Shelf(code: "A"), Shelf(code: "B"), Shelf(code: "C"))
    for shelf in [kept, changed, deleted] { context.insert(shelf) }
    try context.save()
    #expect(!context.hasChanges)
    changed.room = "hall"
    context.delete(deleted)
    let new = Shelf(code: "D")
    context.insert(new)
    new.room = "attic"
    #expect(context.insertedModelsArray.map(\.persistentModelID) == [new.persistentModelID])
    #expect(context.changedModelsArray.map(\.persistentModelID) == [changed.persistentModelID])
    #expect(context.deletedModelsArray.map(\.persistentModelID) == [deleted.persistentModelID])
    #expect(context.hasChanges && changed.hasChanges && !kept.hasChanges)
  }

  @Test func `a deleted model leaves its context with the save`() throws {
    let context = try ModelContext.ofShelves()
    let shelf = Shelf(code: "A", room: "hall")
    context.insert(shelf)
    try context.save()
    context.delete(shelf)
    #expect(shelf.isDeleted && shelf.modelContext === context)
    #expect(try context.fetchCount(FetchDescriptor<Shelf>()) == 0)
    try context.save()
    #expect(!shelf.isDeleted && shelf.modelContext == nil && context.deletedModelsArray.isEmpty)
    #expect(shelf.room == "hall")
  }

  @Test func `deleting twice and deleting a stranger do nothing`() throws {
    let context = try ModelContext.ofShelves()
    let shelf = Shelf(code: "A")
    context.delete(shelf)
    context.insert(shelf)
    try context.save()
    context.delete(shelf)
    context.delete(shelf)
    try context.save()
    context.delete(shelf)
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Shelf>()) == 0)
  }

  @Test func `deleting an unsaved model drops it`() throws {
    let context = try ModelContext.ofShelves()
    let shelf = Shelf(code: "A", room: "hall")
    context.insert(shelf)
    context.delete(shelf)
    #expect(shelf.modelContext == nil && shelf.room == "hall")
    try context.save()
    #expect(try context.stored(Shelf.self).isEmpty)
  }

  @Test func `a changed model is kept until it is saved`() throws {
    let context = try ModelContext.ofShelves()
    do {
      let shelf = Shelf(code: "A")
      context.insert(shelf)
      try context.save()
      shelf.room = "hall"
    }
    try context.save()
    #expect(try context.stored(Shelf.self).map(\.room) == ["hall"])
  }

  @Test func `an unchanged model is let go`() throws {
    let context = try ModelContext.ofShelves()
    weak var seen: Shelf?
    do {
      let shelf = Shelf(code: "A")
      seen = shelf
      context.insert(shelf)
      try context.save()
    }
    #expect(seen == nil)
    #expect(try context.fetch(FetchDescriptor<Shelf>()).map(\.code) == ["A"])
  }

  @Test func `model for an identity is the registered one`() throws {
    let context = try ModelContext.ofShelves()
    let shelf = Shelf(code: "A")
    context.insert(shelf)
    let early = shelf.persistentModelID
    #expect(context.model(for: early) as? Shelf === shelf)
    try context.save()
    let other = ModelContext(context.container)
    let id = shelf.persistentModelID
    #expect(other.registeredModel(for: id) as Shelf? == nil)
    let found = other.model(for: id) as? Shelf
    #expect(found?.code == "A" && (other.registeredModel(for: id) as Shelf?) === found)
  }

  @Test func `an equal value assigned counts as a change`() throws {
    let context = try ModelContext.ofShelves()
    let shelf = Shelf(code: "A", room: "hall")
    context.insert(shelf)
    try context.save()
    shelf.room = "hall"
    #expect(context.hasChanges && shelf.hasChanges)
  }

  @Test func `a context goes on working without its container`() throws {
    let context = try ModelContext.ofShelves()
    context.insert(Shelf(code: "A"))
    try context.save()
    #expect(try context.fetch(FetchDescriptor<Shelf>()).count == 1)
  }
}
