import SwiftData
import TestSupport
import Testing

/// A store around the default one that offers all that it does.
final class WholeStore: DataStore, DataStoreBatching, HistoryProviding {
  struct Configuration: DataStoreConfiguration {
    typealias Store = WholeStore
    var name = "whole"
    var schema: Schema?
    let url: URL
    var isValid = true

    func validate() throws {
      if !isValid { throw DataStoreError.invalidPredicate }
    }
  }

  typealias Snapshot = DefaultSnapshot
  typealias HistoryType = DefaultHistoryTransaction

  let configuration: Configuration
  let schema: Schema
  var identifier: String { _inner.identifier }
  private let _inner: DefaultStore

  init(_ configuration: Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
    self.configuration = configuration
    schema = configuration.schema!
    _inner = try DefaultStore(
      ModelConfiguration(schema: schema, url: configuration.url), migrationPlan: migrationPlan)
  }

  func fetch<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> DataStoreFetchResult<T, DefaultSnapshot> where T: PersistentModel { try _inner.fetch(request) }

  func fetchCount<T>(_ request: DataStoreFetchRequest<T>) throws -> Int where T: PersistentModel {
    try _inner.fetchCount(request)
  }

  func fetchIdentifiers<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> [PersistentIdentifier] where T: PersistentModel { try _inner.fetchIdentifiers(request) }

  func save(
    _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
  ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> { try _inner.save(request) }

  func delete<T>(_ request: DataStoreBatchDeleteRequest<T>) throws where T: PersistentModel {
    try _inner.delete(request)
  }

  func erase() throws { try _inner.erase() }

  func fetchHistory(
    _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
  ) throws -> [DefaultHistoryTransaction] { try _inner.fetchHistory(descriptor) }

  func deleteHistory(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws {
    try _inner.deleteHistory(descriptor)
  }
}

@Suite struct WrappedStoreTests {
  private let _place: URL

  init() throws { _place = try TemporaryPlace.makeDirectory().appendingPathComponent("a.store") }

  private func _container() throws -> ModelContainer {
    try ModelContainer(
      for: Schema([Shelf.self]), configurations: [WholeStore.Configuration(url: _place)])
  }

  /// The codes of the shelves in the file, as read without the store around it.
  private func _stored() throws -> [String] {
    let context = ModelContext(try ModelContainer(for: Shelf.self, configurations: .init(url: _place)))
    return try context.fetch(FetchDescriptor<Shelf>(sortBy: [SortDescriptor(\.code)])).map(\.code)
  }

  private func _filled() throws -> ModelContext {
    let context = ModelContext(try _container())
    for code in ["A", "B", "C"] { context.insert(Shelf(code: code, room: code == "C" ? "attic" : "hall")) }
    try context.save()
    return context
  }

  @Test func `counts and identifiers come from the store`() throws {
    let context = try _filled()
    let hall = FetchDescriptor<Shelf>(predicate: #Predicate { $0.room == "hall" })
    #expect(try context.fetchCount(hall) == 2)
    let found = try context.fetchIdentifiers(hall)
    let codes = found.compactMap { (context.model(for: $0) as? Shelf)?.code }
    #expect(Set(codes) == ["A", "B"])
  }

  @Test func `a deletion by predicate is the store's`() throws {
    let context = try _filled()
    try context.delete(model: Shelf.self, where: #Predicate { $0.room == "hall" })
    try context.save()
    #expect(try _stored() == ["C"])
    #expect(try ModelContext(_container()).fetchCount(FetchDescriptor<Shelf>()) == 1)
  }

  @Test func `its history is read and deleted`() throws {
    let context = try _filled()
    let all = HistoryDescriptor<DefaultHistoryTransaction>()
    let transactions = try context.fetchHistory(all)
    #expect(transactions.count == 1 && transactions.first?.changes.count == 3)
    try context.deleteHistory(all)
    #expect(try context.fetchHistory(all).isEmpty)
  }

  @Test func `a container erases it`() throws {
    let context = try _filled()
    try context.container.erase()
    #expect(try _stored().isEmpty)
  }

  @Test func `a configuration that is not valid opens nothing`() throws {
    var configuration = WholeStore.Configuration(url: _place)
    configuration.isValid = false
    #expect(throws: DataStoreError.invalidPredicate) {
      try ModelContainer(for: Schema([Shelf.self]), configurations: [configuration])
    }
  }

  @Test func `the default store needs a schema`() throws {
    #expect {
      try DefaultStore(ModelConfiguration(url: _place), migrationPlan: nil)
    } throws: {
      "\($0)".contains("has no schema")
    }
  }
}
