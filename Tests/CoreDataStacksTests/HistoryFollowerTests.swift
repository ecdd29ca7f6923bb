import CoreData
import CoreDataStacks
import Foundation
import Testing

@Suite("Following a store's history")
struct HistoryFollowerTests {
  private let _directory: StoreDirectory

  init() throws { _directory = try StoreDirectory() }

  private func _coordinator(
    options: [AnyHashable: Any] = HistoryFollower.storeOptions
  ) throws -> NSPersistentStoreCoordinator {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleBooks.model())
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: _directory.store, options: options)
    return coordinator
  }

  /// Returns a context on a separate coordinator, which acts like another program.
  private func _stranger() throws -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = try _coordinator()
    return context
  }

  private func _write(
    _ context: NSManagedObjectContext, _ work: @escaping @Sendable (NSManagedObjectContext) throws -> Void
  ) async throws {
    try await context.perform {
      try work(context)
      try context.save()
    }
  }

  @Test func `A worker's save reaches the store by itself`() async throws {
    let coordinator = try _coordinator()
    for stack in [NestedStack(coordinator), WriterMainWorkerStack(coordinator)] as [any ContextStack] {
      let worker = stack.newWorkerContext()
      try await _write(worker) { Author(managedObjectContext: $0).name = "\(type(of: stack))" }
      await stack.waitUntilIdle()
      let stranger = try _stranger()
      let names = try await stranger.perform { try stranger.fetch(SampleBooks.authorsByName).map(\.name) }
      #expect(names.contains("\(type(of: stack))"))
    }
  }

  @Test func `Main's list follows the saves of another coordinator`() async throws {
    let stack = WriterMainWorkerStack(try _coordinator())
    let (main, writer) = (stack.mainContext, stack.writerContext)
    let follower = try HistoryFollower(main, writer)
    let list = try await main.perform { try AuthorList(main) }
    let stranger = try _stranger()
    try await _write(stranger) { context in
      for name in ["Ada", "Byron"] { Author(managedObjectContext: context).name = name }
    }
    try await follower.catchUp()
    #expect(await main.perform { list.names } == ["Ada", "Byron"])
    let before = await main.perform { list.rounds.count }
    try await _write(stranger) { context in
      let found = try context.fetch(SampleBooks.authorsByName)
      found[0].name = "Zuse"
      context.delete(found[1])
      try context.save()
      Author(managedObjectContext: context).name = "Curie"
    }
    try await follower.catchUp()
    #expect(await main.perform { list.names } == ["Curie", "Zuse"])
    #expect(await main.perform { list.rounds.count } - before <= 2)
  }

  @Test func `A remote change is followed without a call`() async throws {
    let stack = try await SharedStoreStack.open(
      model: SampleBooks.model(), at: _directory.store, propagation: .history)
    let main = stack.mainContext
    let list = try await main.perform { try AuthorList(main) }
    try await _write(try _stranger()) { Author(managedObjectContext: $0).name = "Ada" }
    for _ in 0..<1000 where await main.perform({ list.names.isEmpty }) {
      try await Task.sleep(nanoseconds: 10_000_000)
    }
    #expect(await main.perform { list.names } == ["Ada"])
  }

  @Test func `A followed shared store shows the saves of workers once`() async throws {
    let progress = Progress(totalUnitCount: 0)
    let stack = try await SharedStoreStack.open(
      model: SampleBooks.model(), at: _directory.store, propagation: .history, progress: progress)
    #expect(progress.isFinished)
    let main = stack.mainContext
    let list = try await main.perform { try AuthorList(main) }
    try await stack.performWork { Author(managedObjectContext: $0).name = "Ada" }
    #expect(await main.perform { list.names } == ["Ada"])
    try await main.perform {
      Author(managedObjectContext: main).name = "Byron"
      try main.save()
    }
    let before = await main.perform { list.rounds.count }
    await stack.waitUntilIdle()
    #expect(await main.perform { list.names } == ["Ada", "Byron"])
    #expect(await main.perform { list.rounds.count } == before)
  }

  @Test func `If unread history was deleted, every object is reread`() async throws {
    let context = try _stranger()
    let (stranger, follower) = (try _stranger(), try HistoryFollower(context))
    try await _write(stranger) { Author(managedObjectContext: $0).name = "Ada" }
    try await follower.catchUp()
    let seen = try await context.perform { Handed(try context.fetch(SampleBooks.authorsByName)[0]) }
    let told = Log()
    let token = NotificationCenter.default.addObserver(
      forName: HistoryFollower.didMissHistory, object: context, queue: nil
    ) { _ in told.add("missed") }
    defer { NotificationCenter.default.removeObserver(token) }
    try await _write(stranger) { stranger in
      try stranger.fetch(SampleBooks.authorsByName)[0].name = "Augusta"
      try stranger.save()
      try stranger.fetch(SampleBooks.authorsByName)[0].name = "Ada again"
      try stranger.save()
      let current = stranger.persistentStoreCoordinator!.currentPersistentHistoryToken(fromStores: nil)
      _ = try stranger.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: current))
    }
    try await follower.catchUp()
    #expect(await context.perform { seen.value.name } == "Ada again")
    // None if the follower was faster than the deletion.
    #expect(told.lines.count <= 1)
  }

  @Test func `If unread history was deleted, a list shows what is in the store`() async throws {
    let context = try _stranger()
    let (stranger, follower) = (try _stranger(), try HistoryFollower(context))
    try await _write(stranger) { stranger in
      for name in ["Ada", "Byron", "Curie"] { Author(managedObjectContext: stranger).name = name }
    }
    try await follower.catchUp()
    let list = try await context.perform { try AuthorList(context) }
    #expect(await context.perform { list.names } == ["Ada", "Byron", "Curie"])
    try await _write(stranger) { stranger in
      for author in try stranger.fetch(SampleBooks.authorsByName).dropFirst() { stranger.delete(author) }
      try stranger.save()
      let current = stranger.persistentStoreCoordinator!.currentPersistentHistoryToken(fromStores: nil)
      _ = try stranger.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: current))
    }
    try await follower.catchUp()
    #expect(await context.perform { list.names } == ["Ada"])
  }

  @Test func `Many changes are merged in several blocks`() async throws {
    let context = try _stranger()
    let (stranger, follower) = (try _stranger(), try HistoryFollower(context))
    let merged = Log()
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidMergeChangesObjectIDs, object: context, queue: nil
    ) { notification in
      let ids = notification.userInfo?[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID> ?? []
      merged.add("\(ids.count)")
    }
    defer { NotificationCenter.default.removeObserver(token) }
    try await _write(stranger) { stranger in
      for number in 0..<2_500 { Author(managedObjectContext: stranger).name = String(number) }
    }
    try await follower.catchUp()
    #expect(merged.lines.compactMap(Int.init).reduce(0, +) == 2_500)
    #expect(merged.lines.compactMap(Int.init).allSatisfy { $0 <= 1_000 })
  }

  @Test func `A follower does not keep its contexts`() async throws {
    weak var gone: NSManagedObjectContext?
    let follower: HistoryFollower
    do {
      let context = try _stranger()
      gone = context
      follower = try HistoryFollower(context)
      try await follower.catchUp()
    }
    #expect(gone == nil)
    try await follower.catchUp()
  }

  @Test func `A store without history is refused with the reason`() throws {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    #expect(throws: StackError.needsHistory(at: nil)) { try HistoryFollower(context) }
    context.persistentStoreCoordinator = try _coordinator(
      options: NSPersistentStoreCoordinator.stockSQLiteStoreOptions)
    let error = StackError.needsHistory(at: _directory.store)
    #expect(throws: error) { try HistoryFollower(context) }
    #expect(error.description.contains("HistoryFollower.storeOptions"))
  }

  @Test func `A released follower stops and keeps nothing alive`() async throws {
    weak var gone: HistoryFollower?
    let context = try _stranger()
    do {
      let follower = try HistoryFollower(context)
      gone = follower
      try await follower.catchUp()
    }
    for _ in 0..<200 where gone != nil { try await Task.sleep(nanoseconds: 10_000_000) }
    #expect(gone == nil)
  }
}
