import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import SwiftData

private enum Stage: String, Codable { case early, late }
private enum Motive: Codable { case none(because: String), several([Int]) }

private struct Spot: Codable {
  var x: Double
  var label: String
  var motive: Motive
  var next: [Spot]
}

@Model private final class Owner {
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \Item.owner) var items: [Item] = []

  init(_ name: String) { self.name = name }
}

@Model private final class Item {
  var title: String
  var count: Int
  var token: UUID
  var made: Date
  var note: String?
  var stage: Stage
  var spot: Spot
  var owner: Owner
  var friends: [Item] = []

  init(_ title: String, owner: Owner) {
    self.title = title
    count = 3
    token = UUID()
    made = Date(timeIntervalSinceReferenceDate: 5)
    note = "note"
    stage = .late
    spot = Spot(x: 1, label: "a", motive: .several([1]), next: [])
    self.owner = owner
  }
}

/// Models whose store cannot be read, or whose rows are damaged.
struct ReadFailureTests {
  private let _place: URL

  init() throws {
    _place = try TemporaryPlace.makeDirectory().appendingPathComponent("items.store")
    let context = ModelContext(try _container())
    let owner = Owner("Ada")
    for title in ["one", "two"] { context.insert(Item(title, owner: owner)) }
    try context.save()
  }

  private func _container() throws -> ModelContainer {
    try ModelContainer(for: Owner.self, configurations: .init(url: _place))
  }

  /// Runs SQL by the `sqlite3` command.
  private func _damage(_ sql: String) throws { _ = try SQLiteShell.rows(sql, in: _place) }

  /// Returns the identities of the items by title.
  private func _identifiers(_ container: ModelContainer) throws -> [PersistentIdentifier] {
    let context = ModelContext(container)
    return try context.fetchIdentifiers(FetchDescriptor<Item>(sortBy: [SortDescriptor(\.title)]))
  }

  /// Returns an item of a new context whose store has been closed, as if its disk were gone.
  private func _unreadable(_ policy: ReadFailurePolicy = .fail) throws -> (ModelContext, Item) {
    let container = try _container()
    container.readFailurePolicy = policy
    let identifier = try _identifiers(container)[0]
    let context = ModelContext(container)
    context.autosaveEnabled = false
    let item = try #require(context.model(for: identifier) as? Item)
    container.core.coordinator.rowCache.removeAll()
    container.core.coordinator.persistentStores.first?.engine?.close()
    return (context, item)
  }

  private func _expectEmpty(_ item: Item) {
    #expect(item.title == "" && item.count == 0 && item.note == nil)
    #expect(item.token.uuidString == "00000000-0000-0000-0000-000000000000")
    #expect(item.made == Date(timeIntervalSinceReferenceDate: 0))
    #expect(item.stage == .early)
    #expect(item.spot.x == 0 && item.spot.label == "" && item.spot.next.isEmpty)
    #expect(item.owner.name == "" && item.owner.items.isEmpty)
    #expect(item.friends.isEmpty)
  }

  @Test func `A model that can't be read shows empty values`() throws {
    let (context, item) = try _unreadable()
    _expectEmpty(item)
    #expect(!context.hasChanges)
  }

  @Test func `A change of it is refused, and saves fail until a rollback`() throws {
    let (context, item) = try _unreadable()
    item.title = "changed"
    #expect(item.title == "" && context.hasChanges)
    let error = #expect(throws: CocoaError.self) { try context.save() }
    #expect(error?.code.rawValue == NSPersistentStoreOperationError)
    context.rollback()
    #expect(!context.hasChanges)
    try context.save()
  }

  @Test func `A change of its required relation's model is refused, too`() throws {
    let (context, item) = try _unreadable()
    item.owner.name = "changed"
    #expect(throws: CocoaError.self) { try context.save() }
    item.owner = Owner("new")
    #expect(throws: CocoaError.self) { try context.save() }
    context.rollback()
    #expect(!context.hasChanges)
  }

  @Test func `Fetches throw the kept error, which an observer has got`() throws {
    let (context, item) = try _unreadable()
    nonisolated(unsafe) var posted: [[AnyHashable: Any]] = []
    let token = NotificationCenter.default.addObserver(
      forName: ModelContext.readDidFail, object: context, queue: nil
    ) { posted.append($0.userInfo ?? [:]) }
    defer { NotificationCenter.default.removeObserver(token) }
    _ = item.title
    _ = item.friends
    #expect(posted.count == 1)
    let key = ModelContext.NotificationKey.failedIdentifier.rawValue
    #expect(posted.first?[key] as? PersistentIdentifier == item.persistentModelID)
    #expect(posted.first?[NSUnderlyingErrorKey] is CocoaError)
    #expect(throws: CocoaError.self) { try context.fetchCount(FetchDescriptor<Owner>()) }
  }

  @Test func `A model actor returns a model that reads again`() throws {
    let (context, item) = try _unreadable()
    let id = item.persistentModelID
    let other = ModelContext(context.container)
    let found: Item? = other.storedModel(for: id)
    #expect(found?.title == "")
  }

  @Test func `By default the process ends`() async {
    await #expect(processExitsWith: .failure) {
      let (_, item) = try ReadFailureTests()._unreadable(.trap)
      _ = item.title
    }
  }

  // MARK: Damage

  @Test func `A damaged model shows empty values by default, and others don't`() throws {
    try _damage("UPDATE ZITEM SET ZTOKEN = x'01' WHERE ZTITLE = 'one'")
    let container = try _container()
    let identifiers = try _identifiers(container)
    let context = ModelContext(container)
    context.autosaveEnabled = false
    let items = identifiers.compactMap { context.model(for: $0) as? Item }
    _expectEmpty(items[0])
    #expect(items[1].title == "two" && items[1].owner.name == "Ada" && items[1].owner.items.count == 2)
    items[1].title = "2"
    try context.save()
    items[0].title = "1"
    #expect(throws: CocoaError.self) { try context.save() }
    context.rollback()
    #expect(!context.hasChanges)
    #expect(try context.fetchCount(FetchDescriptor<Item>()) == 2)
  }

  @Test func `Structures and enumerations of damaged content have values`() throws {
    let others = ["ZTITLE", "ZCOUNT", "ZTOKEN", "ZMADE", "ZNOTE", "ZOWNER"]
    let columns = try _columns().filter { !$0.hasPrefix("Z_") && !others.contains($0) }
    #expect(columns.count > 3)
    try _damage("UPDATE ZITEM SET " + columns.map { "\($0) = 'nonsense'" }.joined(separator: ", "))
    let context = ModelContext(try _container())
    for item in try context.fetch(FetchDescriptor<Item>()) {
      #expect(item.stage == .early)
      #expect(item.spot.next.isEmpty)
    }
  }

  private func _columns() throws -> [String] {
    try SQLiteShell.rows("SELECT name FROM pragma_table_info('ZITEM')", in: _place)
  }
}
