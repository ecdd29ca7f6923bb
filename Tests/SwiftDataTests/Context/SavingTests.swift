import CoreData
import SwiftData
import TestSupport
import Testing

/// Saving, rolling back, and notifications.
struct SavingTests {
  @Test func `a second model with a unique value updates the first`() throws {
    let context = try ModelContext.ofShelves()
    context.insert(Shelf(code: "A", room: "hall"))
    try context.save()
    context.insert(Shelf(code: "A", room: "attic"))
    #expect(try context.fetchCount(FetchDescriptor<Shelf>()) == 2)
    try context.save()
    #expect(try context.fetch(FetchDescriptor<Shelf>()).map(\.room) == ["attic"])
    #expect(try context.stored(Shelf.self).map(\.room) == ["attic"])
  }

  @Test func `rollback drops new models and brings back values`() throws {
    let context = try ModelContext.ofShelves()
    let shelf = Shelf(code: "A", room: "hall")
    context.insert(shelf)
    try context.save()
    shelf.room = "attic"
    let new = Shelf(code: "B", room: "cellar")
    context.insert(new)
    context.rollback()
    #expect(!context.hasChanges && shelf.room == "hall")
    #expect(new.modelContext == nil && new.room == "cellar")
    #expect(try context.fetchCount(FetchDescriptor<Shelf>()) == 1)
    context.insert(new)
    try context.save()
    #expect(try Set(context.stored(Shelf.self).map(\.code)) == ["A", "B"])
  }

  @Test func `rollback brings back deleted models`() throws {
    let context = try ModelContext.ofShelves()
    let shelf = Shelf(code: "A")
    context.insert(shelf)
    try context.save()
    context.delete(shelf)
    context.rollback()
    #expect(!shelf.isDeleted && shelf.code == "A")
    #expect(try context.fetch(FetchDescriptor<Shelf>()).first === shelf)
  }

  @Test func `a required value that is missing fails the save`() throws {
    let context = try ModelContext(
      ModelContainer(for: Pupil.self, configurations: .init(isStoredInMemoryOnly: true)))
    let school = School()
    context.insert(Pupil(school: school))
    try context.save()
    context.delete(school)
    try? context.save()
    #expect(context.container.schema.entitiesByName["Pupil"] != nil)
  }

  @Test func `did-save tells identifiers by string keys`() throws {
    let context = try ModelContext.ofShelves()
    let (changed, deleted) = (Shelf(code: "A"), Shelf(code: "B"))
    context.insert(changed)
    context.insert(deleted)
    try context.save()
    let deletedID = deleted.persistentModelID
    let heard = Heard()
    let tokens = [ModelContext.willSave, ModelContext.didSave].map { name in
      NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { heard.add($0) }
    }
    defer { for token in tokens { NotificationCenter.default.removeObserver(token) } }
    changed.room = "hall"
    context.delete(deleted)
    let new = Shelf(code: "C")
    context.insert(new)
    try context.save()
    try context.save()
    #expect(heard.names == [ModelContext.willSave, ModelContext.didSave])
    let info = heard.last
    #expect(info["inserted"] as? [PersistentIdentifier] == [new.persistentModelID])
    #expect(info["updated"] as? [PersistentIdentifier] == [changed.persistentModelID])
    let key = ModelContext.NotificationKey.deletedIdentifiers.rawValue
    #expect(info[key] as? [PersistentIdentifier] == [deletedID])
  }

  @Test func `a transaction saves, and keeps changes when its block throws`() throws {
    let context = try ModelContext.ofShelves()
    try context.transaction { context.insert(Shelf(code: "A")) }
    #expect(try context.stored(Shelf.self).count == 1)
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try context.transaction {
        context.insert(Shelf(code: "B"))
        throw Stop()
      }
    }
    #expect(context.hasChanges)
    #expect(try context.stored(Shelf.self).count == 1)
  }

  @Test func `a read-only configuration refuses the save`() throws {
    let place = try TemporaryPlace.makeDirectory().appendingPathComponent("shelves.store")
    do {
      let context = ModelContext(try ModelContainer(for: Shelf.self, configurations: .init(url: place)))
      context.insert(Shelf(code: "A"))
      try context.save()
    }
    let context = ModelContext(
      try ModelContainer(for: Shelf.self, configurations: .init(url: place, allowsSave: false)))
    #expect(try context.fetch(FetchDescriptor<Shelf>()).map(\.code) == ["A"])
    context.insert(Shelf(code: "B"))
    #expect(throws: (any Error).self) { try context.save() }
  }

  @Test func `what one context saves, another shows when it fetches`() throws {
    let context = try ModelContext.ofShelves()
    let shelf = Shelf(code: "A")
    context.insert(shelf)
    try context.save()
    let other = ModelContext(context.container)
    let theirs = try #require(try other.fetch(FetchDescriptor<Shelf>()).first)
    shelf.room = "hall"
    try context.save()
    _ = try other.fetch(FetchDescriptor<Shelf>())
    #expect(theirs.room == "hall")
  }

  @Test func `the later save wins property by property`() throws {
    let context = try ModelContext.ofShelves()
    let shelf = Shelf(code: "A", room: "hall")
    context.insert(shelf)
    try context.save()
    let other = ModelContext(context.container)
    let theirs = try #require(try other.fetch(FetchDescriptor<Shelf>()).first)
    theirs.room = "attic"
    shelf.code = "B"
    try context.save()
    try other.save()
    let stored = try context.stored(Shelf.self)
    #expect(stored.map(\.code) == ["B"] && stored.map(\.room) == ["attic"])
  }

  @Test func `undo takes back a change`() throws {
    let context = try ModelContext.ofShelves()
    let shelf = Shelf(code: "A", room: "hall")
    context.insert(shelf)
    try context.save()
    context.undoManager = UndoManager()
    shelf.room = "attic"
    context.processPendingChanges()
    context.undoManager?.undo()
    #expect(shelf.room == "hall")
  }

  @Test func `deleting by predicate leaves what is not saved`() throws {
    let context = try ModelContext.ofShelves()
    context.insert(Shelf(code: "A", room: "hall"))
    context.insert(Shelf(code: "B", room: "attic"))
    try context.save()
    try context.delete(model: Shelf.self, where: #Predicate { $0.room == "hall" })
    #expect(try context.fetch(FetchDescriptor<Shelf>()).map(\.code) == ["B"])
    context.insert(Shelf(code: "A", room: "new"))
    try context.save()
    #expect(try Set(context.stored(Shelf.self).map(\.room)) == ["attic", "new"])
    context.insert(Shelf(code: "C"))
    try context.delete(model: Shelf.self)
    try context.save()
    #expect(try context.stored(Shelf.self).map(\.code) == ["C"])
  }

  @Test func `reading tracks, and setting tells, one property`() throws {
    let context = try ModelContext.ofShelves()
    let shelf = Shelf(code: "A")
    context.insert(shelf)
    let heard = Heard()
    withObservationTracking {
      _ = shelf.room
    } onChange: {
      heard.count()
    }
    shelf.code = "B"
    #expect(heard.times == 0)
    shelf.room = "hall"
    #expect(heard.times == 1)
  }
}

/// What an observer received.
final class Heard: @unchecked Sendable {
  private(set) var names: [Notification.Name] = []
  private(set) var last: [AnyHashable: Any] = [:]
  private(set) var times = 0

  func add(_ notification: Notification) {
    names.append(notification.name)
    last = notification.userInfo ?? [:]
  }

  func count() { times += 1 }
}
