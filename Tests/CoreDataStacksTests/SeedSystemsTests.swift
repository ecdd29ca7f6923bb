import CoreData
import Foundation
import TestSupport
import Testing

@testable import CoreDataStacks

/// One test for each system that the project's source documents describe, with SQLite stores.
@Suite("SeedSystems")
struct SeedSystems {
  let directory: StoreDirectory

  init() throws { directory = try StoreDirectory() }

  func makeCoordinator() throws -> NSPersistentStoreCoordinator {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleBooks.model())
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: directory.store)
    return coordinator
  }

  func makeStack<Stack: ContextStack>(_ pattern: StackPattern, as type: Stack.Type) async throws -> Stack {
    let stack = try await pattern.makeStack(model: SampleBooks.model(), at: .file(directory.store))
    let typed = stack as? Stack
    return try #require(typed)
  }

  /// Inserts authors in a context and saves only that context.
  func insertAndSave(_ names: [String], in context: NSManagedObjectContext) async throws {
    try await context.perform {
      for name in names { Author(managedObjectContext: context).name = name }
      try context.save()
    }
  }

  func readNames(_ context: NSManagedObjectContext) async throws -> [String] {
    try await context.perform { try context.fetch(SampleBooks.authorsByName).map { $0.name ?? "-" } }
  }

  func makeList(_ context: NSManagedObjectContext) async throws -> AuthorList {
    try await context.perform { try AuthorList(context) }
  }

  // MARK: Source 000

  @Test func `A1 Shared coordinator: every other context sees a save`() async throws {
    let stack = try await makeStack(.shared, as: SharedCoordinatorStack.self)
    let (one, two) = (stack.newWorkerContext(), stack.newWorkerContext())
    #expect(one.persistentStoreCoordinator === stack.mainContext.persistentStoreCoordinator)
    let list = try await makeList(stack.mainContext)
    try await insertAndSave(["Ada"], in: one)
    await stack.waitUntilIdle()
    #expect(await stack.mainContext.perform { list.names } == ["Ada"])
    // The other worker has read Ada; the first one's change is merged automatically.
    let seen = try await two.perform { Handed(try two.fetch(SampleBooks.authorsByName)[0]) }
    await two.perform { #expect(seen.value.name == "Ada") }
    try await one.perform {
      try one.fetch(SampleBooks.authorsByName)[0].name = "Augusta"
      try one.save()
    }
    await stack.waitUntilIdle()
    await two.perform { #expect(seen.value.name == "Augusta") }
    #expect(await stack.mainContext.perform { list.names } == ["Augusta"])
    #expect(try directory.storedNames() == ["Augusta"])
  }

  @Test func `A2 Nested contexts: only the root's save reaches the store`() async throws {
    let coordinator = try makeCoordinator()
    let root = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    root.persistentStoreCoordinator = coordinator
    let main = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    main.parent = root
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = main
    try await insertAndSave(["Ada"], in: child)
    #expect(try await readNames(main) == ["Ada"])
    #expect(try await readNames(root) == [])
    #expect(try directory.storedNames() == [])
    // Unsaved in main, visible to its child's fetch.
    await main.perform { Author(managedObjectContext: main).name = "Grace" }
    #expect(try await readNames(child) == ["Ada", "Grace"])
    try await main.perform { try main.save() }
    #expect(try await readNames(root) == ["Ada", "Grace"])
    #expect(try directory.storedNames() == [])
    let wroteOnMain = try await root.perform {
      try root.save()
      return MainQueue.isCurrent
    }
    #expect(!wroteOnMain)
    #expect(try directory.storedNames() == ["Ada", "Grace"])
  }

  @Test func `A3 Shared store: two coordinators work on one file`() async throws {
    let stack = try await makeStack(.sharedStore, as: SharedStoreStack.self)
    #expect(stack.coordinator !== stack.mainCoordinator)
    let list = try await makeList(stack.mainContext)
    let worker = stack.newWorkerContext()
    try await insertAndSave(["Ada", "Grace"], in: worker)
    await stack.waitUntilIdle()
    #expect(await stack.mainContext.perform { list.names } == ["Ada", "Grace"])
    let again = SharedStoreStack(try makeCoordinator(), try makeCoordinator(), propagation: .refetch)
    let kept = try await makeList(again.mainContext)
    let known = try await again.mainContext.perform {
      Handed(try again.mainContext.fetch(SampleBooks.authorsByName))
    }
    let told = Log()
    let token = NotificationCenter.default.addObserver(
      forName: SharedStoreStack.storeDidChange, object: nil, queue: nil
    ) { if $0.object as AnyObject === again.mainContext { told.add("\(MainQueue.isCurrent)") } }
    let other = again.newWorkerContext()
    try await other.perform {
      try other.fetch(SampleBooks.authorsByName)[0].name = "Augusta"
      try other.save()
    }
    await again.waitUntilIdle()
    // Objects that the main context has are read again without a fetch.
    let names = await again.mainContext.perform { known.value.map(\.name) }
    #expect(names == ["Augusta", "Grace"])
    NotificationCenter.default.removeObserver(token)
    #expect(told.lines == ["true"])
    try await again.mainContext.perform {
      try kept.controller.performFetch()
      #expect(kept.names == ["Augusta", "Grace"])
    }
  }

  @Test func `A4 Big Nerd Ranch stack: a worker's save reaches the file`() async throws {
    let stack = try await CoreDataStack.constructSQLiteStack(model: SampleBooks.model(), at: directory.store)
    #expect(stack.mainQueueContext.parent === stack.privateQueueContext)
    #expect(stack.privateQueueContext.concurrencyType == .privateQueueConcurrencyType)
    let worker = stack.newBackgroundWorkerMOC()
    #expect(worker.parent === stack.mainQueueContext)
    let list = try await makeList(stack.mainQueueContext)
    try await insertAndSave(["Ada"], in: worker)
    #expect(await stack.mainQueueContext.perform { list.names } == ["Ada"])
    await stack.waitUntilIdle()
    #expect(try directory.storedNames() == ["Ada"])
    for context in [worker, stack.mainQueueContext, stack.privateQueueContext] {
      #expect(await context.perform { !context.hasChanges })
    }
  }

  @Test func `A5 Asynchronous setup: the stack or error is handed back`() async throws {
    let url = directory.store
    let onMain = await withCheckedContinuation { (done: CheckedContinuation<Bool, Never>) in
      CoreDataStack.constructSQLiteStack(model: SampleBooks.model(), at: url, on: .main) { result in
        guard case .success = result else { return done.resume(returning: false) }
        done.resume(returning: MainQueue.isCurrent)
      }
    }
    #expect(onMain)
    let inBackground = await withCheckedContinuation { (done: CheckedContinuation<Bool, Never>) in
      CoreDataStack.constructSQLiteStack(model: SampleBooks.model(), at: url) { _ in
        done.resume(returning: !MainQueue.isCurrent)
      }
    }
    #expect(inBackground)
    let memory = try CoreDataStack.constructInMemoryStack(model: SampleBooks.model())
    try await memory.performWork { Author(managedObjectContext: $0).name = "Ada" }
    #expect(try await readNames(memory.mainQueueContext) == ["Ada"])
    // A directory cannot be created below a regular file, and a file that is not a store cannot be opened.
    let below = url.appendingPathComponent("Directory/Store.sqlite")
    await #expect(throws: CoreDataStack.Error.unableToCreateStore(at: below)) {
      try await CoreDataStack.constructSQLiteStack(model: SampleBooks.model(), at: below)
    }
    let text = directory.url.appendingPathComponent("Text.sqlite")
    try Data("This is not a database, and long enough not to be taken for an empty one.".utf8).write(to: text)
    await #expect(throws: CocoaError.self) {
      try await CoreDataStack.constructSQLiteStack(model: SampleBooks.model(), at: text)
    }
  }

  @Test func `A6 Large import: its context has its own coordinator`() async throws {
    let stack = try await CoreDataStack.constructSQLiteStack(model: SampleBooks.model(), at: directory.store)
    let context = try await stack.newBatchOperationContext()
    #expect(context.persistentStoreCoordinator !== stack.coordinator)
    #expect(context.parent == nil)
    #expect((context.mergePolicy as? NSMergePolicy)?.mergeType == .mergeByPropertyObjectTrumpMergePolicyType)
    try await context.perform {
      for number in 0..<10_000 { Book(managedObjectContext: context).title = "Book \(number)" }
      #expect(context.hasChanges)
      try context.save()
    }
    let main = stack.mainQueueContext
    #expect(try await main.perform { try Book.countInContext(main) } == 10_000)
  }

  // MARK: Source 001

  @Test func `B1 Shoot-out stack 1: an import goes through main`() async throws {
    let stack = try await makeStack(.nested2, as: NestedStack.self)
    #expect(stack.mainContext.parent == nil)
    try await _import(into: stack)
  }

  @Test func `B2 Shoot-out stack 2: an import passes three contexts`() async throws {
    let stack = try await makeStack(.nested3, as: WriterMainWorkerStack.self)
    #expect(stack.mainContext.parent === stack.writerContext)
    try await _import(into: stack)
  }

  @Test func `B3 Shoot-out stack 3: saves of one are merged into the other`() async throws {
    let stack = try await makeStack(.shared, as: SharedCoordinatorStack.self)
    try await _import(into: stack)
  }

  /// Imports in the background, saving every 100 objects, below a list on main that must be complete in the
  /// end.
  private func _import(into stack: any ContextStack) async throws {
    let list = try await makeList(stack.mainContext)
    let worker = stack.newWorkerContext()
    for batch in 0..<10 {
      try await worker.perform {
        for number in 0..<100 {
          Author(managedObjectContext: worker).name = String(
            format: "%04d", batch * 100 + (number * 37) % 100)
        }
        try worker.save()
      }
    }
    try await stack.save(worker)
    let expected = (0..<1000).map { String(format: "%04d", $0) }
    #expect(await stack.mainContext.perform { list.names } == expected)
    #expect(try await stack.mainContext.perform { try list.equalsFreshFetch() })
    #expect(try directory.storedNames() == expected)
  }

  @Test func `B4 The measurement: the shootout times total and main thread`() async throws {
    let page = directory.url.appendingPathComponent("page.html")
    let arguments = [
      "shootout", "--objects", "15000", "--mode", "insert", "--save-every", "500", "--runs", "1", "--stacks",
      "nested2,nested3,shared", "--format", "json", "--report", page.path,
    ]
    let outcome = try ChildProcess.run(ChildProcess.built("coredata"), arguments)
    #expect(outcome.code == 0, "\(outcome.error)")
    let parsed = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
    let document = try #require(parsed)
    let stacks = try #require(document["stacks"] as? [[String: Any]])
    #expect(stacks.map { $0["id"] as? String } == ["nested2", "nested3", "shared"])
    for stack in stacks {
      #expect((stack["rows"] as? NSNumber)?.intValue == 15_000)
      #expect((stack["saves"] as? NSNumber)?.intValue ?? 0 >= 30)
      #expect((stack["total_s"] as? NSNumber)?.doubleValue ?? 0 > 0)
      #expect(stack["main_busy_s"] is NSNumber)
    }
    #expect(try String(contentsOf: page, encoding: .utf8).contains("<svg"))
  }

  @Test func `B5 A relationship-only change updates main's list`() async throws {
    for pattern in [StackPattern.nested3, .shared, .sharedStore] {
      let directory = try StoreDirectory()
      let stack = try await pattern.makeStack(model: SampleBooks.model(), at: .file(directory.store))
      try await stack.performWork { Author(managedObjectContext: $0).name = "Ada" }
      let list = try await makeList(stack.mainContext)
      for keepsFaults in [true, false] {
        await stack.mainContext.perform {
          if keepsFaults { stack.mainContext.refreshAllObjects() } else { _ = list.names }
          list.rounds.count = 0
        }
        try await stack.performWork { context in
          let book = Book(managedObjectContext: context)
          book.setValue(try context.fetch(SampleBooks.authorsByName)[0], forKey: "author")
        }
        #expect(
          await stack.mainContext.perform { list.rounds.count } > 0, "\(pattern), faults: \(keepsFaults)")
      }
    }
    try await _mergeWithWorkAround()
  }

  /// The article's merge: fires the faults of all updated objects first. It works here too, and reports each
  /// change once.
  private func _mergeWithWorkAround() async throws {
    let directory = try StoreDirectory()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleBooks.model())
    try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: directory.store)
    let (main, worker) = (NSManagedObjectContext(.mainQueue), NSManagedObjectContext(.privateQueue))
    main.persistentStoreCoordinator = coordinator
    worker.persistentStoreCoordinator = coordinator
    try await insertAndSave(["Ada"], in: main)
    let list = try await makeList(main)
    await main.perform {
      main.refreshAllObjects(); list.rounds.count = 0
    }
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: worker, queue: nil
    ) { notification in
      let saved = Handed(notification)
      main.perform {
        for object in saved.value.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject> ?? [] {
          main.object(with: object.objectID).willAccessValue(forKey: nil)
        }
        main.mergeChanges(fromContextDidSave: saved.value)
      }
    }
    defer { NotificationCenter.default.removeObserver(token) }
    try await worker.perform {
      Book(managedObjectContext: worker).setValue(
        try worker.fetch(SampleBooks.authorsByName)[0], forKey: "author")
      try worker.save()
    }
    #expect(await main.perform { list.rounds.count } == 1)
  }

  // MARK: Source 002

  @Test func `C1 Writer-Main-Worker: each save cascades to the writer`() async throws {
    let stack = try await makeStack(.nested3, as: WriterMainWorkerStack.self)
    let (order, cursor) = (Log(), Log())
    let progress = Progress(totalUnitCount: 0)
    // The beginning of a save is posted before any of its effects.
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextWillSave, object: nil, queue: nil
    ) { notification in
      if notification.object as AnyObject === stack.mainContext { order.add("main \(MainQueue.isCurrent)") }
      if notification.object as AnyObject === stack.writerContext {
        order.add("writer \(MainQueue.isCurrent)")
      }
      guard let context = notification.object as? NSManagedObjectContext else { return }
      if context.persistentStoreCoordinator === stack.coordinator { cursor.add("\(progress.isFinished)") }
    }
    defer { NotificationCenter.default.removeObserver(token) }
    // Spawned on main: the worker creates the record; the progress drives a wait cursor.
    let worker = await stack.mainContext.perform { stack.newWorkerContext() }
    await worker.perform { Author(managedObjectContext: worker).name = "Ada" }
    try await stack.save(worker, progress: progress)
    // A wait cursor was shown during each of the three saves, and is not shown any more.
    #expect(cursor.lines == ["false", "false", "false"])
    #expect(progress.isFinished && progress.totalUnitCount == 3)
    #expect(order.lines == ["main true", "writer false"])
    #expect(try await readNames(stack.mainContext) == ["Ada"])
    #expect(try directory.storedNames() == ["Ada"])
  }
}

/// A value that tests carry between blocks of one queue.
struct Handed<Value>: @unchecked Sendable {
  // Unchecked: used only in the perform blocks of one context.
  let value: Value
  init(_ value: Value) { self.value = value }
}
