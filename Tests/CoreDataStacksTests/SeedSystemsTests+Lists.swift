import CoreData
import Foundation
import Testing

@testable import CoreDataStacks

/// Source 003: lists that follow saves.
extension SeedSystems {
  @Test func `D1 Single context: the list follows every change at once`() async throws {
    let stack = try await makeStack(.single, as: SingleContextStack.self)
    let list = try await makeList(stack.mainContext)
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
    #expect(try directory.storedNames() == ["Augusta"])
  }

  @Test func `D2 Traditional multi-context: main ignores its own saves`() async throws {
    let stack = try await makeStack(.shared, as: SharedCoordinatorStack.self)
    let list = try await makeList(stack.mainContext)
    let merges = Log()
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidMergeChangesObjectIDs, object: nil, queue: nil
    ) { if $0.object as AnyObject === stack.mainContext { merges.add("\(MainQueue.isCurrent)") } }
    defer { NotificationCenter.default.removeObserver(token) }
    weak var last: NSManagedObjectContext?
    for number in 0..<20 {
      let worker = stack.newWorkerContext()
      last = worker
      try await insertAndSave(["author \(number)"], in: worker)
    }
    await stack.waitUntilIdle()
    #expect(await stack.mainContext.perform { list.names.count } == 20)
    // Saves that wait for main are merged as one.
    let count = merges.lines.count
    #expect((1...20).contains(count))
    #expect(merges.lines.allSatisfy { $0 == "true" })
    try await insertAndSave(["mine"], in: stack.mainContext)
    let directory = try StoreDirectory()
    let other = try await StackPattern.shared.makeStack(
      model: SampleBooks.model(), at: .file(directory.store))
    try await other.performWork { Author(managedObjectContext: $0).name = "of another database" }
    await stack.waitUntilIdle()
    #expect(merges.lines.count == count)
    #expect(await stack.mainContext.perform { list.names.count } == 21)
    for _ in 0..<100 where last != nil { try await Task.sleep(nanoseconds: 10_000_000) }
    #expect(last == nil)
  }

  @Test func `D3 Objects between contexts: only IDs cross`() async throws {
    let stack = try await makeStack(.shared, as: SharedCoordinatorStack.self)
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

  @Test func `D4 Parent and child: a save goes up one level`() async throws {
    let main = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    main.persistentStoreCoordinator = try makeCoordinator()
    try await insertAndSave(["Ada"], in: main)
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
    #expect(try await readNames(main) == ["Lovelace"])
    #expect(try directory.storedNames() == ["Ada"])
    try await main.saveContext()
    #expect(try directory.storedNames() == ["Lovelace"])
  }

  @Test func `D5 Scratch pad: Save keeps all and Cancel discards it`() async throws {
    let stack = try await makeStack(.nested3, as: WriterMainWorkerStack.self)
    let main = stack.mainContext
    try await insertAndSave(["Ada"], in: main)
    let list = try await makeList(main)
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
    #expect(try directory.storedNames() == ["Augusta", "Grace"])
  }

  @Test func `D6 Asynchronous writer: main continues while the disk writes`() async throws {
    let stack = try await makeStack(.nested3, as: WriterMainWorkerStack.self)
    let writer = stack.writerContext
    let worker = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    worker.parent = stack.mainContext
    try await insertAndSave(["Ada"], in: worker)
    #expect(try directory.storedNames() == [])
    // The writer is kept busy; main saves into it without waiting.
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
    #expect(try await readNames(main) == ["Ada", "Grace"])
    #expect(try directory.storedNames() == [])
    release.signal()
    await busy.value
    try await main.perform { try main.save() }
    await stack.waitUntilIdle()
    #expect(try directory.storedNames() == ["Ada", "Grace"])
  }

  /// By its raw value: naming the deprecated case would cause a warning.
  private static let _confinement = NSManagedObjectContextConcurrencyType(rawValue: 0)!

  @Test func `D7 Confinement contexts: they work without perform blocks`() throws {
    let context = NSManagedObjectContext(concurrencyType: Self._confinement)
    context.persistentStoreCoordinator = try makeCoordinator()
    Author(managedObjectContext: context).name = "Ada"
    try context.save()
    try context.saveContextAndWait()
    #expect(try context.fetch(SampleBooks.authorsByName).map(\.name) == ["Ada"])
    #expect(context.concurrencyType == Self._confinement)
    #expect(try directory.storedNames() == ["Ada"])
  }
}
