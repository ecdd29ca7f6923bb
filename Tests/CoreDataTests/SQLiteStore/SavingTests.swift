import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation
import Testing

@testable import CoreData

@Suite struct SavingTests {
  private let fixture: StoreFixture
  init() throws { fixture = try StoreFixture(Models.transit) }

  @Test func `every type comes back as it was saved`() throws {
    let values: [String: Value] = [
      "active": .int(1), "code": .int(.max), "createdAt": .double(700_000_000.25),
      "fare": .decimal(DecimalBox(Decimal(string: "10.11")!)), "identifier": .string("S1"),
      "latitude": .double(-12.5),
      "link": .string("https://example.org/a"), "name": .string("Bahnhofstraße"),
      "photo": .data(Data([1, 2, 3])),
      "scan": .data(Data([2, 9])), "token": .uuid(UUID()),
    ]
    let key = try fixture.insert("Stop", values)
    let row = try #require(try fixture.engine.rows(for: [key])[0])
    for (name, value) in values { #expect(row[fixture.slot(name, in: "Stop")] == value, "\(name)") }
    #expect(row[fixture.slot("route", in: "Stop")] == .null)
    #expect(row.version == 1)
  }

  @Test func `stored forms are core datas`() throws {
    try fixture.insert(
      "Stop",
      [
        "active": .int(1), "fare": .decimal(DecimalBox(Decimal(string: "10.11")!)), "token": .uuid(UUID()),
        "scan": .data(Data([7])), "createdAt": .double(5.5),
      ])
    let connection = try fixture.connection()
    #expect(
      try connection.firstValue(
        "SELECT typeof(ZFARE) || length(ZTOKEN) || hex(ZSCAN) || typeof(ZCREATEDAT) || typeof(ZACTIVE) FROM ZSTOP"
      ) == .text("real160107realinteger"))
    #expect(try connection.firstValue("SELECT Z_OPT || ' ' || Z_ENT FROM ZSTOP") == .text("1 4"))
    #expect(try connection.firstValue("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = 4") == .int(1))
  }

  @Test func `a transformable is saved as its bytes`() throws {
    let key = try fixture.insert(
      "Stop", ["style": .transformable(TransformableBox(object: nil, data: Data([1, 9])))])
    guard
      case .transformable(let box) = try fixture.engine.rows(for: [key])[0]![
        fixture.slot("style", in: "Stop")]
    else {
      Issue.record("no transformable")
      return
    }
    #expect(box.data == Data([1, 9]))
    #expect(throws: SQLiteStoreError.self) {
      try fixture.insert("Stop", ["style": .transformable(TransformableBox(object: "x", data: nil))])
    }
  }

  @Test func `temporary IDs and references among new objects resolve`() throws {
    let route = fixture.insertion("Route", [:])
    let stop = fixture.insertion("Stop", ["route": .pending(route.id)])
    try fixture.insert([stop, route])
    #expect(route.id.permanent?.reference == 1)
    #expect(route.id.key?.space === fixture.engine.spaces[2])
    #expect(
      try fixture.engine.rows(for: [stop.id.key!])[0]![fixture.slot("route", in: "Stop")]
        == .reference(route.id.key!))
    #expect(
      try fixture.engine.related(to: [route.id.key!], slot: fixture.slot("stops", in: "Route")) == [
        [stop.id.key!]
      ])
  }

  @Test func `reserved keys are used and not given again`() throws {
    let number = fixture.entity("Route").entityNumber
    #expect(try fixture.engine.reserveKeys([number: 3]) == [number: [1, 2, 3]])
    let id = NSManagedObjectID(ObjectKey(space: fixture.engine.spaces[number - 1], reference: 2))
    let other = fixture.insertion("Route", [:])
    try fixture.insert([ChangeSet.Insertion(id: id, row: fixture.row("Route", [:])), other])
    #expect(other.id.key?.reference == 4)
    #expect(try fixture.keys("Route") == [2, 4])
  }

  @Test func `keys go on behind the highest row even if z max was not kept`() throws {
    try fixture.connection().execute("INSERT INTO ZROUTE(Z_PK, Z_ENT, Z_OPT) VALUES(41, 3, 1)")
    #expect(try fixture.insert("Route", [:]).reference == 42)
  }

  @Test func `an update writes changed columns and the version`() throws {
    let key = try fixture.insert("Stop", ["name": .string("a"), "code": .int(1)])
    _ = fixture.log.take()
    try fixture.engine.commit(ChangeSet(updated: [fixture.update(key, "Stop", ["name": .string("b")])]))
    #expect(
      fixture.log.take().contains(
        "UPDATE ZSTOP SET ZNAME = ?, Z_OPT = ? WHERE Z_PK = ? AND IFNULL(Z_OPT, 0) = ?"))
    let row = try #require(try fixture.engine.rows(for: [key])[0])
    #expect(row.version == 2)
    #expect(row[fixture.slot("name", in: "Stop")] == .string("b"))
    #expect(row[fixture.slot("code", in: "Stop")] == .int(1))
  }

  @Test func `an update of nothing only raises the version`() throws {
    let key = try fixture.insert("Route", [:])
    try fixture.engine.commit(ChangeSet(updated: [fixture.update(key, "Route", [:])]))
    #expect(try fixture.engine.rows(for: [key])[0]?.version == 2)
  }

  @Test func `a save is one transaction and counts once`() throws {
    _ = fixture.log.take()
    try fixture.insert([
      fixture.insertion("Route", [:]), fixture.insertion("Route", [:]), fixture.insertion("Tag", [:]),
    ])
    let statements = fixture.log.take()
    #expect(statements.filter { $0 == "BEGIN IMMEDIATE" }.count == 1)
    #expect(statements.filter { $0 == "COMMIT" }.count == 1)
    #expect(statements.filter { $0.hasPrefix("UPDATE Z_PRIMARYKEY") }.count == 2)
    #expect(fixture.engine.commitCount == 1)
  }

  @Test func `rows of one entity and version are deleted at once`() throws {
    let keys = try fixture.insert((0..<50).map { _ in fixture.insertion("Stop", [:]) })
    let changed = try fixture.update(keys[7], "Stop", ["code": .int(1)])
    try fixture.engine.commit(ChangeSet(updated: [changed]))
    _ = fixture.log.take()
    let deletions = try keys.map {
      ChangeSet.Deletion(id: NSManagedObjectID($0), base: try #require(try fixture.engine.rows(for: [$0])[0]))
    }
    try fixture.engine.commit(ChangeSet(deleted: deletions))
    #expect(fixture.log.take().filter { $0.hasPrefix("DELETE FROM ZSTOP") }.count == 2)
    #expect(try fixture.keys("Stop") == [])
  }

  @Test func `deleted rows are gone with their pairs`() throws {
    let stop = fixture.insertion("Stop", [:])
    let tag = fixture.insertion(
      "Tag", ["stops": .toMany(ToManyDelta(added: [stop.id], removed: [], order: nil))])
    try fixture.insert([stop, tag])
    let base = try fixture.engine.rows(for: [tag.id.key!])[0]!
    try fixture.engine.commit(ChangeSet(deleted: [ChangeSet.Deletion(id: tag.id, base: base)]))
    #expect(try fixture.engine.rows(for: [tag.id.key!])[0] == nil)
    #expect(try fixture.connection().firstValue("SELECT COUNT(*) FROM Z_4TAGS") == .int(0))
  }

  @Test func `a reference to nothing is refused and nothing is written`() throws {
    let dangling = fixture.insertion("Stop", ["route": .pending(fixture.temporaryID("Route"))])
    let error = #expect(throws: SQLiteStoreError.self) {
      try fixture.insert([fixture.insertion("Tag", [:]), dangling])
    }
    #expect(error?.description.contains("Stop.route") == true)
    #expect(try fixture.engine.count(fixture.plan("Tag")) == 0)
    #expect(dangling.id.permanent == nil)
    #expect(fixture.engine.commitCount == 0)
  }

  @Test func `a reference into another store is refused`() throws {
    let other = try StoreFixture(Models.transit)
    let route = try other.insert("Route", [:])
    #expect(throws: SQLiteStoreError.self) { try fixture.insert("Stop", ["route": .reference(route)]) }
  }

  @Test func `subentities are read with their own slots`() throws {
    let library = try StoreFixture(Models.library)
    let novel = library.insertion("GraphicNovel", ["title": .string("n"), "isBlackAndWhite": .int(1)])
    let book = library.insertion("Book", ["title": .string("b")])
    let page = library.insertion("Page", ["book": .pending(novel.id)])
    try library.insert([novel, book, page])
    let found = try library.engine.fetch(library.plan("Book"))
    #expect(found.map(\.key.space.layout.entityName) == ["GraphicNovel", "Book"])
    #expect(found[0].row?[library.slot("isBlackAndWhite", in: "GraphicNovel")] == .int(1))
    #expect(found[1].row?.count == library.entity("Book").slots.count)
    guard
      case .reference(let key) = try library.engine.rows(for: [page.id.key!])[0]![
        library.slot("book", in: "Page")]
    else {
      Issue.record("no reference")
      return
    }
    #expect(key.space.layout.entityName == "GraphicNovel")
    #expect(try library.connection().firstValue("SELECT Z1_BOOK FROM ZPAGE") == .int(2))
  }

  @Test func `a read-only store cannot be changed`() throws {
    try fixture.insert("Route", [:])
    var options = SQLiteStoreOptions()
    options.isReadOnly = true
    let engine = try fixture.reopened(options)
    #expect(try engine.count(fixture.plan("Route")) == 1)
    #expect(throws: SQLiteStoreError.self) {
      try engine.commit(ChangeSet(inserted: [fixture.insertion("Route", [:])]))
    }
  }

  @Test func `rows for keys keep their order and tell what is missing`() throws {
    let keys = try fixture.insert((0..<5).map { fixture.insertion("Route", ["name": .string("\($0)")]) })
    let missing = ObjectKey(space: keys[0].space, reference: 99)
    let rows = try fixture.engine.rows(for: [keys[3], missing, keys[0], keys[3]])
    #expect(rows.map { $0?[0] } == [.string("3"), nil, .string("0"), .string("3")])
  }

  @Test func `a database in memory is a store`() throws {
    let engine = try SQLiteStoreEngine(
      url: URL(fileURLWithPath: "/dev/null"), layout: fixture.layout,
      entities: fixture.layout.layouts.map { _ in NSEntityDescription() }, persistentStore: nil)
    let route = fixture.insertion("Route", ["name": .string("m")])
    try engine.commit(ChangeSet(inserted: [route]))
    #expect(try engine.fetch(fixture.plan("Route")).first?.row?[0] == .string("m"))
  }
}

@Suite struct RelationshipSavingTests {
  private func _delta(
    _ added: [NSManagedObjectID], removed: [NSManagedObjectID] = [], order: [NSManagedObjectID]? = nil
  ) -> Value {
    .toMany(ToManyDelta(added: added, removed: removed, order: order))
  }

  @Test func `a pair reported by both ends is written once`() throws {
    let fixture = try StoreFixture(Models.transit)
    let (tag, stop) = (fixture.temporaryID("Tag"), fixture.temporaryID("Stop"))
    try fixture.engine.commit(
      ChangeSet(inserted: [
        .init(id: tag, row: fixture.row("Tag", ["stops": _delta([stop], order: [stop])])),
        .init(id: stop, row: fixture.row("Stop", ["tags": _delta([tag])])),
      ]))
    #expect(
      try fixture.connection().firstValue(
        "SELECT group_concat(Z_4STOPS || '-' || Z_5TAGS || '-' || Z_FOK_4STOPS) FROM Z_4TAGS")
        == .text("1-1-2048"))
    #expect(
      try fixture.engine.related(to: [stop.key!], slot: fixture.slot("tags", in: "Stop")) == [[tag.key!]])
  }

  @Test func `members are removed and added`() throws {
    let fixture = try StoreFixture(Models.transit)
    let stops = (0..<3).map { _ in fixture.insertion("Stop", [:]) }
    let tag = fixture.insertion("Tag", ["stops": _delta([stops[0].id, stops[1].id])])
    try fixture.insert(stops + [tag])
    let change = try fixture.update(
      tag.id.key!, "Tag", ["stops": _delta([stops[2].id], removed: [stops[0].id])])
    try fixture.engine.commit(ChangeSet(updated: [change]))
    let members = try fixture.engine.related(to: [tag.id.key!], slot: fixture.slot("stops", in: "Tag"))[0]
    #expect(Set(members.map(\.reference)) == [2, 3])
  }

  @Test func `moving an ordered member writes only the moved one`() throws {
    let fixture = try StoreFixture(Models.bookmarks)
    let parent = fixture.insertion("BookmarkEntity", [:])
    let children = (0..<4).map { _ in fixture.insertion("BookmarkEntity", ["parent": .pending(parent.id)]) }
    let ids = children.map(\.id)
    let row = fixture.row("BookmarkEntity", ["children": _delta(ids, order: ids)])
    try fixture.engine.commit(ChangeSet(inserted: [.init(id: parent.id, row: row)] + children))
    let connection = try fixture.connection()
    let numbers =
      "SELECT group_concat(Z_FOK_PARENT) FROM (SELECT Z_FOK_PARENT FROM ZBOOKMARKENTITY WHERE ZPARENT = 1 ORDER BY Z_PK)"
    #expect(try connection.firstValue(numbers) == .text("2048,3072,4096,5120"))
    let slot = fixture.slot("children", in: "BookmarkEntity")
    let moved = [ids[0], ids[3], ids[1], ids[2]]
    let change = try fixture.update(parent.id.key!, "BookmarkEntity", ["children": _delta([], order: moved)])
    try fixture.engine.commit(ChangeSet(updated: [change]))
    #expect(try connection.firstValue(numbers) == .text("2048,3072,4096,2560"))
    #expect(try fixture.engine.related(to: [parent.id.key!], slot: slot)[0] == moved.map { $0.key! })
  }

  @Test func `relationships of many owners come together`() throws {
    let fixture = try StoreFixture(Models.transit)
    let routes = (0..<3).map { _ in fixture.insertion("Route", [:]) }
    let stops = (0..<5).map { fixture.insertion("Stop", ["route": .pending(routes[$0 % 2].id)]) }
    try fixture.insert(routes + stops)
    _ = fixture.log.take()
    let owners = [routes[1], routes[2], routes[0]].map { $0.id.key! }
    let members = try fixture.engine.related(to: owners, slot: fixture.slot("stops", in: "Route"))
    #expect(members.map { $0.map(\.reference).sorted() } == [[2, 4], [], [1, 3, 5]])
    #expect(fixture.log.take().count == 1)
  }

  @Test func `a to-many without inverse is kept in its members`() throws {
    let fixture = try StoreFixture(Models.transit)
    let notices = (0..<2).map { _ in fixture.insertion("Notice", [:]) }
    let stop = fixture.insertion("Stop", ["notices": _delta(notices.map(\.id))])
    try fixture.insert(notices + [stop])
    let slot = fixture.slot("notices", in: "Stop")
    #expect(try fixture.engine.related(to: [stop.id.key!], slot: slot)[0].map(\.reference) == [1, 2])
    let change = try fixture.update(stop.id.key!, "Stop", ["notices": _delta([], removed: [notices[0].id])])
    try fixture.engine.commit(ChangeSet(updated: [change]))
    #expect(try fixture.engine.related(to: [stop.id.key!], slot: slot)[0].map(\.reference) == [2])
    let base = try fixture.engine.rows(for: [stop.id.key!])[0]!
    try fixture.engine.commit(ChangeSet(deleted: [.init(id: stop.id, base: base)]))
    #expect(
      try fixture.connection().firstValue("SELECT COUNT(*) FROM ZNOTICE WHERE Z4NOTICES IS NULL") == .int(2))
  }

  @Test func `a relationship that is its own inverse shows both ends`() throws {
    let fixture = try StoreFixture(Models.transit)
    let (one, other) = (fixture.insertion("Person", [:]), fixture.temporaryID("Person"))
    try fixture.engine.commit(
      ChangeSet(inserted: [one, .init(id: other, row: fixture.row("Person", ["friends": _delta([one.id])]))]))
    let slot = fixture.slot("friends", in: "Person")
    #expect(
      try fixture.engine.related(to: [one.id.key!, other.key!], slot: slot) == [[other.key!], [one.id.key!]])
  }
}

@Suite struct MemberOrderTests {
  private func _changes(_ members: [Int64], _ present: [Int64: Int64]) -> [[Int64]] {
    MemberOrder.changes(for: members, present: present).map { [$0.member, $0.order] }
  }

  @Test func `new members are spaced`() {
    #expect(_changes([7, 8, 9], [:]) == [[7, 2048], [8, 3072], [9, 4096]])
  }

  @Test func `members in order keep their numbers`() {
    #expect(_changes([1, 2], [1: 2048, 2: 3072]) == [])
    #expect(_changes([1, 2, 3], [1: 2048, 2: 3072]) == [[3, 4096]])
    #expect(_changes([3, 1], [1: 2048]) == [[3, 1024]])
  }

  @Test func `gaps are used until they are used up`() {
    #expect(_changes([1, 3, 2], [1: 2048, 2: 3072]) == [[3, 2560]])
    #expect(_changes([1, 3, 2], [1: 5, 2: 6]) == [[1, 2048], [3, 3072], [2, 4096]])
  }

  @Test func `numbers at the end of what can be counted are no trap`() {
    #expect(_changes([1, 2], [1: .max]) == [[1, 2048], [2, 3072]])
    #expect(_changes([2, 1, 3], [1: .max, 2: .min]).count == 3)
  }
}
