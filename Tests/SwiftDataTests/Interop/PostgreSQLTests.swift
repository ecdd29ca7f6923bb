import CoreData
import CoreDataPostgreSQL
import PostgreSQLServer
import SwiftData
import Testing

/// Containers on a schema of a PostgreSQL database.
@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct PostgreSQLTests {
  private let _url: URL

  init() throws { _url = try #require(PostgreSQLServer.shared).newURL() }

  private func _context() throws -> ModelContext {
    ModelContext(try ModelContainer(for: Shelf.self, configurations: ModelConfiguration(url: _url)))
  }

  @Test func `models are there when the schema is opened again`() throws {
    let context = try _context()
    let shelf = Shelf(code: "A", room: "hall")
    let volume = Volume(title: "One", pages: 3, kind: .manual)
    volume.tags = ["x", "y"]
    volume.price = Decimal(string: "12.34")
    shelf.volumes = [volume]
    context.insert(shelf)
    try context.save()
    let again = try _context()
    let found = try #require(try again.fetch(FetchDescriptor<Volume>()).first)
    #expect(found.title == "One" && found.kind == .manual && found.tags == ["x", "y"])
    #expect(found.price == Decimal(string: "12.34") && found.shelf?.room == "hall")
    #expect(found.persistentModelID == volume.persistentModelID)
  }

  @Test func `predicates and orders run there`() throws {
    let context = try _context()
    for number in 0..<20 { context.insert(Volume(title: "v\(number)", pages: number)) }
    try context.save()
    var descriptor = FetchDescriptor<Volume>(
      predicate: #Predicate { $0.pages > 5 && $0.title.contains("1") },
      sortBy: [SortDescriptor(\.pages, order: .reverse)])
    descriptor.fetchLimit = 3
    #expect(try context.fetch(descriptor).map(\.pages) == [19, 18, 17])
    #expect(try context.fetchCount(FetchDescriptor<Volume>(predicate: #Predicate { $0.pages < 5 })) == 5)
  }

  @Test func `a second model with a unique value updates the first`() throws {
    let context = try _context()
    context.insert(Shelf(code: "A", room: "old"))
    try context.save()
    let other = try _context()
    other.insert(Shelf(code: "A", room: "new"))
    try other.save()
    #expect(try _context().fetch(FetchDescriptor<Shelf>()).map(\.room) == ["new"])
  }

  @Test func `the history tells containers apart by author`() throws {
    let (first, second) = (try _context(), try _context())
    first.author = "first"
    second.author = "second"
    first.insert(Shelf(code: "A"))
    try first.save()
    let shelf = try #require(try second.fetch(FetchDescriptor<Shelf>()).first)
    shelf.room = "hall"
    try second.save()
    let history = try first.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    #expect(history.map(\.author) == ["first", "second"])
  }

  @Test func `a Core Data stack on the same schema reads the models`() throws {
    let context = try _context()
    context.insert(Shelf(code: "A", room: "hall"))
    try context.save()
    let model = try #require(NSManagedObjectModel.makeManagedObjectModel(for: [Shelf.self]))
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: NSPostgreSQLStoreType, configurationName: nil, at: _url,
      options: [NSPersistentHistoryTrackingKey: NSNumber(value: true)])
    let stack = NSManagedObjectContext(.privateQueue)
    stack.persistentStoreCoordinator = coordinator
    try stack.performAndWait {
      let found = try stack.fetch(NSFetchRequest<NSManagedObject>(entityName: "Shelf"))
      #expect(found.first?.value(forKey: "room") as? String == "hall")
    }
  }

  @Test func `two schemas of one database are two places`() throws {
    let other = try #require(PostgreSQLServer.shared).newURL()
    let container = try ModelContainer(
      for: Shelf.self, Topic.self, Letter.self,
      configurations: ModelConfiguration("shelves", schema: Schema([Shelf.self]), url: _url),
      ModelConfiguration("letters", schema: Schema([Letter.self]), url: other))
    let context = ModelContext(container)
    context.insert(Shelf(code: "A"))
    context.insert(Letter(text: "hello"))
    try context.save()
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Letter>()) == 1)
  }
}

/// Has no relationships.
@Model final class Letter {
  var text: String
  init(text: String) { self.text = text }
}
