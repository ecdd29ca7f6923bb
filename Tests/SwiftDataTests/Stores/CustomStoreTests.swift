import SwiftData
import TestSupport
import Testing

/// A store that keeps snapshots in memory and lets the context filter and sort.
final class MemoStore: DataStore {
  struct Configuration: DataStoreConfiguration {
    typealias Store = MemoStore
    var name = "memos"
    var schema: Schema?
    let box: Box
    static func == (left: Self, right: Self) -> Bool { left.box === right.box }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(box)) }
  }

  typealias Snapshot = DefaultSnapshot

  /// State shared by several containers.
  final class Box: @unchecked Sendable {
    var snapshots: [PersistentIdentifier: DefaultSnapshot] = [:]
    var last = 0
    var sorts = false
    var authors: [String?] = []
  }

  let configuration: Configuration
  let identifier = "memo-store"
  let schema: Schema

  init(_ configuration: Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
    self.configuration = configuration
    schema = configuration.schema!
  }

  func fetch<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> DataStoreFetchResult<T, DefaultSnapshot> where T: PersistentModel {
    if request.descriptor.predicate != nil { throw DataStoreError.preferInMemoryFilter }
    if !request.descriptor.sortBy.isEmpty { throw DataStoreError.preferInMemorySort }
    let name = Schema.entityName(for: T.self)
    return DataStoreFetchResult(
      descriptor: request.descriptor,
      fetchedSnapshots: configuration.box.snapshots.values.filter {
        $0.persistentIdentifier.entityName == name
      })
  }

  func save(
    _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
  ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
    let box = configuration.box
    box.authors.append(request.editingState.author)
    var remapped: [PersistentIdentifier: PersistentIdentifier] = [:]
    for snapshot in request.inserted {
      box.last += 1
      remapped[snapshot.persistentIdentifier] = try PersistentIdentifier.identifier(
        for: identifier, entityName: snapshot.persistentIdentifier.entityName, primaryKey: box.last)
    }
    for snapshot in request.inserted + request.updated {
      let id = remapped[snapshot.persistentIdentifier] ?? snapshot.persistentIdentifier
      box.snapshots[id] = snapshot.copy(persistentIdentifier: id, remappedIdentifiers: remapped)
    }
    for snapshot in request.deleted { box.snapshots[snapshot.persistentIdentifier] = nil }
    return DataStoreSaveChangesResult(for: identifier, remappedIdentifiers: remapped)
  }

  func erase() throws { configuration.box.snapshots = [:] }
}

/// Custom stores.
struct CustomStoreTests {
  private let _box = MemoStore.Box()

  private func _context() throws -> ModelContext {
    ModelContext(
      try ModelContainer(for: Schema([Shelf.self]), configurations: [MemoStore.Configuration(box: _box)]))
  }

  private func _filled() throws -> ModelContext {
    let context = try _context()
    let shelf = Shelf(code: "A", room: "hall")
    for number in [3, 1, 2] {
      let volume = Volume(title: "V\(number)", pages: number)
      volume.tags = ["t\(number)"]
      volume.state = .lent(to: "Ann")
      shelf.volumes.append(volume)
    }
    context.insert(shelf)
    try context.save()
    return context
  }

  @Test func `what is saved comes back in another container`() throws {
    _ = try _filled()
    let context = try _context()
    let shelf = try #require(try context.fetch(FetchDescriptor<Shelf>()).first)
    #expect(shelf.code == "A" && shelf.volumes.count == 3)
    #expect(Set(shelf.volumes.flatMap(\.tags)) == ["t1", "t2", "t3"])
    #expect(shelf.volumes.allSatisfy { $0.shelf === shelf && $0.state == .lent(to: "Ann") })
  }

  @Test func `new models take over the identities that the store gives`() throws {
    let context = try _filled()
    let shelf = try #require(try context.fetch(FetchDescriptor<Shelf>()).first)
    #expect(shelf.persistentModelID.storeIdentifier == "memo-store" && !shelf.persistentModelID.isTemporary)
    #expect(context.model(for: shelf.persistentModelID) as? Shelf === shelf)
    #expect(_box.snapshots[shelf.persistentModelID] != nil)
  }

  @Test func `the context filters and sorts where the store prefers that`() throws {
    let context = try _filled()
    var descriptor = FetchDescriptor<Volume>(
      predicate: #Predicate { $0.pages > 1 }, sortBy: [SortDescriptor(\.pages)])
    #expect(try context.fetch(descriptor).map(\.pages) == [2, 3])
    descriptor.fetchLimit = 1
    #expect(try context.fetch(descriptor).map(\.pages) == [2])
    let new = Volume(title: "new", pages: 10)
    context.insert(new)
    descriptor.fetchLimit = nil
    #expect(try context.fetch(descriptor).map(\.pages) == [2, 3, 10])
  }

  @Test func `the context sorts by all orders, each in its direction`() throws {
    let context = try _context()
    for (title, pages) in [("a", 2), ("b", 1), ("c", 2), ("d", 1), ("e", 3)] {
      context.insert(Volume(title: title, pages: pages))
    }
    try context.save()
    func titles(_ orders: SortDescriptor<Volume>...) throws -> String {
      try context.fetch(FetchDescriptor<Volume>(sortBy: orders)).map(\.title).joined()
    }
    try #expect(titles(SortDescriptor(\.pages), SortDescriptor(\.title)) == "bdace")
    try #expect(titles(SortDescriptor(\.pages), SortDescriptor(\.title, order: .reverse)) == "dbcae")
    try #expect(titles(SortDescriptor(\.pages, order: .reverse), SortDescriptor(\.title)) == "eacbd")
  }

  @Test func `the preference reaches who counts or asks for identifiers`() throws {
    let context = try _filled()
    let descriptor = FetchDescriptor<Volume>(predicate: #Predicate { $0.pages > 1 })
    #expect(throws: DataStoreError.preferInMemoryFilter) { _ = try context.fetchCount(descriptor) }
    #expect(throws: DataStoreError.preferInMemoryFilter) { _ = try context.fetchIdentifiers(descriptor) }
    #expect(try context.fetchCount(FetchDescriptor<Volume>()) == 3)
  }

  @Test func `changes and deletions reach the store, with the author`() throws {
    let context = try _filled()
    context.author = "ann"
    let shelf = try #require(try context.fetch(FetchDescriptor<Shelf>()).first)
    shelf.room = "attic"
    let first = try #require(shelf.volumes.first { $0.pages == 1 })
    context.delete(first)
    try context.save()
    #expect(_box.authors == [nil, "ann"])
    let other = try _context()
    #expect(try other.fetch(FetchDescriptor<Shelf>()).map(\.room) == ["attic"])
    #expect(try Set(other.fetch(FetchDescriptor<Volume>()).map(\.pages)) == [2, 3])
  }

  @Test func `a batch deletion deletes one by one where the store has none`() throws {
    let context = try _filled()
    try context.delete(model: Volume.self, where: #Predicate { $0.pages == 3 })
    try context.save()
    #expect(_box.snapshots.count == 3)
  }

  @Test func `a store without history says so`() throws {
    let context = try _filled()
    #expect(throws: DataStoreError.unsupportedFeature) {
      _ = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    }
  }

  @Test func `a snapshot is coded and decoded`() throws {
    _ = try _filled()
    let snapshot = try #require(_box.snapshots.values.first { $0.persistentIdentifier.entityName == "Shelf" })
    let decoded = try JSONDecoder().decode(DefaultSnapshot.self, from: JSONEncoder().encode(snapshot))
    #expect(decoded.persistentIdentifier == snapshot.persistentIdentifier)
    _box.snapshots[decoded.persistentIdentifier] = decoded
    #expect(try _context().fetch(FetchDescriptor<Shelf>()).map(\.room) == ["hall"])
  }

  @Test func `the default store can be wrapped`() throws {
    let place = try TemporaryPlace.makeDirectory().appendingPathComponent("a.store")
    let store = try DefaultStore(
      ModelConfiguration(schema: Schema([Shelf.self]), url: place), migrationPlan: nil)
    let context = ModelContext(try ModelContainer(for: Shelf.self, configurations: .init(url: place)))
    context.insert(Shelf(code: "A"))
    try context.save()
    #expect(store.identifier == context.container.storeIdentifier(forConfigurationNamed: "a"))
    #expect(try store.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).count == 1)
    try store.erase()
    #expect(try ModelContext(context.container).fetchCount(FetchDescriptor<Shelf>()) == 0)
  }

  @Test func `a store around the default one saves values and links, changes and deletions`() throws {
    let place = try TemporaryPlace.makeDirectory().appendingPathComponent("a.store")
    func wrapped() throws -> ModelContext {
      ModelContext(
        try ModelContainer(
          for: Schema([Shelf.self]), configurations: [WholeStore.Configuration(url: place)]))
    }
    func stored() throws -> [String] {
      let context = ModelContext(try ModelContainer(for: Shelf.self, configurations: .init(url: place)))
      return try context.fetch(FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.title)])).map {
        "\($0.title) \($0.pages) \($0.tags) \($0.price.map { "\($0)" } ?? "-") in \($0.shelf?.code ?? "-")"
      }
    }
    let context = try wrapped()
    let (hall, attic) = (Shelf(code: "hall"), Shelf(code: "attic"))
    for (title, pages) in [("a", 1), ("b", 2)] {
      let volume = Volume(title: title, pages: pages)
      volume.tags = [title]
      volume.price = 9
      hall.volumes.append(volume)
    }
    context.insert(hall)
    context.insert(attic)
    try context.save()
    #expect(try stored() == ["a 1 [\"a\"] 9 in hall", "b 2 [\"b\"] 9 in hall"])
    #expect(!hall.persistentModelID.isTemporary)

    let other = try wrapped()
    let volumes = try other.fetch(FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.title)]))
    #expect(volumes.map { $0.shelf?.code } == ["hall", "hall"])
    volumes[0].price = nil
    volumes[0].shelf = try other.fetch(FetchDescriptor<Shelf>(predicate: #Predicate { $0.code == "attic" }))
      .first
    volumes[1].shelf = nil
    try other.save()
    #expect(try stored() == ["a 1 [\"a\"] - in attic", "b 2 [\"b\"] 9 in -"])
    other.delete(volumes[1])
    try other.save()
    #expect(try stored() == ["a 1 [\"a\"] - in attic"])
  }

  @Test func `what the engine's store refuses reaches no custom store`() throws {
    let container = try ModelContainer(
      for: Schema([Shelf.self, Specimen.self]),
      configurations: [
        MemoStore.Configuration(schema: Schema([Shelf.self]), box: _box),
        ModelConfiguration(schema: Schema([Specimen.self]), isStoredInMemoryOnly: true),
      ])
    let context = ModelContext(container)
    context.insert(Shelf(code: "A"))
    let specimen = Specimen(name: "a")
    specimen.parts = [Part(), Part(), Part()]
    context.insert(specimen)
    #expect(throws: (any Error).self) { try context.save() }
    #expect(_box.snapshots.isEmpty && context.hasChanges)
    specimen.parts.removeLast(2)
    try context.save()
    #expect(_box.snapshots.count == 1)
  }
}
