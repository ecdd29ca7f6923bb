import CoreData
import SwiftData
import TestSupport
import Testing

/// Containers and configurations.
struct ContainerTests {
  @Test func `the forms of configurations resolve`() {
    let schema = Schema([Shelf.self])
    let url = URL(fileURLWithPath: "/tmp/x/my.store")
    let all: [ModelConfiguration] = [
      ModelConfiguration(), ModelConfiguration(isStoredInMemoryOnly: true), ModelConfiguration("Name"),
      ModelConfiguration(schema: schema), ModelConfiguration(schema: schema, isStoredInMemoryOnly: true),
      ModelConfiguration(for: Shelf.self, Topic.self), ModelConfiguration(url: url),
      ModelConfiguration(schema: schema, url: url, cloudKitDatabase: .none),
      ModelConfiguration("N", schema: schema, url: url, allowsSave: false),
      ModelConfiguration(cloudKitDatabase: .none),
      ModelConfiguration(isStoredInMemoryOnly: true, allowsSave: false), .init(isStoredInMemoryOnly: true),
      ModelConfiguration(groupContainer: .identifier("group.a")), .init(cloudKitDatabase: .private("x")),
    ]
    #expect(all[0].name == "default" && all[0].url.lastPathComponent == "default.store")
    #expect(all[2].url.lastPathComponent == "Name.store" && all[6].name == "my")
    #expect(all[1].url.path == "/dev/null" && all[1].isStoredInMemoryOnly)
  }

  @Test func `the file is made with its directory`() throws {
    let place = TemporaryPlace.make().appendingPathComponent("deep/shelves.data")
    let container = try ModelContainer(for: Shelf.self, configurations: .init(url: place))
    withExtendedLifetime(container) {
      #expect(FileManager.default.fileExists(atPath: place.path))
    }
  }

  @Test func `models are there when the store is opened again`() throws {
    let place = try TemporaryPlace.makeDirectory().appendingPathComponent("shelves.store")
    do {
      let context = ModelContext(try ModelContainer(for: Shelf.self, configurations: .init(url: place)))
      let shelf = Shelf(code: "A")
      shelf.volumes = [Volume(title: "One")]
      context.insert(shelf)
      try context.save()
    }
    let context = ModelContext(try ModelContainer(for: Shelf.self, configurations: .init(url: place)))
    #expect(try context.fetch(FetchDescriptor<Volume>()).map(\.shelf?.code) == ["A"])
  }

  @Test func `containers in memory share nothing`() throws {
    let (one, two) = (try ModelContext.ofShelves(), try ModelContext.ofShelves())
    one.insert(Shelf(code: "A"))
    try one.save()
    #expect(try two.fetchCount(FetchDescriptor<Shelf>()) == 0)
  }

  @Test func `several configurations split the entities`() throws {
    let directory = try TemporaryPlace.makeDirectory()
    let container = try ModelContainer(
      for: Schema([Writer.self, Shelf.self]),
      configurations: ModelConfiguration(
        schema: Schema([Writer.self]), url: directory.appendingPathComponent("writers.store")),
      ModelConfiguration(schema: Schema([Shelf.self]), url: directory.appendingPathComponent("shelves.store"))
    )
    let context = ModelContext(container)
    let (writer, shelf) = (Writer(name: "Ann"), Shelf(code: "A"))
    context.insert(writer)
    context.insert(shelf)
    try context.save()
    #expect(writer.persistentModelID.storeIdentifier != shelf.persistentModelID.storeIdentifier)
    #expect(
      container.storeIdentifier(forConfigurationNamed: "writers") == writer.persistentModelID.storeIdentifier)
  }

  @Test func `configurations that make no sense are refused`() throws {
    func make(_ configurations: ModelConfiguration...) throws {
      _ = try ModelContainer(for: Schema([Shelf.self]), configurations: configurations)
    }
    let url = try TemporaryPlace.makeDirectory().appendingPathComponent("a.store")
    #expect(throws: SwiftDataError.configurationFileNameContainsInvalidCharacters) {
      try make(ModelConfiguration("a/b", isStoredInMemoryOnly: true))
    }
    #expect(throws: SwiftDataError.configurationFileNameTooLong) {
      try make(ModelConfiguration(String(repeating: "x", count: 300), isStoredInMemoryOnly: true))
    }
    #expect(throws: SwiftDataError.duplicateConfiguration) {
      try make(ModelConfiguration("a", url: url), ModelConfiguration("b", url: url))
    }
    #expect(throws: SwiftDataError.configurationSchemaNotFoundInContainerSchema) {
      try make(ModelConfiguration(schema: Schema([Writer.self]), isStoredInMemoryOnly: true))
    }
  }

  @Test func `a file that is no store is a load issue`() throws {
    let place = try TemporaryPlace.makeDirectory().appendingPathComponent("a.store")
    try Data("no database at all, but longer than a header of one hundred bytes".utf8).write(to: place)
    #expect(throws: SwiftDataError.loadIssueModelContainer) {
      _ = try ModelContainer(for: Shelf.self, configurations: .init(url: place))
    }
  }

  @Test func `a fetch of a class that the schema lacks throws`() throws {
    let context = try ModelContext.ofShelves()
    #expect(throws: SwiftDataError.unknownSchema) { _ = try context.fetch(FetchDescriptor<Writer>()) }
  }

  @Test func `erasing removes all and lets registered models go`() throws {
    let context = try ModelContext.ofShelves()
    let shelf = Shelf(code: "A")
    shelf.volumes = [Volume(title: "One")]
    context.insert(shelf)
    try context.save()
    try context.container.erase()
    #expect(try context.fetchCount(FetchDescriptor<Shelf>()) == 0)
    #expect(try context.fetch(FetchDescriptor<Volume>()).isEmpty)
  }

  @MainActor @Test func `the main context is one and sees what others save`() async throws {
    let container = try ModelContainer(for: Shelf.self, configurations: .init(isStoredInMemoryOnly: true))
    #expect(container.mainContext === container.mainContext && container.mainContext.autosaveEnabled)
    let shelf = Shelf(code: "A")
    container.mainContext.insert(shelf)
    try container.mainContext.save()
    let id = shelf.persistentModelID
    try await Task.detached {
      let context = ModelContext(container)
      (context.model(for: id) as? Shelf)?.room = "hall"
      try context.save()
    }.value
    #expect(shelf.room == "hall")
  }

  @MainActor @Test func `the main context saves by itself on the next turn`() async throws {
    let container = try ModelContainer(for: Shelf.self, configurations: .init(isStoredInMemoryOnly: true))
    container.mainContext.insert(Shelf(code: "A"))
    #expect(container.mainContext.hasChanges)
    await withCheckedContinuation { done in DispatchQueue.main.async { done.resume() } }
    #expect(!container.mainContext.hasChanges)
    container.mainContext.insert(Shelf(code: "B"))
    container.mainContext.autosaveEnabled = false
    await withCheckedContinuation { done in DispatchQueue.main.async { done.resume() } }
    #expect(container.mainContext.hasChanges)
  }

  @Test func `an identifier has Apple's coded form`() throws {
    let context = try ModelContext.ofShelves()
    let shelf = Shelf(code: "A")
    context.insert(shelf)
    try context.save()
    let id = shelf.persistentModelID
    let data = try JSONEncoder().encode(id)
    let parts = try #require(
      (JSONSerialization.jsonObject(with: data) as? [String: Any])?["implementation"] as? [String: Any])
    #expect(parts["primaryKey"] as? String == "p1" && parts["entityName"] as? String == "Shelf")
    #expect(parts["isTemporary"] as? Bool == false)
    #expect(parts["storeIdentifier"] as? String == id.storeIdentifier)
    #expect(parts["uriRepresentation"] as? String == "x-coredata://\(id.storeIdentifier!)/Shelf/p1")
    let decoded = try JSONDecoder().decode(PersistentIdentifier.self, from: data)
    #expect(decoded == id && context.model(for: decoded) as? Shelf === shelf)
  }
}
