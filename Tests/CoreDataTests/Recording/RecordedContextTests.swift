import Foundation
import Testing

@testable import CoreData

/// What a recording has of what contexts do.
// In turn: a program makes one recording at a time.
@Suite(.serialized) struct RecordedContextTests {
  private let _file = FileManager.default.temporaryDirectory.appendingPathComponent(
    "trace-\(UUID().uuidString).ndjson")

  /// Does something in a context of a store that is recorded, and returns the recording's lines after that.
  private func _recorded(
    values: Bool = true, before: (NSManagedObjectContext) throws -> Void = { _ in },
    _ body: (NSManagedObjectContext) throws -> Void
  ) throws -> [[String: Any]] {
    defer { try? FileManager.default.removeItem(at: _file) }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
    let store = try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil,
      options: [
        NSPersistentStoreRecordingFileOption: _file.path, NSPersistentStoreRecordingValuesOption: values,
      ])
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    let manager = UndoManager()
    // Each round of changes is undone alone.
    manager.groupsByEvent = false
    context.undoManager = manager
    try context.performAndWait {
      try before(context)
      context.processPendingChanges()
      let marker = NSFetchRequest<NSManagedObject>(entityName: "Author")
      marker.fetchLimit = 77
      _ = try context.count(for: marker)
      try body(context)
      context.processPendingChanges()
    }
    try coordinator.remove(store)
    let lines = try String(contentsOf: _file, encoding: .utf8).split(separator: "\n").map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
    let marked = try #require(lines.lastIndex { $0["kind"] as? String == "count" })
    return Array(lines[(marked + 1)...])
  }

  private func _author(_ name: String, in context: NSManagedObjectContext) -> NSManagedObject {
    let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
    author.setValue(name, forKey: "name")
    return author
  }

  /// The same with an author that is stored already.
  private func _recordedOfAuthor(
    _ body: (NSManagedObjectContext, NSManagedObject) throws -> Void
  ) throws -> [[String: Any]] {
    try _recorded { context in
      _ = _author("a", in: context)
      try context.save()
    } _: { context in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
      try body(context, try #require(try context.fetch(request).first))
    }
  }

  private func _changes(_ lines: [[String: Any]]) -> [[String: Any]] {
    lines.flatMap { $0["changes"] as? [[String: Any]] ?? [] }
  }

  @Test func `a rollback and a reset are in it`() throws {
    let lines = try _recorded { context in
      _ = _author("a", in: context)
      context.processPendingChanges()
      context.rollback()
      context.reset()
    }
    #expect(lines.map { $0["kind"] as? String } == ["changes", "rollback", "reset"])
  }

  @Test func `an undo leaves nothing unsaved, which is told`() throws {
    let lines = try _recordedOfAuthor { context, author in
      author.setValue("b", forKey: "name")
      context.processPendingChanges()
      context.undo()
      #expect(author.value(forKey: "name") as? String == "a")
    }
    let changes = _changes(lines)
    #expect(changes.count == 2, "\(lines)")
    #expect((changes.first?["values"] as? [String: Any])?["name"] as? String == "b")
    #expect(changes.last?["revert"] as? String == changes.first?["update"] as? String)
  }

  @Test func `an undone insertion is told as a deletion`() throws {
    let lines = try _recorded { context in
      _ = _author("a", in: context)
      context.processPendingChanges()
      context.undo()
      #expect(context.insertedObjects.isEmpty)
    }
    let changes = _changes(lines)
    #expect(
      changes.count == 2 && changes[0]["insert"] as? String == changes[1]["delete"] as? String, "\(lines)")
  }

  @Test func `an undone deletion is told`() throws {
    let lines = try _recordedOfAuthor { context, author in
      context.delete(author)
      context.processPendingChanges()
      context.undo()
      #expect(!author.isDeleted)
    }
    let changes = _changes(lines)
    #expect(changes.count == 2 && changes[0]["delete"] != nil && changes[1]["revert"] != nil, "\(lines)")
  }

  @Test func `a refresh that discards changes is told`() throws {
    let lines = try _recordedOfAuthor { context, author in
      author.setValue("b", forKey: "name")
      context.processPendingChanges()
      context.refresh(author, mergeChanges: false)
    }
    let changes = _changes(lines)
    #expect(changes.count == 2 && changes[1]["revert"] != nil, "\(lines)")
  }

  @Test func `contexts of other coordinators are not in it, and it ends with the store`() throws {
    let other = try TestStack(.memory)
    let lines = try _recorded { context in
      try other.context.performAndWait {
        _ = _author("x", in: other.context)
        try other.context.save()
      }
      let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      child.parent = context
      try child.performAndWait {
        _ = _author("c", in: child)
        try child.save()
      }
    }
    #expect(TraceRecorder.current == nil)
    let names = _changes(lines).compactMap { ($0["values"] as? [String: Any])?["name"] as? String }
    #expect(names == ["c"], "\(lines)")
  }

  @Test func `without values there are the names of what has changed only`() throws {
    let lines = try _recorded(values: false) { context in
      _ = _author("secret", in: context)
      try context.save()
    }
    #expect(!"\(lines)".contains("secret"))
    #expect(_changes(lines).first?["keys"] as? [String] == ["name"])
  }

  @Test(arguments: ["/no/such/directory/trace.ndjson", ""])
  func `a file that cannot be created prevents nothing but the recording`(_ path: String) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
    let store = try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil,
      options: [NSPersistentStoreRecordingFileOption: path])
    #expect(TraceRecorder.current == nil)
    try coordinator.remove(store)
  }
}
