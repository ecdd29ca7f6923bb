import SwiftData
import TestSupport
import Testing

/// Calls as in programs for Apple's platforms; the test is that they compile.
struct CallFormsTests {
  private enum Plan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [NotesV1.self] }
    static var stages: [MigrationStage] { [] }
  }

  @Test func `containers`() throws {
    let schema = Schema([Shelf.self])
    let types: [any PersistentModel.Type] = [Shelf.self, Topic.self]
    let memory = ModelConfiguration(isStoredInMemoryOnly: true)
    let plan: (any SchemaMigrationPlan.Type)? = nil
    let url = try TemporaryPlace.makeDirectory().appendingPathComponent("notes.store")
    let custom = MemoStore.Configuration(box: MemoStore.Box())
    let containers = [
      try ModelContainer(for: schema, configurations: [memory]),
      try ModelContainer(for: schema, configurations: memory),
      try ModelContainer(for: Shelf.self, Topic.self, configurations: memory),
      try ModelContainer(for: Shelf.self, configurations: .init(isStoredInMemoryOnly: true)),
      try ModelContainer(for: .init(types), configurations: .init(isStoredInMemoryOnly: true)),
      try ModelContainer(for: schema, migrationPlan: plan, configurations: [memory]),
      try ModelContainer(for: schema, migrationPlan: plan, configurations: memory),
      try ModelContainer(
        for: .init(versionedSchema: Plan.schemas[0]), migrationPlan: Plan.self,
        configurations: .init(url: url, cloudKitDatabase: .none)),
      try ModelContainer(for: schema, configurations: [custom]),
      try ModelContainer(for: Shelf.self, configurations: custom),
    ]
    #expect(containers.allSatisfy { $0 == $0 })
  }

  @Test func `contexts`() throws {
    let context = try ModelContext.ofShelves()
    let shelf = Shelf(code: "A")
    context.insert(shelf)
    try context.save()
    let kinds: [any Titled.Type] = [Volume.self]
    for kind in kinds { try context.delete(model: kind) }
    #expect((context.registeredModel(for: shelf.persistentModelID) as Shelf?) === shelf)
    let closure: (Shelf) throws -> Void = { $0.room = "x" }
    try context.enumerate(FetchDescriptor<Shelf>(), block: closure)
    try context.enumerate(FetchDescriptor<Shelf>(), allowEscapingMutations: true) { $0.room = "y" }
    try context.enumerate(FetchDescriptor<Shelf>(), batchSize: 10) { (_: Shelf) in }
    try context.transaction {}
    #expect(try context.fetch(.init(predicate: #Predicate<Shelf> { _ in true })).count == 1)
    #expect(try context.fetch(.all).count == 1)
    #expect(context.editingState.author == nil)
  }

  @Test func `descriptors of history`() throws {
    let context = try ModelContext.ofShelves()
    var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
    let (date, number) = (Date.distantPast, Int64(0))
    descriptor.predicate = #Predicate { $0.timestamp > date && $0.transactionIdentifier > number }
    descriptor.sortBy = [SortDescriptor(\.token, order: .forward)]
    descriptor.fetchLimit = 1
    #expect(try context.fetchHistory(descriptor).isEmpty)
  }

  @Test func `errors`() throws {
    do {
      throw SwiftDataError.historyTokenExpired
    } catch SwiftDataError.unsupportedPredicate {
      Issue.record("another error was meant")
    } catch let error as SwiftDataError where error == .historyTokenExpired {
      #expect("\(error)".contains("historyTokenExpired"))
    }
  }

  /// A generic actor with its own initializer.
  private actor Store<T: PersistentModel>: ModelActor {
    nonisolated let modelContainer: ModelContainer
    nonisolated let modelExecutor: any ModelExecutor

    init(modelContainer: ModelContainer) {
      self.modelContainer = modelContainer
      let context = ModelContext(modelContainer)
      context.autosaveEnabled = true
      modelExecutor = DefaultSerialModelExecutor(modelContext: context)
    }

    func count() throws -> Int { try modelContext.fetchCount(FetchDescriptor<T>()) }
  }

  @Test func `an actor may conform by hand and be generic`() async throws {
    let container = try ModelContext.ofShelves().container
    #expect(try await Store<Shelf>(modelContainer: container).count() == 0)
  }
}

extension FetchDescriptor where T == Shelf {
  fileprivate static var all: FetchDescriptor<Shelf> { FetchDescriptor() }
}
