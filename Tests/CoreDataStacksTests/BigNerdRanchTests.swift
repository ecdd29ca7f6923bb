import CoreData
import Foundation
import Testing

@testable import CoreDataStacks

@Suite("Big Nerd Ranch stack")
struct BigNerdRanchTests {
  private let _directory: StoreDirectory

  init() throws { _directory = try StoreDirectory() }

  private func _sqlite() async throws -> CoreDataStack {
    try await CoreDataStack.constructSQLiteStack(model: SampleBooks.model(), at: _directory.store)
  }

  private func _count(_ context: NSManagedObjectContext) async throws -> Int {
    try await context.perform { try Author.countInContext(context) }
  }

  // MARK: Set-up

  @Test func `Makes the store's file, and its directory before that`() async throws {
    let url = _directory.url.appendingPathComponent("a/b/Store.sqlite")
    _ = try await CoreDataStack.constructSQLiteStack(model: SampleBooks.model(), at: url)
    #expect(FileManager.default.fileExists(atPath: url.path))
  }

  @Test func `Contexts are named, use trump policies and form a chain`() async throws {
    let stack = try await _sqlite()
    #expect(stack.privateQueueContext.name == "Primary Private Queue Context (Persisting Context)")
    #expect(stack.mainQueueContext.name == nil)
    for context in [stack.privateQueueContext, stack.mainQueueContext, stack.newChildContext()] {
      #expect((context.mergePolicy as? NSMergePolicy)?.mergeType == .mergeByPropertyStoreTrumpMergePolicyType)
    }
    let child = stack.newChildContext(name: "mine")
    #expect(child.concurrencyType == .privateQueueConcurrencyType)
    #expect(child.name == "mine")
    await MainActor.run {
      #expect(
        stack.newChildContext(type: .mainQueueConcurrencyType).concurrencyType == .mainQueueConcurrencyType)
    }
  }

  // MARK: Saving

  @Test(arguments: [true, false])
  func `saveContextToStore leaves no context of the chain changed`(_ waits: Bool) async throws {
    let stack = try await _sqlite()
    let worker = stack.newChildContext()
    await worker.perform {
      for number in 0..<5 { Author(managedObjectContext: worker).name = "\(number)" }
    }
    if waits {
      try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
        DispatchQueue.global().async { done.resume(with: Result { try worker.saveContextToStoreAndWait() }) }
      }
    } else {
      try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
        worker.saveContextToStore { done.resume(with: $0.result) }
      }
    }
    for context in [worker, stack.mainQueueContext, stack.privateQueueContext] {
      #expect(await context.perform { context.hasChanges } == false)
      #expect(try await _count(context) == 5)
    }
    #expect(try _directory.storedNames().count == 5)
  }

  @Test func `saveContext reports success when there is nothing to save`() async throws {
    let stack = try await _sqlite()
    let saved = await withCheckedContinuation { (done: CheckedContinuation<Bool, Never>) in
      stack.privateQueueContext.saveContext {
        if case .success = $0 { done.resume(returning: true) } else { done.resume(returning: false) }
      }
    }
    #expect(saved)
  }

  @Test func `A save that fails partway is reported and stays pending`() async throws {
    let stack = try await _sqlite()
    let failures = Log()
    stack.onCarriedSaveFailure = { _, context in failures.add(context.name ?? "main") }
    for store in stack.coordinator.persistentStores { try stack.coordinator.remove(store) }
    let worker = stack.newChildContext()
    try await worker.perform {
      Author(managedObjectContext: worker).name = "Ada"
      try worker.save()
    }
    await stack.waitUntilIdle()
    #expect(failures.lines == ["Primary Private Queue Context (Persisting Context)"])
    #expect(await stack.privateQueueContext.perform { stack.privateQueueContext.hasChanges })
  }

  // MARK: Reset

  @Test func `A reset empties the file and replaces both contexts`() async throws {
    let stack = try await _sqlite()
    let (main, writer) = (stack.mainQueueContext, stack.privateQueueContext)
    try await stack.performWork { context in
      for number in 0..<100 { Author(managedObjectContext: context).name = "\(number)" }
    }
    try await stack.resetStore()
    #expect(stack.mainQueueContext !== main)
    #expect(stack.privateQueueContext !== writer)
    #expect(try await _count(stack.mainQueueContext) == 0)
    try await stack.performWork { context in
      for number in 0..<100 { Author(managedObjectContext: context).name = "\(number)" }
    }
    #expect(try _directory.storedNames().count == 100)
  }

  @Test func `A reset in memory keeps the contexts`() async throws {
    let stack = try CoreDataStack.constructInMemoryStack(model: SampleBooks.model())
    let main = stack.mainQueueContext
    try await stack.performWork { Author(managedObjectContext: $0).name = "Ada" }
    try await stack.resetStore()
    #expect(stack.mainQueueContext === main)
    await main.perform { main.reset() }
    #expect(try await _count(main) == 0)
  }

  @Test func `A reset calls back on the requested queue, else off main`() async throws {
    let stack = try await _sqlite()
    let onMain = await withCheckedContinuation { (done: CheckedContinuation<Bool, Never>) in
      stack.resetStore(on: .main) { _ in done.resume(returning: MainQueue.isCurrent) }
    }
    #expect(onMain)
    let inBackground = await withCheckedContinuation { (done: CheckedContinuation<Bool, Never>) in
      stack.resetStore { _ in done.resume(returning: !MainQueue.isCurrent) }
    }
    #expect(inBackground)
  }

  @Test func `Resetting a store that was removed says so`() async throws {
    let stack = try await _sqlite()
    for store in stack.coordinator.persistentStores { try stack.coordinator.remove(store) }
    await #expect(throws: CoreDataStack.Error.storeNotFound(at: _directory.store)) {
      try await stack.resetStore()
    }
    let memory = try CoreDataStack.constructInMemoryStack(model: SampleBooks.model())
    for store in memory.coordinator.persistentStores { try memory.coordinator.remove(store) }
    await #expect(throws: CoreDataStack.Error.inMemoryStoreMissing) { try await memory.resetStore() }
  }

  // MARK: Fetch helpers

  @Test func `CoreDataModelable finds, lists, counts and removes objects`() async throws {
    let stack = try CoreDataStack.constructInMemoryStack(model: SampleBooks.model())
    let main = stack.mainQueueContext
    try await main.perform {
      let titles = ["iOS Programming: Big Nerd Ranch", "Swift: The Big Nerd Ranch Guide", "Test Book"]
      for title in titles { Book(managedObjectContext: main).title = title }
      #expect(try Book.findFirstInContext(main) != nil)
      #expect(
        try Book.findFirstInContext(main, predicate: NSPredicate(format: "title CONTAINS[cd] %@", "Bob"))
          == nil)
      #expect(
        try Book.findFirstInContext(main, predicate: NSPredicate(format: "title CONTAINS[cd] %@", "TEST"))
          != nil)
      let nerds = NSPredicate(format: "title CONTAINS[cd] %@", "Big Nerd Ranch")
      let order = [NSSortDescriptor(key: "title", ascending: true)]
      #expect(
        try Book.allInContext(main, predicate: nerds, sortDescriptors: order).map(\.title) == [
          titles[1], titles[0],
        ])
      #expect(try Book.countInContext(main) == 3)
      #expect(try Book.countInContext(main, predicate: nerds) == 2)
      let kept = try Book.allInContext(main, predicate: nerds)
      try Book.removeAllInContext(main, except: kept)
      #expect(try Book.countInContext(main) == 2)
      try Book.removeAllInContext(main)
      #expect(try Book.countInContext(main) == 0)
    }
  }
}

@Suite("Entity monitor and typed controller")
struct FollowingTests {
  private final class Recorder: EntityMonitorDelegate, @unchecked Sendable {
    // Unchecked: written on the context's queue, read afterwards.
    typealias T = Author
    var calls: [String] = []
    func entityMonitorObservedInserts(_ monitor: EntityMonitor<Author>, entities: Set<Author>) {
      calls.append("insert \(entities.map { $0.name ?? "-" }.sorted())")
    }
    func entityMonitorObservedDeletions(_ monitor: EntityMonitor<Author>, entities: Set<Author>) {
      calls.append("delete \(entities.map { $0.name ?? "-" }.sorted())")
    }
    func entityMonitorObservedModifications(_ monitor: EntityMonitor<Author>, entities: Set<Author>) {
      calls.append("modify \(entities.map { $0.name ?? "-" }.sorted())")
    }
    func take() -> [String] {
      defer { calls = [] }
      return calls
    }
  }

  private func _stack() async throws -> any ContextStack {
    try await StackPattern.single.makeStack(model: SampleBooks.model(), at: .memory)
  }

  @Test func `A monitor reports its entity's changes per save or change`() async throws {
    let context = try await _stack().mainContext
    for frequency in [FireFrequency.onSave, .onChange] {
      try await context.perform {
        let recorder = Recorder()
        let monitor = EntityMonitor<Author>(
          context: context, entity: Author.entityDescription(in: context), frequency: frequency)
        monitor.setDelegate(recorder)
        func flush() throws {
          if frequency == .onSave { try context.save() } else { context.processPendingChanges() }
        }
        let author = Author(managedObjectContext: context)
        author.name = "Ada"
        try flush()
        #expect(recorder.take() == ["insert [\"Ada\"]"])
        Book(managedObjectContext: context).title = "Notes"
        try flush()
        #expect(recorder.take() == [])
        author.name = "Augusta"
        try flush()
        #expect(recorder.take() == ["modify [\"Augusta\"]"])
        context.delete(author)
        try flush()
        #expect(recorder.take() == ["delete [\"Augusta\"]"])
        try context.save()
      }
    }
  }

  @Test func `A filter also applies to deleted objects`() async throws {
    let context = try await _stack().mainContext
    try await context.perform {
      let recorder = Recorder()
      let monitor = EntityMonitor<Author>(
        context: context, entity: Author.entityDescription(in: context),
        filterPredicate: NSPredicate(format: "name CONTAINS[cd] %@", "nerd"))
      monitor.setDelegate(recorder)
      let author = Author(managedObjectContext: context)
      try context.save()
      #expect(recorder.take() == [])
      author.name = "Big Nerd"
      try context.save()
      #expect(recorder.take() == ["modify [\"Big Nerd\"]"])
      context.delete(author)
      try context.save()
      #expect(recorder.take() == ["delete [\"Big Nerd\"]"])
    }
  }

  @Test func `A monitor's sequence of changed IDs ends with the monitor`() async throws {
    let context = try await _stack().mainContext
    var monitor: EntityMonitor<Author>? = await context.perform {
      EntityMonitor<Author>(context: context, entity: Author.entityDescription(in: context))
    }
    let changes = try #require(monitor).changes
    let id = try await context.perform {
      let author = Author(managedObjectContext: context)
      try context.save()
      return ObjectID(author)
    }
    monitor = nil
    var seen: [EntityChanges<Author>] = []
    for await change in changes { seen.append(change) }
    #expect(seen.map(\.inserted) == [[id]])
  }

  @Test func `A typed controller groups by a computed property`() async throws {
    final class Listener: FetchedResultsControllerDelegate {
      typealias T = Book
      var calls: [String] = []
      func fetchedResultsController(
        _ controller: FetchedResultsController<Book>, didChangeObject change: FetchedResultsObjectChange<Book>
      ) {
        switch change {
        case .insert(let object, let path):
          calls.append("insert \(object.title!) \(path.section).\(path.row)")
        case .delete(let object, let path):
          calls.append("delete \(object.title!) \(path.section).\(path.row)")
        case .move(_, let old, let new):
          calls.append("move \(old.section).\(old.row) \(new.section).\(new.row)")
        case .update(_, let path): calls.append("update \(path.section).\(path.row)")
        }
      }
      func fetchedResultsController(
        _ controller: FetchedResultsController<Book>,
        didChangeSection change: FetchedResultsSectionChange<Book>
      ) {
        switch change {
        case .insert(let info, let index):
          calls.append("section + \(index) \(info.name) \(info.indexTitle ?? "-") \(info.objects.count)")
        case .delete(let info, let index): calls.append("section - \(index) \(info.name)")
        }
      }
      func fetchedResultsControllerWillChangeContent(_ controller: FetchedResultsController<Book>) {
        calls.append("will")
      }
      func fetchedResultsControllerDidChangeContent(_ controller: FetchedResultsController<Book>) {
        calls.append("did")
      }
      func fetchedResultsControllerDidPerformFetch(_ controller: FetchedResultsController<Book>) {
        calls.append("performed")
      }
    }
    let context = try await _stack().mainContext
    try await context.perform {
      for title in ["1984", "A Clockwork Orange", "Atonement", "Beloved"] {
        Book(managedObjectContext: context).title = title
      }
      try context.save()
      let request = NSFetchRequest<Book>(entityName: "Book")
      request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
      let controller = FetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "firstInitial",
        cacheName: "Cache")
      let listener = Listener()
      controller.setDelegate(listener)
      try controller.performFetch()
      #expect(controller.sections?.map(\.name) == ["1", "A", "B"])
      #expect(controller.count == 4 && controller.first?.title == "1984" && controller.cacheName == "Cache")
      #expect(controller.first == controller.fetchedObjects?.first)
      Book(managedObjectContext: context).title = "##@%"
      context.delete(controller[IndexPath(row: 0, section: 0)])
      context.processPendingChanges()
      controller[IndexPath(row: 1, section: 1)].title = "Candide"
      context.processPendingChanges()
      #expect(
        listener.calls == [
          "performed", "will", "section - 0 1", "section + 0 # # 1", "delete 1984 0.0", "insert ##@% 0.0",
          "did", "will",
          "section + 3 C C 1", "move 1.1 3.0", "did",
        ])
    }
  }

  @Test func `A typed controller's rounds come as an asynchronous sequence`() async throws {
    let context = try await _stack().mainContext
    let stream = try await context.perform {
      let controller = FetchedResultsController(
        fetchRequest: SampleBooks.authorsByName, managedObjectContext: context)
      try controller.performFetch()
      let updates = controller.updates
      Author(managedObjectContext: context).name = "Ada"
      context.processPendingChanges()
      return updates
    }
    var updates: [FetchedResultsUpdate<Author>] = []
    for await update in stream { updates.append(update) }
    #expect(updates.map(\.count) == [1])
    #expect(updates.first?.inserted.map(\.at) == [IndexPath(item: 0, section: 0)])
  }
}
