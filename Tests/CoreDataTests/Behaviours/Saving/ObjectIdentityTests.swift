import Foundation
import Testing

@testable import CoreData

/// An object's ID, which is created on first use.
@Suite struct ObjectIdentityTests {
  private func _stack(_ setting: Setting, books: Int) throws -> TestStack {
    let stack = try TestStack(setting)
    stack.context.performAndWait {
      for number in 0..<books { stack.context.insert("Book", ["title": "Book \(number)"]) }
    }
    try stack.save()
    return stack
  }

  @Test(arguments: Setting.allCases)
  func `a fetched object answers one ID however often it is asked`(_ setting: Setting) throws {
    let stack = try _stack(setting, books: 3)
    try stack.fresh { context in
      for book in try context.all("Book") {
        let id = book.objectID
        #expect(!id.isTemporaryID)
        #expect(book.objectID === id)
        #expect(context.registeredObject(for: id) === book)
        #expect(stack.coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()) == id)
      }
    }
  }

  @Test(arguments: Setting.direct)
  func `an ID asked for on many threads at once is one`(_ setting: Setting) throws {
    let stack = try _stack(setting, books: 200)
    let context = stack.sibling()
    try context.performAndWait {
      let books = try context.all("Book")
      // Objects are not Sendable, but their IDs may be read anywhere.
      struct Books: @unchecked Sendable { let all: [NSManagedObject] }
      let shared = Books(all: books)
      let seen = Seen(count: books.count)
      DispatchQueue.concurrentPerform(iterations: 8) { turn in
        for place in shared.all.indices {
          let place = turn % 2 == 0 ? place : shared.all.count - 1 - place
          seen.note(shared.all[place].objectID, at: place)
        }
      }
      #expect(seen.isOneEach)
      #expect(Set(books.map(\.objectID)).count == 200)
    }
  }

  /// The IDs returned at each place.
  private final class Seen: @unchecked Sendable {
    // Unchecked: guarded by the lock.
    private let _lock = NSLock()
    private var _ids: [Set<ObjectIdentifier>]
    private var _held: [NSManagedObjectID] = []

    init(count: Int) { _ids = Array(repeating: [], count: count) }

    func note(_ id: NSManagedObjectID, at place: Int) {
      _lock.withLock {
        _ids[place].insert(ObjectIdentifier(id))
        _held.append(id)
      }
    }

    var isOneEach: Bool { _lock.withLock { _ids.allSatisfy { $0.count == 1 } } }
  }

  @Test(arguments: Setting.allCases)
  func `an object found by ID and by fetch is the same`(_ setting: Setting) throws {
    let stack = try _stack(setting, books: 5)
    try stack.fresh { context in
      let ids = try stack.fresh { other in try other.all("Book").map(\.objectID) }
      let early = context.object(with: ids[0])
      let books = try context.all("Book")
      #expect(books.contains { $0 === early })
      for id in ids { try #expect(context.existingObject(with: id).objectID == id) }
      #expect(Set(books.map(\.objectID)) == Set(ids))
    }
  }

  @Test func `an ID outlives its object and context`() throws {
    let stack = try _stack(.sqlite, books: 1)
    let id = try stack.fresh { context in try #require(try context.all("Book").first).objectID }
    try stack.fresh { context in
      try #expect(context.existingObject(with: id).text("title") == "Book 0")
    }
  }

  @Test(arguments: Setting.direct)
  func `an object that was forgotten still knows its ID`(_ setting: Setting) throws {
    let stack = try _stack(setting, books: 1)
    try stack.fresh { context in
      let book = try #require(try context.all("Book").first)
      context.reset()
      let again = try #require(try context.all("Book").first)
      #expect(again !== book)
      #expect(again.objectID == book.objectID)
    }
  }

  @Test func `an object that asked too early answers its own ID afterwards`() throws {
    let model = LibraryModel.make()
    model.entitiesByName["Author"]!.managedObjectClassName = String(reflecting: HastyAuthor.self)
    let stack = try TestStack(.sqlite, model: model)
    try stack.context.performAndWait {
      stack.context.insert("Author", ["name": "Ada"])
      try stack.context.save()
    }
    try stack.fresh { context in
      let author = try #require(try context.all("Author").first)
      #expect(!author.objectID.isTemporaryID)
      let early = WeakReference(HastyAuthor.asked)
      #expect(early.object?.isTemporaryID == true)
      HastyAuthor.asked = nil
      #expect(early.object == nil)
    }
  }

  // MARK: Pages of a fetch

  private func _space(_ stack: TestStack, _ entity: String) throws -> ObjectIDSpace {
    try stack.root.performAndWait {
      let object = stack.root.insert(entity)
      try stack.root.save()
      return try #require(object._key).space
    }
  }

  @Test func `a page is found by any of its keys in any order`() throws {
    let space = try _space(TestStack(.memory), "Author")
    let references: [Int64] = [40, 7, 99, 3, 12, 58, 21]
    let pages = FetchPages(KeyList(references.map { ObjectKey(space: space, reference: $0) }), size: 3)
    for (place, reference) in references.enumerated().reversed() {
      let page = try #require(pages.page(of: ObjectKey(space: space, reference: reference)))
      let start = place - place % 3
      #expect(page.map(\.reference) == Array(references[start..<min(start + 3, 7)]))
    }
    #expect(pages.page(of: ObjectKey(space: space, reference: 13)) == nil)
    #expect(pages.page(of: ObjectKey(space: space, reference: 1000)) == nil)
  }

  @Test func `a page keeps the entity of each key`() throws {
    let stack = try TestStack(.memory)
    let (books, novels) = (try _space(stack, "Book"), try _space(stack, "Novel"))
    let keys = [
      ObjectKey(space: books, reference: 5), ObjectKey(space: novels, reference: 2),
      ObjectKey(space: books, reference: 9),
    ]
    let pages = FetchPages(KeyList(keys), size: 10)
    let page = try #require(pages.page(of: keys[2]))
    #expect(page.map { $0.space.layout.entityName } == ["Book", "Novel", "Book"])
    let author = try _space(stack, "Author")
    #expect(pages.page(of: ObjectKey(space: author, reference: 5)) == nil)
  }
}

/// Requests its ID during initialization, when it has none.
final class HastyAuthor: NSManagedObject {
  nonisolated(unsafe) static var asked: NSManagedObjectID?

  override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    super.init(entity: entity, insertInto: context)
    Self.asked = objectID
  }

  @Test func `fetching a released object again shows the store's values`() throws {
    let stack = try TestStack(.sqlite)
    let id = try stack.context.performAndWait {
      let author = stack.context.insert("Author", ["name": "Ada"])
      try stack.context.save()
      return author.objectID
    }
    let other = try stack.otherCoordinator().newContext()
    try other.performAndWait {
      try other.all("Author")[0].setValue("Bob", forKey: "name")
      try other.save()
    }
    try stack.context.performAndWait {
      #expect(stack.context.registeredObject(for: id) == nil)
      #expect(stack.context.object(with: id).isFault)
      try #expect(stack.context.all("Author").map { $0.text("name") } == ["Bob"])
    }
  }
}
