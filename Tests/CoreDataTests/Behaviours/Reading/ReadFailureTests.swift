import Foundation
import Testing

@testable import CoreData

/// What a context does after a read has failed, under the policy `fail`.
@Suite(.ofFiles) struct ReadFailureTests {
  private let store: OutageStack
  init() throws { store = try OutageStack() }

  /// Returns the titles and pages that the store has.
  private func content() throws -> [String] {
    try store.stack.fresh { context in
      try context.all("Book", by: "title").map {
        "\($0.text("title") ?? "-") \($0.value(forKey: "pages") ?? "-")"
      }
    }
  }

  private static func isTimeout(_ error: CocoaError?) -> Bool {
    error?.code.rawValue == NSPersistentStoreTimeoutError
  }

  // MARK: Saving

  @Test func `A refused write makes no draft, and the save throws until a rollback`() throws {
    try store.fresh { context in
      let book = try store.faults(in: context)[0]
      try store.outage { book.setValue("changed", forKey: "title") }
      #expect(book._draft == nil && book.isFault)
      #expect(context.hasChanges && context.updatedObjects == [book])
      let error = #expect(throws: CocoaError.self) { try context.save() }
      #expect(Self.isTimeout(error))
      #expect(book.text("title") == "One", "it was not written")
      book.setValue("again", forKey: "title")
      #expect(throws: CocoaError.self) { try context.save() }
      context.rollback()
      #expect(!context.hasChanges)
      book.setValue("after", forKey: "title")
      try context.save()
    }
    #expect(try content() == ["Two 8", "after 7"], "no other value was lost")
  }

  /// Ways to write to an object, other than by assigning an attribute.
  static let writes: [@Sendable (NSManagedObject) -> Void] = [
    { ManagedKey<String?>("title")[$0] = "x" },
    { ManagedKey<Int32>("pages")[$0] = 1 },
    { ManagedKey<Double>("price")[$0] = 1 },
    { ManagedKey<Data?>("cover")[$0] = nil },
    { $0.setPrimitiveValue("x", forKey: "title") },
    { $0.setValue(["a"], forKey: "extra") },
    { $0.setValue(nil, forKey: "author") },
    { ManagedKey<NSManagedObject?>("author")[$0] = nil },
    { $0.setPrimitiveValue(nil, forKey: "author") },
    { $0.setValue(nil, forKey: "tags") },
    { $0.setPrimitiveValue(nil, forKey: "tags") },
    { $0.mutableSetValue(forKey: "tags").removeAllObjects() },
    { $0.mutableOrderedSetValue(forKey: "chapters").removeObject(at: 0) },
    { $0.setValue(nil, forKey: "chapters") },
    { ManagedKey<NSOrderedSet?>("chapters").remove(at: 0, from: $0) },
    { ManagedKey<NSManagedObject>("author")[$0].setValue("x", forKey: "name") },
  ]

  @Test(arguments: writes.indices) func `No kind of write is lost in silence`(_ number: Int) throws {
    try store.fresh { context in
      let book = try store.faults(in: context)[0]
      try store.outage { Self.writes[number](book) }
      #expect(book._draft == nil)
      #expect(throws: CocoaError.self) { try context.save() }
    }
    #expect(try content() == ["One 7", "Two 8"])
  }

  @Test func `A save without the unreadable object succeeds`() throws {
    try store.fresh { context in
      let books = try store.faults(in: context)
      try store.outage { #expect(books[0].text("title") == nil) }
      books[1].setValue("2", forKey: "title")
      try context.save()
    }
    #expect(try content() == ["2 8", "One 7"])
  }

  @Test func `A link to an unreadable object fails the save`() throws {
    try store.fresh { context in
      let book = try store.faults(in: context)[0]
      let eve = context.insert("Author", ["name": "Eve"])
      try store.outage { eve.setValue(Set([book]), forKey: "books") }
      #expect(throws: CocoaError.self) { try context.save() }
      context.rollback()
      #expect(book.object("author")?.text("name") == "Ada")
    }
  }

  @Test func `A child's save throws, and its parent stays as it is`() throws {
    let root = store.stack.sibling()
    root.performAndWait { root.readFailurePolicy = .fail }
    let child = store.stack.child(of: root)
    try child.performAndWait {
      let book = try store.faults(in: child)[0]
      try store.outage { book.setValue("changed", forKey: "title") }
      let error = #expect(throws: CocoaError.self) { try child.save() }
      #expect(Self.isTimeout(error))
    }
    root.performAndWait { #expect(!root.hasChanges) }
  }

  @Test func `An object that reads nothing fails the save for that, not for a missing value`() throws {
    let model = LibraryModel.make()
    model.entitiesByName["Publication"]!.propertiesByName["title"]!.isOptional = false
    let store = try OutageStack(model: model)
    try store.fresh { context in
      let book = try store.faults(in: context)[0]
      try store.outage { book.setValue(3, forKey: "pages") }
      let error = #expect(throws: CocoaError.self) { try store.outage { try context.save() } }
      #expect(Self.isTimeout(error))
    }
  }

  // MARK: Throwing elsewhere

  @Test func `Fetches, counts and look-ups throw the kept error until a rollback`() throws {
    try store.fresh { context in
      let books = try store.faults(in: context)
      try store.outage { _ = books[0].text("title") }
      func expectFailures() {
        #expect(Self.isTimeout(#expect(throws: CocoaError.self) { try context.all("Author") }))
        #expect(Self.isTimeout(#expect(throws: CocoaError.self) { try context.count("Author") }))
        #expect(
          Self.isTimeout(
            #expect(throws: CocoaError.self) { try context.existingObject(with: books[1].objectID) }))
      }
      expectFailures()
      #expect(books[0].text("title") == "One", "it can be read again")
      expectFailures()
      context.rollback()
      #expect(try context.count("Author") == 1)
      #expect(try context.existingObject(with: books[1].objectID) === books[1])
    }
  }

  @Test func `A reset forgets the error`() throws {
    try store.fresh { context in
      let book = try store.faults(in: context)[0]
      try store.outage { book.setValue("changed", forKey: "title") }
      context.reset()
      #expect(try context.count("Author") == 1)
      #expect(!context.hasChanges)
    }
  }

  @Test func `A block that can throw ends with the error`() async throws {
    let context = store.stack.sibling()
    nonisolated(unsafe) let outage = store
    let error = await #expect(throws: CocoaError.self) {
      try await context.perform {
        context.readFailurePolicy = .fail
        let book = try outage.faults(in: context)[0]
        try outage.outage { _ = book.text("title") }
      }
    }
    #expect(Self.isTimeout(error))
    await context.perform { context.name = "cannot throw" }
    try await context.perform {
      context.rollback()
      _ = try context.count("Book")
    }
  }

  // MARK: Observers and policies

  @Test func `An observer gets context, object ID and error, once`() throws {
    try store.fresh { context in
      let book = try store.faults(in: context)[0]
      let posted = Posted(.NSManagedObjectContextReadDidFail, by: context)
      try store.outage {
        _ = book.text("title")
        _ = book.objects("tags")
      }
      #expect(posted.userInfos.count == 1)
      let info = posted.userInfos.first
      #expect(info?[NSManagedObjectContextReadFailureObjectIDKey] as? NSManagedObjectID == book.objectID)
      #expect(Self.isTimeout(info?[NSUnderlyingErrorKey] as? CocoaError))
      context.rollback()
      context.refresh(book, mergeChanges: false)
      store.stack.coordinator.rowCache.removeAll()
      try store.outage { _ = book.text("title") }
      #expect(posted.userInfos.count == 2)
    }
  }

  @Test func `The policy comes from the container, the coordinator and the parent`() throws {
    let container = NSPersistentContainer(name: "Library", managedObjectModel: LibraryModel.make())
    let root = container.newBackgroundContext()
    let child = store.stack.child(of: root)
    func policies() -> [ReadFailurePolicy] {
      [root.performAndWait { root.readFailurePolicy }, child.performAndWait { child.readFailurePolicy }]
    }
    #expect(policies() == [.trap, .trap])
    container.readFailurePolicy = .fail
    #expect(container.persistentStoreCoordinator.readFailurePolicy == .fail)
    #expect(policies() == [.fail, .fail])
    root.performAndWait { root.readFailurePolicy = .trap }
    #expect(policies() == [.trap, .trap])
    child.performAndWait { child.readFailurePolicy = .fail }
    #expect(policies() == [.trap, .fail])
  }

  @Test func `A refresh that cannot read keeps the changes, and fails the save`() throws {
    try store.fresh { context in
      let book = try store.faults(in: context)[0]
      book.setValue("changed", forKey: "title")
      context.stalenessInterval = 0
      try store.outage { context.refresh(book, mergeChanges: true) }
      #expect(book.text("title") == "changed" && book.value(forKey: "pages") as? Int == 7)
      #expect(throws: CocoaError.self) { try context.save() }
    }
  }

  @Test func `A custom store fails like a file`() throws {
    let url = URL(fileURLWithPath: "/shelf/\(UUID().uuidString)")
    NSPersistentStoreCoordinator.registerStoreClass(ShelfStore.self, forStoreType: ShelfStore.type)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
    coordinator.readFailurePolicy = .fail
    try coordinator.addPersistentStore(ofType: ShelfStore.type, configurationName: nil, at: url, options: nil)
    let writer = coordinator.newContext()
    try writer.performAndWait {
      writer.insert("Book", ["title": "One"])
      try writer.save()
    }
    coordinator.rowCache.removeAll()
    let context = coordinator.newContext()
    try context.performAndWait {
      let book = try #require(try context.all("Book").first)
      coordinator.rowCache.removeAll()
      ShelfStore.world(at: url).outage = CocoaError(.fileReadUnknown)
      #expect(book.text("title") == nil && book.objects("tags").isEmpty)
      ShelfStore.world(at: url).outage = nil
      #expect(book.text("title") == "One")
      #expect(throws: CocoaError(.fileReadUnknown)) { try context.count("Book") }
    }
  }
}
