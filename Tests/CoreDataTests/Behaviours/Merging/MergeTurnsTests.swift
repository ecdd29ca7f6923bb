import CoreData
import Foundation
import Synchronization
import Testing

/// Several merges that wait for a context.
@Suite struct MergeTurnsTests {
  private func main(_ stack: TestStack) -> NSManagedObjectContext {
    let main = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    main.persistentStoreCoordinator = stack.coordinator
    main.automaticallyMergesChangesFromParent = true
    return main
  }

  /// What happens, in order.
  private final class Notes: Sendable {
    private let _texts = Mutex<[String]>([])
    var texts: [String] { _texts.withLock { $0 } }
    func add(_ text: String) { _texts.withLock { $0.append(text) } }
  }

  private func observeMerges(of context: NSManagedObjectContext, _ notes: Notes) -> any NSObjectProtocol {
    NotificationCenter.default.addObserver(
      forName: NSManagedObjectContext.didMergeChangesObjectIDsNotification, object: context, queue: nil
    ) { notes.add("merge \(($0.userInfo?[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID>)?.count ?? 0)") }
  }

  private func save(_ stack: TestStack, _ names: [String]) throws {
    try stack.root.performAndWait {
      for name in names { stack.root.insert("Tag", ["name": name]) }
      try stack.root.save()
    }
  }

  /// Blocks the main queue while `body` saves and sends blocks, then returns what runs on it, in order.
  private func order(
    _ body: @escaping @Sendable (TestStack, NSManagedObjectContext, Notes) throws -> Void
  ) async throws -> [String] {
    let stack = try TestStack(.memory)
    let main = main(stack)
    let notes = Notes()
    let observer = observeMerges(of: main, notes)
    defer { NotificationCenter.default.removeObserver(observer) }
    try await MainActor.run { try body(stack, main, notes) }
    // A turn may enqueue another one.
    for _ in 0..<10 { await withCheckedContinuation { done in DispatchQueue.main.async { done.resume() } } }
    return notes.texts
  }

  @Test func `work queued to main runs after the earlier saves`() async throws {
    let order = try await order { stack, _, notes in
      for number in 0..<20 { try save(stack, ["\(number)"]) }
      DispatchQueue.main.async { notes.add("other") }
    }
    #expect(order == ["merge 20", "other"])
  }

  @Test func `a block sent to the context pays for the saves before it only`() async throws {
    let order = try await order { stack, main, notes in
      for number in 0..<3 { try save(stack, ["\(number)"]) }
      main.perform { notes.add("block") }
      for number in 3..<5 { try save(stack, ["\(number)"]) }
      DispatchQueue.main.async { notes.add("other") }
    }
    #expect(
      order == ["merge 3", "block", "other", "merge 2"] || order == ["merge 3", "block", "merge 2", "other"])
  }

  @Test func `a block sent to the context comes after all saves before it, however many wait`() async throws {
    let order = try await order { stack, main, notes in
      for _ in 0..<3 { try save(stack, (0..<1500).map { "\($0)" }) }
      main.perform { notes.add("block") }
    }
    #expect(order == ["merge 1500", "merge 1500", "merge 1500", "block"])
  }

  @Test func `other work of the main queue runs between groups of waiting saves`() async throws {
    let order = try await order { stack, _, notes in
      for _ in 0..<3 { try save(stack, (0..<1500).map { "\($0)" }) }
      DispatchQueue.main.async { notes.add("other") }
    }
    #expect(order == ["merge 1500", "other", "merge 1500", "merge 1500"])
  }

  @Test func `an object that several waiting saves change is merged once, with its newest values`()
    async throws
  {
    let stack = try TestStack(.memory)
    let main = main(stack)
    // Used on the main queue only.
    nonisolated(unsafe) var held: [NSManagedObject] = []
    try await MainActor.run {
      try save(stack, ["a", "b"])
      let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      held = try main.fetch(request)
      for object in held { _ = object.value(forKey: "name") }
      main.processPendingChanges()
    }
    for _ in 0..<10 { await withCheckedContinuation { done in DispatchQueue.main.async { done.resume() } } }
    let (changed, deleted) = await MainActor.run { (held[0].objectID, held[1].objectID) }
    let notes = Notes()
    let observer = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextObjectsDidChange, object: main, queue: nil
    ) { notification in
      func names(_ key: String) -> [String] {
        (notification.userInfo?[key] as? Set<NSManagedObject>)?.map {
          $0.value(forKey: "name") as? String ?? ""
        }
        .sorted() ?? []
      }
      notes.add(
        "\(names(NSInsertedObjectsKey)) \(names(NSRefreshedObjectsKey)) \(names(NSDeletedObjectsKey).count)")
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    try await MainActor.run {
      try stack.root.performAndWait {
        let root = stack.root
        let new = root.insert("Tag", ["name": "c"])
        let brief = root.insert("Tag", ["name": "d"])
        try root.save()
        for name in ["x", "y"] {
          root.object(with: changed).setValue(name, forKey: "name")
          new.setValue("c" + name, forKey: "name")
          root.object(with: deleted).setValue(name, forKey: "name")
          try root.save()
        }
        root.delete(root.object(with: deleted))
        root.delete(brief)
        try root.save()
      }
    }
    for _ in 0..<10 { await withCheckedContinuation { done in DispatchQueue.main.async { done.resume() } } }
    #expect(notes.texts == ["[\"cy\"] [\"y\"] 1"])
    await MainActor.run { held = [] }
    let count = try await MainActor.run {
      try main.count(for: NSFetchRequest<NSManagedObject>(entityName: "Tag"))
    }
    #expect(count == 2)
  }

  @Test func `a waiting save does not bring back what the context has deleted and saved since`() async throws
  {
    let order = try await order { stack, main, notes in
      try save(stack, ["x"])
      let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
      main.delete(try #require(try main.fetch(request).first))
      try main.save()
      try save(stack, ["y"])
    }
    #expect(order == ["merge 1"])
  }

  @Test func `a private queue merges the saves that wait as one, before the blocks enqueued after them`()
    throws
  {
    let stack = try TestStack(.memory)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = stack.coordinator
    context.automaticallyMergesChangesFromParent = true
    let notes = Notes()
    let observer = observeMerges(of: context, notes)
    defer { NotificationCenter.default.removeObserver(observer) }
    let (started, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    context.perform {
      started.signal()
      gate.wait()
    }
    started.wait()
    for number in 0..<5 { try save(stack, ["\(number)"]) }
    context.perform { notes.add("block") }
    try save(stack, ["later"])
    gate.signal()
    context.performAndWait { notes.add("last") }
    #expect(notes.texts == ["merge 5", "block", "merge 1", "last"])
  }

  @Test func `merges that wait do not keep their context`() async throws {
    let stack = try TestStack(.memory)
    try await MainActor.run {
      var references: [WeakReference<NSManagedObjectContext>] = []
      for number in 0..<20 {
        let context = main(stack)
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = context
        child.automaticallyMergesChangesFromParent = true
        references += [WeakReference(context), WeakReference(child)]
        try save(stack, ["\(number)"])
      }
      #expect(references.count { $0.object != nil } == 0)
    }
  }
}

/// What an awaited block keeps.
@Suite struct AwaitedBlockTests {
  @Test func `a block that a Task awaited is released with its context when the Task continues`() async throws
  {
    let stack = try TestStack(.memory)
    var held = 0
    for _ in 0..<500 {
      let (object, context) = await Self.perform(on: stack.coordinator)
      if object.object != nil || context.object != nil { held += 1 }
    }
    #expect(held == 0)
  }

  @Test func `a coordinator's block that a Task awaited is released when the Task continues`() async throws {
    let stack = try TestStack(.memory)
    var held = 0
    for _ in 0..<500 where await Self.performOnCoordinator(stack.coordinator).object != nil { held += 1 }
    #expect(held == 0)
  }

  private final class Captured: Sendable {}

  private static func perform(
    on coordinator: NSPersistentStoreCoordinator
  ) async -> (WeakReference<Captured>, WeakReference<NSManagedObjectContext>) {
    let captured = Captured()
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    await context.perform { withExtendedLifetime((captured, context)) {} }
    return (WeakReference(captured), WeakReference(context))
  }

  private static func performOnCoordinator(
    _ coordinator: NSPersistentStoreCoordinator
  ) async -> WeakReference<Captured> {
    let captured = Captured()
    await coordinator.perform { withExtendedLifetime(captured) {} }
    return WeakReference(captured)
  }
}
