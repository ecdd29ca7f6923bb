import CoreDataModelSchema
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Saves that wait for a busy parent, as seen by its other children.
@Suite struct PendingDeliveriesTests {
  private let _overlay = PublishedOverlay()
  private let _child: NSManagedObjectContext
  private let _stack: TestStack
  private let _ada: NSManagedObject
  private let _age: Int
  private let _books: LinkEnds

  init() throws {
    _stack = try TestStack(.memory)
    _child = _stack.child(of: _stack.context)
    let context = _stack.context
    _ada = try context.performAndWait {
      let ada = context.insert("Author", ["name": "Ada", "age": 0])
      try context.save()
      return ada
    }
    _age = try #require(_ada._layout.slot(named: "age"))
    let books = try #require(_ada._layout.slot(named: "books"))
    _books = try #require(LinkEnds(toMany: books, of: _ada._layout))
  }

  /// A child's save of Ada's age and of one more book of hers.
  private func save(_ age: Int, adding book: NSManagedObjectID) -> ChangeLayer {
    let base = _ada._row!
    var row = Row(copying: base, version: base.version.next)
    row.set(.int(Int64(age)), at: _age)
    let entry = ChangeLayer.Entry(
      kind: .updated, id: _ada._objectID, base: base, row: row, changed: SlotSet([_age, _books.toMany]),
      isWhole: false)
    var added = Row(count: book.space.layout.slots.count, version: 1)
    added.set(.pending(_ada._objectID), at: _books.toOne)
    let insertion = ChangeLayer.Entry(
      kind: .inserted, id: book, base: nil, row: added, changed: SlotSet([_books.toOne]), isWhole: false)
    return ChangeLayer([entry, insertion])
  }

  private func newBook() -> NSManagedObjectID {
    _child.performAndWait { _child.insert("Book", ["title": "Notes"])._objectID }
  }

  private var _seen: (age: Value?, books: Set<NSManagedObjectID>) {
    let layers = _overlay.visibleLayers
    let ada = _ada._objectID
    return (layers.entry(for: IdentityKey(ada))?.row?[_age], Set(layers.members(_books, of: ada)))
  }

  @Test func `readers look through few layers however many saves wait`() {
    let books = (0..<1000).map { _ in newBook() }
    for (age, book) in books.enumerated() { _overlay.deliver(save(age, adding: book)) }
    #expect(_overlay.visibleLayers.count < 32)
    #expect(_seen.age == .int(999))
    #expect(_seen.books == Set(books))
  }

  @Test func `deliveries are accepted in order, whatever readers have seen`() throws {
    let books = (0..<100).map { _ in newBook() }
    for (age, book) in books[..<90].enumerated() { _overlay.deliver(save(age, adding: book)) }
    _ = _overlay.visibleLayers
    for age in 0..<80 {
      let next = try #require(_overlay.nextDelivery())
      #expect(next.entries[0].row?[_age] == .int(Int64(age)))
      _overlay.completeDelivery(as: next)
      if age % 8 == 0 {
        let late = 90 + age / 8
        _overlay.deliver(save(late, adding: books[late]))
        #expect(_seen.age == .int(Int64(late)))
      }
    }
    #expect(_overlay.visibleLayers.count < 32)
    #expect(_seen.books == Set(books))
    while let next = _overlay.nextDelivery() { _overlay.completeDelivery(as: next) }
    #expect(!_overlay.hasDeliveries)
    #expect(_seen.age == .int(99))
    #expect(_seen.books == Set(books))
  }

  @Test func `the context's own changes lie below pending deliveries`() throws {
    for age in 1...9 { _overlay.deliver(save(age, adding: newBook())) }
    #expect(_seen.age == .int(9))
    let first = try #require(_overlay.nextDelivery())
    _overlay.completeDelivery(as: first)
    _overlay.push(save(50, adding: newBook()))
    #expect(_seen.age == .int(9))
    for _ in 2...9 { _overlay.completeDelivery(as: try #require(_overlay.nextDelivery())) }
    #expect(_seen.books.count == 10)
  }
}

/// Composition of changes to one to-many.
@Suite struct ToManyDeltaTests {
  @Test func `many deltas at once are what they are one by one`() throws {
    let stack = try TestStack(.memory)
    let ids = stack.context.performAndWait { (0..<6).map { _ in stack.context.insert("Tag")._objectID } }
    var random = SeededRandom(seed: 7)
    for _ in 0..<200 {
      // Newest first. No change adds a present member or removes an absent one.
      var members = Set<NSManagedObjectID>()
      var deltas: [ToManyDelta] = []
      for _ in 0..<5 {
        let changed = ids.filter { _ in random.chance(40) }
        let removed = changed.filter(members.contains)
        let added = changed.filter { !members.contains($0) }
        members = members.subtracting(removed).union(added)
        deltas.insert(ToManyDelta(added: added, removed: removed, order: nil), at: 0)
      }
      let together = ToManyDelta.composed(deltas)
      let oneByOne = deltas.dropFirst().reduce(deltas[0]) { later, earlier in earlier.followed(by: later) }
      #expect(Set(together.added) == Set(oneByOne.added))
      #expect(Set(together.removed) == Set(oneByOne.removed))
      #expect(together.added.count == Set(together.added).count)
      #expect(Set(together.added) == members)
    }
  }
}
