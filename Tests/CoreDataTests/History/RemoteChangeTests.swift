import CoreData
import Foundation
import Synchronization
import TestSupport
import Testing

/// Notifications of writes to a store by any process.
struct RemoteChangeTests {
  private static var options: [AnyHashable: Any] {
    [
      NSPersistentStoreRemoteChangeNotificationPostOptionKey: NSNumber(value: true),
      NSPersistentHistoryTrackingKey: NSNumber(value: true),
    ]
  }

  /// The notifications that a coordinator posts.
  private final class Received: Sendable {
    struct Note: Sendable {
      let store: String?
      let url: URL?
      let token: NSPersistentHistoryToken?
    }

    /// Retained, so that it keeps posting.
    private let _coordinator: NSPersistentStoreCoordinator
    private let _notes = Mutex<[Note]>([])
    private let _token = Mutex<Token?>(nil)
    private struct Token: @unchecked Sendable {
      // Unchecked: only passed back to the notification centre.
      let token: any NSObjectProtocol
    }

    init(_ coordinator: NSPersistentStoreCoordinator) {
      _coordinator = coordinator
      let token = NotificationCenter.default.addObserver(
        forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil
      ) { [weak self] note in
        let new = Note(
          store: note.userInfo?[NSStoreUUIDKey] as? String,
          url: note.userInfo?[NSPersistentStoreURLKey] as? URL,
          token: note.userInfo?[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken)
        self?._notes.withLock { $0.append(new) }
      }
      let kept = Token(token: token)
      _token.withLock { $0 = kept }
    }

    deinit {
      if let token = _token.withLock({ $0 }) { NotificationCenter.default.removeObserver(token.token) }
    }

    var notes: [Note] { _notes.withLock { $0 } }
  }

  @Test func `a save is posted by every coordinator with the option`() throws {
    let stack = try TestStack(.sqlite, options: Self.options)
    let other = try stack.otherCoordinator()
    let silent = try stack.otherCoordinator(
      options: .some([NSPersistentHistoryTrackingKey: NSNumber(value: true)]))
    let (mine, others, none) = (Received(stack.coordinator), Received(other), Received(silent))
    try stack.context.performAndWait { try stack.context.saveTags("a") }
    let token = stack.coordinator.currentPersistentHistoryToken(fromStores: nil)
    #expect(eventually { mine.notes.contains { $0.token == token } })
    #expect(eventually { others.notes.contains { $0.token == token } })
    #expect(none.notes.isEmpty)
    let note = try #require(others.notes.last)
    #expect(note.store == stack.coordinator.persistentStores[0].identifier)
    #expect(note.url == stack.url)
  }

  @Test(.ofFiles) func `without history there is no token`() throws {
    let stack = try TestStack(
      .sqlite, options: [NSPersistentStoreRemoteChangeNotificationPostOptionKey: NSNumber(value: true)])
    let received = Received(stack.coordinator)
    try stack.context.performAndWait { try stack.context.saveTags("a") }
    #expect(eventually { !received.notes.isEmpty })
    #expect(received.notes[0].token == nil)
  }

  @Test(.ofFiles) func `another process is noticed`() throws {
    let shell = "/usr/bin/sqlite3"
    guard FileManager.default.isExecutableFile(atPath: shell) else { return }
    let stack = try TestStack(.sqlite, options: Self.options)
    try stack.context.performAndWait { try stack.context.saveTags("a") }
    let received = Received(stack.coordinator)
    let before = received.notes.count
    let other = try ChildProcess.run(
      shell, [stack.url.path, "UPDATE ZTAG SET ZNAME = 'theirs', Z_OPT = Z_OPT + 1"])
    #expect(other.code == 0, "\(other.error)")
    #expect(eventually { received.notes.count > before })
  }

  @Test func `batch requests are writes too`() throws {
    let stack = try TestStack(.sqlite, options: Self.options)
    let other = Received(try stack.otherCoordinator())
    try stack.context.performAndWait {
      try stack.context.execute(NSBatchInsertRequest(entityName: "Tag", objects: [["name": "a"]]))
      try stack.context.execute(
        NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Tag")))
    }
    let token = stack.coordinator.currentPersistentHistoryToken(fromStores: nil)
    #expect(eventually { other.notes.contains { $0.token == token } })
  }

  @Test func `deleting history is a write too`() throws {
    let stack = try TestStack(.sqlite, options: Self.options)
    try stack.context.performAndWait { try stack.context.saveTags("a") }
    let token = stack.coordinator.currentPersistentHistoryToken(fromStores: nil)
    let received = Received(stack.coordinator)
    try stack.context.performAndWait {
      _ = try stack.context.history(.deleteHistory(before: Date(timeIntervalSinceNow: 10)), as: Bool.self)
    }
    #expect(eventually { received.notes.contains { $0.token == token } })
  }

  @Test func `a removed store is followed no more`() throws {
    let stack = try TestStack(.sqlite, options: Self.options)
    let other = try stack.otherCoordinator()
    let received = Received(stack.coordinator)
    try stack.coordinator.remove(stack.coordinator.persistentStores[0])
    let others = Received(other)
    let context = other.newContext()
    try context.performAndWait { try context.saveTags("a") }
    #expect(eventually { !others.notes.isEmpty })
    #expect(received.notes.isEmpty)
  }
}
