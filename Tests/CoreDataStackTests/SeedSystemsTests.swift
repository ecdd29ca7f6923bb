import CoreData
import Foundation
import Testing

@testable import CoreDataStack

/// One test for each system that the project's source documents describe, on SQLite stores.
@Suite("SeedSystems")
struct SeedSystems {
  private let _directory: StoreDirectory

  init() throws { _directory = try StoreDirectory() }

  private func _coordinator() throws -> NSPersistentStoreCoordinator {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleBooks.model())
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: _directory.store)
    return coordinator
  }

  private func _stack<Stack: ContextStack>(_ pattern: StackPattern, as type: Stack.Type) async throws -> Stack
  {
    let stack = try await pattern.makeStack(model: SampleBooks.model(), at: .file(_directory.store))
    let typed = stack as? Stack
    return try #require(typed)
  }

  /// Inserts authors in a context and saves that context alone.
  private func _insert(_ names: [String], in context: NSManagedObjectContext) async throws {
    try await context.perform {
      for name in names { Author(managedObjectContext: context).name = name }
      try context.save()
    }
  }

  private func _names(_ context: NSManagedObjectContext) async throws -> [String] {
    try await context.perform { try context.fetch(SampleBooks.authorsByName).map { $0.name ?? "-" } }
  }

  private func _list(_ context: NSManagedObjectContext) async throws -> AuthorList {
    try await context.perform { try AuthorList(context) }
  }

  // MARK: Source 000

  @Test("A1 Shared coordinator: saves reach the store and every other context, main and workers alike")
  func a1() async throws {
    let stack = try await _stack(.shared, as: SharedCoordinatorStack.self)
    let (one, two) = (stack.newWorkerContext(), stack.newWorkerContext())
    #expect(one.persistentStoreCoordinator === stack.mainContext.persistentStoreCoordinator)
    let list = try await _list(stack.mainContext)
    try await _insert(["Ada"], in: one)
    await stack.settle()
    #expect(await stack.mainContext.perform { list.names } == ["Ada"])
    // The other worker has read Ada; a change by the first reaches it without being asked for.
    let seen = try await two.perform { Handed(try two.fetch(SampleBooks.authorsByName)[0]) }
    await two.perform { #expect(seen.value.name == "Ada") }
    try await one.perform {
      try one.fetch(SampleBooks.authorsByName)[0].name = "Augusta"
      try one.save()
    }
    await stack.settle()
    await two.perform { #expect(seen.value.name == "Augusta") }
    #expect(await stack.mainContext.perform { list.names } == ["Augusta"])
    #expect(try _directory.storedNames() == ["Augusta"])
  }

  @Test(
    "A2 Nested contexts: a save moves one level, children see the parent's latest, only the root meets the store"
  )
  func a2() async throws {
    let coordinator = try _coordinator()
    let root = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    root.persistentStoreCoordinator = coordinator
    let main = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    main.parent = root
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = main
    try await _insert(["Ada"], in: child)
    #expect(try await _names(main) == ["Ada"])
    #expect(try await _names(root) == [])
    #expect(try _directory.storedNames() == [])
    // Unsaved in main, seen by its child's fetch.
    await main.perform { Author(managedObjectContext: main).name = "Grace" }
    #expect(try await _names(child) == ["Ada", "Grace"])
    try await main.perform { try main.save() }
    #expect(try await _names(root) == ["Ada", "Grace"])
    #expect(try _directory.storedNames() == [])
    let wroteOnMain = try await root.perform {
      try root.save()
      return MainQueue.isCurrent
    }
    #expect(!wroteOnMain)
    #expect(try _directory.storedNames() == ["Ada", "Grace"])
  }

  @Test(
    "A3 Shared store: two coordinators on one file work side by side; main merges, or fetches again when told"
  )
  func a3() async throws {
    let stack = try await _stack(.sharedStore, as: SharedStoreStack.self)
    #expect(stack.coordinator !== stack.mainCoordinator)
    let list = try await _list(stack.mainContext)
    let worker = stack.newWorkerContext()
    try await _insert(["Ada", "Grace"], in: worker)
    await stack.settle()
    #expect(await stack.mainContext.perform { list.names } == ["Ada", "Grace"])
    let again = SharedStoreStack(try _coordinator(), try _coordinator(), propagation: .refetch)
    let kept = try await _list(again.mainContext)
    let told = Log()
    let token = NotificationCenter.default.addObserver(
      forName: SharedStoreStack.storeDidChange, object: nil, queue: nil
    ) { if $0.object as AnyObject === again.mainContext { told.add("\(MainQueue.isCurrent)") } }
    let other = again.newWorkerContext()
    try await other.perform {
      try other.fetch(SampleBooks.authorsByName)[0].name = "Augusta"
      try other.save()
    }
    await again.settle()
    NotificationCenter.default.removeObserver(token)
    #expect(told.lines == ["true"])
    try await again.mainContext.perform {
      try kept.controller.performFetch()
      #expect(kept.names == ["Augusta", "Grace"])
    }
  }

  @Test(
    "A4 Big Nerd Ranch stack: a worker's save is carried through main and the private writer into the file")
  func a4() async throws {
    let stack = try await CoreDataStack.constructSQLiteStack(model: SampleBooks.model(), at: _directory.store)
    #expect(stack.mainQueueContext.parent === stack.privateQueueContext)
    #expect(stack.privateQueueContext.concurrencyType == .privateQueueConcurrencyType)
    let worker = stack.newBackgroundWorkerMOC()
    #expect(worker.parent === stack.mainQueueContext)
    let list = try await _list(stack.mainQueueContext)
    try await _insert(["Ada"], in: worker)
    #expect(await stack.mainQueueContext.perform { list.names } == ["Ada"])
    await stack.settle()
    #expect(try _directory.storedNames() == ["Ada"])
    for context in [worker, stack.mainQueueContext, stack.privateQueueContext] {
      #expect(await context.perform { !context.hasChanges })
    }
  }

  @Test(
    "A5 Asynchronous set-up: SQLite and memory, the stack or the error handed to the caller on the queue asked for"
  )
  func a5() async throws {
    let url = _directory.store
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
    #expect(try await _names(memory.mainQueueContext) == ["Ada"])
    // Below a regular file no directory can be made; a file that is no store cannot be opened.
    let below = url.appendingPathComponent("Directory/Store.sqlite")
    await #expect(throws: CoreDataStack.Error.unableToCreateStore(at: below)) {
      try await CoreDataStack.constructSQLiteStack(model: SampleBooks.model(), at: below)
    }
    let text = _directory.url.appendingPathComponent("Text.sqlite")
    try Data("This is not a database, and long enough not to be taken for an empty one.".utf8).write(to: text)
    await #expect(throws: CocoaError.self) {
      try await CoreDataStack.constructSQLiteStack(model: SampleBooks.model(), at: text)
    }
  }

  @Test("A6 Large import: a context with its own coordinator on the same file, set up asynchronously")
  func a6() async throws {
    let stack = try await CoreDataStack.constructSQLiteStack(model: SampleBooks.model(), at: _directory.store)
    let context = try await stack.newBatchOperationContext()
    #expect(context.persistentStoreCoordinator !== stack.coordinator)
    #expect(context.parent == nil)
    try await context.perform {
      for number in 0..<10_000 { Book(managedObjectContext: context).title = "Book \(number)" }
      #expect(context.hasChanges)
      try context.save()
    }
    let main = stack.mainQueueContext
    #expect(try await main.perform { try Book.countInContext(main) } == 10_000)
  }

  // MARK: Source 001

  @Test(
    "B1 Shoot-out stack 1: main on the store, background its child; an import pushes through main into the file"
  )
  func b1() async throws {
    let stack = try await _stack(.nested2, as: NestedStack.self)
    #expect(stack.mainContext.parent == nil)
    try await _import(into: stack)
  }

  @Test("B2 Shoot-out stack 2: master, main and worker; an import passes all three into the file")
  func b2() async throws {
    let stack = try await _stack(.nested3, as: WriterMainWorkerStack.self)
    #expect(stack.mainContext.parent === stack.writerContext)
    try await _import(into: stack)
  }

  @Test("B3 Shoot-out stack 3: independent contexts on one coordinator, what one saves merged into the other")
  func b3() async throws {
    let stack = try await _stack(.shared, as: SharedCoordinatorStack.self)
    try await _import(into: stack)
  }

  /// Imports in the background, saving every 100 objects, under a list on main that must end up whole.
  private func _import(into stack: any ContextStack) async throws {
    let list = try await _list(stack.mainContext)
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
    #expect(try _directory.storedNames() == expected)
  }

  @Test(
    "B4 The measurement: the shootout reports total and main-thread time, saves and a picture for each stack")
  func b4() async throws {
    let page = _directory.url.appendingPathComponent("page.html")
    let output = try BuiltTool.run([
      "shootout", "--objects", "15000", "--mode", "insert", "--save-every", "500", "--runs", "1", "--stacks",
      "nested2,nested3,shared", "--format", "json", "--report", page.path,
    ])
    let parsed = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any]
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

  @Test("B5 A relationship-only change updates main's list, by a nested save and by a merge, faults or not")
  func b5() async throws {
    for pattern in [StackPattern.nested3, .shared, .sharedStore] {
      let directory = try StoreDirectory()
      let stack = try await pattern.makeStack(model: SampleBooks.model(), at: .file(directory.store))
      try await stack.performWork { Author(managedObjectContext: $0).name = "Ada" }
      let list = try await _list(stack.mainContext)
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

  /// The article's merge: faults of all updated objects are fired first. It works as well, and tells of each change once.
  private func _mergeWithWorkAround() async throws {
    let directory = try StoreDirectory()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleBooks.model())
    try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: directory.store)
    let (main, worker) = (NSManagedObjectContext(.mainQueue), NSManagedObjectContext(.privateQueue))
    main.persistentStoreCoordinator = coordinator
    worker.persistentStoreCoordinator = coordinator
    try await _insert(["Ada"], in: main)
    let list = try await _list(main)
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

  @Test("C1 Writer-Main-Worker: each save cascades through the didSave handler, the writer's own ends it")
  func c1() async throws {
    let stack = try await _stack(.nested3, as: WriterMainWorkerStack.self)
    let (order, cursor) = (Log(), Log())
    let progress = Progress(totalUnitCount: 0)
    // That a save begins is told before anything follows from it.
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
    // Spawned on main: the worker makes the record; the progress is what a wait cursor follows.
    let worker = await stack.mainContext.perform { stack.newWorkerContext() }
    await worker.perform { Author(managedObjectContext: worker).name = "Ada" }
    try await stack.save(worker, progress: progress)
    // A wait cursor was due at each of the three saves, and is not any more.
    #expect(cursor.lines == ["false", "false", "false"])
    #expect(progress.isFinished && progress.totalUnitCount == 3)
    #expect(order.lines == ["main true", "writer false"])
    #expect(try await _names(stack.mainContext) == ["Ada"])
    #expect(try _directory.storedNames() == ["Ada"])
  }

  // MARK: Source 003

  @Test("D1 Single context: each insertion, update and deletion reaches the list at once, saved or not")
  func d1() async throws {
    let stack = try await _stack(.single, as: SingleContextStack.self)
    let list = try await _list(stack.mainContext)
    let context = stack.mainContext
    try await context.perform {
      let author = Author(managedObjectContext: context)
      author.name = "Ada"
      context.processPendingChanges()
      #expect(list.names == ["Ada"])
      author.name = "Augusta"
      context.processPendingChanges()
      #expect(list.rounds.count == 2)
      try context.save()
      #expect(list.names == ["Augusta"])
      context.delete(author)
      context.processPendingChanges()
      #expect(list.names == [])
      #expect(context.hasChanges)
    }
    #expect(try _directory.storedNames() == ["Augusta"])
  }

  @Test(
    "D2 Traditional multi-context: workers come and go cheaply; main ignores its own saves and other databases'"
  )
  func d2() async throws {
    let stack = try await _stack(.shared, as: SharedCoordinatorStack.self)
    let list = try await _list(stack.mainContext)
    let merges = Log()
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidMergeChangesObjectIDs, object: nil, queue: nil
    ) { if $0.object as AnyObject === stack.mainContext { merges.add("\(MainQueue.isCurrent)") } }
    defer { NotificationCenter.default.removeObserver(token) }
    weak var last: NSManagedObjectContext?
    for number in 0..<20 {
      let worker = stack.newWorkerContext()
      last = worker
      try await _insert(["author \(number)"], in: worker)
    }
    await stack.settle()
    #expect(await stack.mainContext.perform { list.names.count } == 20)
    #expect(merges.lines == Array(repeating: "true", count: 20))
    try await _insert(["mine"], in: stack.mainContext)
    let directory = try StoreDirectory()
    let other = try await StackPattern.shared.makeStack(
      model: SampleBooks.model(), at: .file(directory.store))
    try await other.performWork { Author(managedObjectContext: $0).name = "of another database" }
    await stack.settle()
    #expect(merges.lines.count == 20)
    #expect(await stack.mainContext.perform { list.names.count } == 21)
    for _ in 0..<100 where last != nil { try await Task.sleep(nanoseconds: 10_000_000) }
    #expect(last == nil)
  }

  @Test("D3 Objects between contexts: only IDs cross, and each context has its own copy")
  func d3() async throws {
    let stack = try await _stack(.shared, as: SharedCoordinatorStack.self)
    let main = stack.mainContext
    let id = try await main.perform {
      let author = Author(managedObjectContext: main)
      author.name = "Ada"
      try main.save()
      return ObjectID(author)
    }
    let worker = stack.newWorkerContext()
    let snapshot = await worker.perform {
      let own = worker.object(id)
      #expect(own.managedObjectContext === worker)
      own.name = "Augusta"
      #expect(own.objectID == id.id)
      return Snapshot(own)
    }
    await main.perform { #expect(main.object(id).name == "Ada") }
    #expect(snapshot.value("name") == "Augusta")
    #expect(snapshot.id == id)
    let result = try #require(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let stack = try CoreDataStack.constructInMemoryStack(model: SampleBooks.model())
        let worker = stack.newChildContext()
        let author = worker.performAndWait { Author(managedObjectContext: worker) }
        author.name = "off its queue"
      })
    #expect(String(decoding: result.standardErrorContent, as: UTF8.self).contains("multithreading violation"))
  }

  @Test("D4 Parent and child: a save pushes up; main saves when it likes; children refresh only when asked")
  func d4() async throws {
    let main = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    main.persistentStoreCoordinator = try _coordinator()
    try await _insert(["Ada"], in: main)
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = main
    let held = try await child.perform { Handed(try child.fetch(SampleBooks.authorsByName)[0]) }
    await child.perform { #expect(held.value.name == "Ada") }
    try await main.perform { try main.fetch(SampleBooks.authorsByName)[0].name = "Augusta" }
    await child.perform {
      #expect(held.value.name == "Ada")
      child.refresh(held.value, mergeChanges: true)
      #expect(held.value.name == "Augusta")
      held.value.name = "Lovelace"
    }
    try await child.perform { try child.save() }
    #expect(try await _names(main) == ["Lovelace"])
    #expect(try _directory.storedNames() == ["Ada"])
    try await main.saveContext()
    #expect(try _directory.storedNames() == ["Lovelace"])
  }

  @Test(
    "D5 Scratch pad: Save keeps all, Cancel throws it away, and the half-filled object never shows in the list"
  )
  func d5() async throws {
    let stack = try await _stack(.nested3, as: WriterMainWorkerStack.self)
    let main = stack.mainContext
    try await _insert(["Ada"], in: main)
    let list = try await _list(main)
    try await main.perform {
      let cancelled = ScratchPad<Author>(inserting: "Author", in: main)
      cancelled.object.name = "Nobody"
      cancelled.context.processPendingChanges()
      main.processPendingChanges()
      #expect(list.names == ["Ada"])
      cancelled.cancel()
      #expect(list.names == ["Ada"])
      let edit = try ScratchPad(editing: list.controller.fetchedObjects![0])
      edit.object.name = "Augusta"
      #expect(edit.hasChanges)
      #expect(list.names == ["Ada"])
      try edit.save()
      #expect(list.names == ["Augusta"])
      let added = ScratchPad<Author>(inserting: "Author", in: main)
      added.object.name = "Grace"
      try added.save(toStore: true)
      #expect(list.names == ["Augusta", "Grace"])
      #expect(list.rounds.count == 2)
    }
    #expect(try _directory.storedNames() == ["Augusta", "Grace"])
  }

  @Test("D6 Asynchronous writer: main goes on while the disk is written; three saves carry a change there")
  func d6() async throws {
    let stack = try await _stack(.nested3, as: WriterMainWorkerStack.self)
    let writer = stack.writerContext
    let worker = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    worker.parent = stack.mainContext
    try await _insert(["Ada"], in: worker)
    #expect(try _directory.storedNames() == [])
    // The writer is kept busy; main saves into it without waiting for that.
    let (entered, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let busy = Task.detached {
      await writer.perform {
        entered.signal(); release.wait()
      }
    }
    await withCheckedContinuation { done in
      DispatchQueue.global().async {
        entered.wait()
        done.resume()
      }
    }
    let main = stack.mainContext
    await main.perform { Author(managedObjectContext: main).name = "Grace" }
    #expect(try await _names(main) == ["Ada", "Grace"])
    #expect(try _directory.storedNames() == [])
    release.signal()
    await busy.value
    try await main.perform { try main.save() }
    await stack.settle()
    #expect(try _directory.storedNames() == ["Ada", "Grace"])
  }

  /// By its raw value: the case is deprecated, and says so wherever it is written.
  private let _confinement = NSManagedObjectContextConcurrencyType(rawValue: 0)!

  @Test("D7 Confinement contexts: the legacy type works without perform blocks on its own thread")
  func d7() throws {
    let context = NSManagedObjectContext(concurrencyType: _confinement)
    context.persistentStoreCoordinator = try _coordinator()
    Author(managedObjectContext: context).name = "Ada"
    try context.save()
    try context.saveContextAndWait()
    #expect(try context.fetch(SampleBooks.authorsByName).map(\.name) == ["Ada"])
    #expect(context.concurrencyType == _confinement)
    #expect(try _directory.storedNames() == ["Ada"])
  }
}

/// Something that tests carry between blocks of one queue.
struct Handed<Value>: @unchecked Sendable {
  // Unchecked: used in the perform blocks of one context only.
  let value: Value
  init(_ value: Value) { self.value = value }
}
