import CoreDataModelSchema
import CoreDataPredicateLanguage
import CoreDataSQLiteBinding
import Foundation
import Testing

@testable import CoreData

@Suite struct QueryTextTests {
  private let fixture: StoreFixture
  init() throws { fixture = try StoreFixture(Models.transit) }

  private func _sql(_ plan: FetchPlan) throws -> String {
    try fixture.engine.compiled(plan, .objects).query.sql.text
  }

  @Test func `a fetch by an attribute compares its column`() throws {
    var plan = fixture.plan("Tag", compare(key("label"), .equal, text("x")))
    plan.limit = 1
    #expect(try _sql(plan) == "SELECT t0.Z_PK, t0.Z_OPT, t0.ZLABEL FROM ZTAG t0 WHERE t0.ZLABEL = ? LIMIT ?")
  }

  @Test func `order limit and offset follow`() throws {
    var plan = fixture.plan(
      "Tag",
      sort: [
        FetchPlan.SortTerm(keyPath: ["label"], ascending: false, comparison: .binary),
        FetchPlan.SortTerm(keyPath: ["label"], ascending: true, comparison: .localizedStandard),
      ])
    plan.content = .identity
    plan.offset = 3
    #expect(
      try _sql(plan)
        == "SELECT t0.Z_PK FROM ZTAG t0 ORDER BY t0.ZLABEL DESC, t0.ZLABEL COLLATE NSCollateFinderlike LIMIT -1 OFFSET ?"
    )
  }

  @Test func `a key path over a to-one is joined once`() throws {
    let predicate = PredicateTree.and([
      compare(key("route", "name"), .equal, text("a")), compare(key("route", "name"), .notEqual, text("b")),
    ])
    let sort = [FetchPlan.SortTerm(keyPath: ["route", "name"], ascending: true, comparison: .binary)]
    var plan = fixture.plan("Stop", predicate, sort: sort)
    plan.content = .identity
    #expect(
      try _sql(plan)
        == "SELECT t0.Z_PK FROM ZSTOP t0 LEFT OUTER JOIN ZROUTE t1 ON t0.ZROUTE = t1.Z_PK WHERE t1.ZNAME = ? AND t1.ZNAME <> ? ORDER BY t1.ZNAME"
    )
  }

  @Test func `a to-one compared with an object needs no join`() throws {
    let route = try fixture.insert("Route", [:])
    #expect(
      try fixture.condition("Stop", compare(key("route"), .equal, object(route)))
        == "ZSTOP t0 WHERE t0.ZROUTE = ?")
    #expect(
      try fixture.condition("Stop", compare(key("route", "objectID"), .equal, object(route)))
        == "ZSTOP t0 WHERE t0.ZROUTE = ?")
    #expect(
      try fixture.condition("Route", compare(.evaluatedObject, .equal, object(route)))
        == "ZROUTE t0 WHERE t0.Z_PK = ?")
  }

  @Test func `compounds keep their precedence`() throws {
    let a = compare(key("code"), .equal, int(1)), b = compare(key("code"), .greaterThan, int(2))
    let c = compare(key("name"), .equal, .constant(.null))
    #expect(
      try fixture.condition("Stop", .and([.or([a, b]), .not(c)]))
        == "ZSTOP t0 WHERE (t0.ZCODE = ? OR t0.ZCODE > ?) AND NOT (t0.ZNAME IS NULL)")
    #expect(try fixture.condition("Stop", .and([])) == "ZSTOP t0 WHERE 1 = 1")
    #expect(try fixture.condition("Stop", .or([])) == "ZSTOP t0 WHERE 1 = 0")
  }

  @Test func `a plain prefix is a range`() throws {
    #expect(
      try fixture.condition("Stop", compare(key("name"), .beginsWith, text("A")))
        == "ZSTOP t0 WHERE (t0.ZNAME >= ? AND t0.ZNAME < ?)")
    #expect(
      try fixture.condition("Stop", compare(key("name"), .beginsWith, text("A"), options: .normalized))
        == "ZSTOP t0 WHERE (t0.ZNAME >= ? AND t0.ZNAME < ?)")
    #expect(
      try fixture.condition("Stop", compare(key("name"), .beginsWith, text("A"), options: .caseInsensitive))
        == "ZSTOP t0 WHERE NSCoreDataStringSearch(t0.ZNAME, ?, 2, 1)")
  }

  @Test func `membership is one statement for any number of values`() throws {
    func condition(_ count: Int) throws -> String {
      let values = (0..<count).map { PredicateValue.int(Int64($0)) }
      return try fixture.condition("Stop", compare(key("code"), .in, .constant(.collection(values))))
    }
    #expect(try condition(0) == "ZSTOP t0 WHERE 1 = 0")
    #expect(try condition(1) == "ZSTOP t0 WHERE t0.ZCODE = ?")
    #expect(try condition(2) == "ZSTOP t0 WHERE t0.ZCODE IN (SELECT value FROM Z_VALUES(?))")
    let shapes = fixture.engine.queries.count
    _ = try condition(500)
    _ = try condition(50_000)
    #expect(fixture.engine.queries.count == shapes + 1)
  }

  @Test func `any over a to-many is exists`() throws {
    #expect(
      try fixture.condition("Route", compare(key("stops", "code"), .greaterThan, int(3), modifier: .any))
        == "ZROUTE t0 WHERE EXISTS (SELECT 1 FROM ZSTOP t1 WHERE t1.ZROUTE = t0.Z_PK AND t1.ZCODE > ?)")
    #expect(
      try fixture.condition("Stop", compare(key("tags", "label"), .equal, text("x"), modifier: .any))
        == "ZSTOP t0 WHERE EXISTS (SELECT 1 FROM Z_4TAGS t1 JOIN ZTAG t2 ON t1.Z_5TAGS = t2.Z_PK WHERE t1.Z_4STOPS = t0.Z_PK AND t2.ZLABEL = ?)"
    )
  }

  @Test func `membership of an object starts from the object`() throws {
    let tag = try fixture.insert("Tag", [:])
    let expected =
      "ZSTOP t0 WHERE t0.Z_PK IN (SELECT t1.Z_4STOPS FROM Z_4TAGS t1 WHERE t1.Z_5TAGS = ? AND t1.Z_4STOPS IS NOT NULL)"
    #expect(try fixture.condition("Stop", compare(key("tags"), .contains, object(tag))) == expected)
  }

  @Test func `aggregates are subselects`() throws {
    #expect(
      try fixture.condition("Route", compare(key("stops", "@count"), .greaterThan, int(3)))
        == "ZROUTE t0 WHERE (SELECT COUNT(*) FROM ZSTOP t1 WHERE t1.ZROUTE = t0.Z_PK) > ?")
    for path in [["stops", "@sum", "code"], ["stops", "code", "@sum"]] {
      #expect(
        try fixture.condition("Route", compare(.keyPath(path), .equal, int(3)))
          == "ZROUTE t0 WHERE (SELECT IFNULL(SUM(t1.ZCODE), 0) FROM ZSTOP t1 WHERE t1.ZROUTE = t0.Z_PK) = ?")
    }
    let subquery = ExpressionTree.subquery(
      key("stops"), variable: "x", compare(.keyPathOf(.variable("x"), ["name"]), .equal, key("name")))
    #expect(
      try fixture.condition("Route", compare(.keyPathOf(subquery, ["@count"]), .equal, int(0)))
        == "ZROUTE t0 WHERE (SELECT COUNT(*) FROM ZSTOP t1 WHERE t1.ZROUTE = t0.Z_PK AND t1.ZNAME = t0.ZNAME) = ?"
    )
  }

  @Test func `arithmetic and functions are translated`() throws {
    let sum = ExpressionTree.function(.add, [key("code"), int(1)])
    #expect(
      try fixture.condition("Stop", compare(.function(.absolute, [sum]), .lessThan, int(5)))
        == "ZSTOP t0 WHERE abs((t0.ZCODE + ?)) < ?")
    #expect(
      try fixture.condition("Stop", compare(key("createdAt"), .lessThan, .function(.now, [])))
        == "ZSTOP t0 WHERE t0.ZCREATEDAT < ?")
    #expect(
      try fixture.condition("Stop", compare(.function(.unindexed, [key("code")]), .equal, int(1)))
        == "ZSTOP t0 WHERE +t0.ZCODE = ?")
  }

  @Test func `subentities are told apart only where needed`() throws {
    let library = try StoreFixture(Models.library)
    #expect(try library.condition("Book", .constant(true)) == "ZBOOK t0 WHERE 1 = 1")
    #expect(try library.condition("GraphicNovel", .constant(true)) == "ZBOOK t0 WHERE t0.Z_ENT = 2 AND 1 = 1")
    var plan = library.plan("Book")
    plan.includesSubentities = false
    #expect(
      try library.engine.compiled(plan, .count).query.sql.text
        == "SELECT COUNT(*) FROM ZBOOK t0 WHERE t0.Z_ENT = 1"
    )
  }

  @Test func `fetches of one shape share one statement`() throws {
    let engine = fixture.engine
    let first = try engine.compiled(fixture.plan("Stop", compare(key("name"), .equal, text("a"))), .objects)
    let second = try engine.compiled(fixture.plan("Stop", compare(key("name"), .equal, text("b"))), .objects)
    let third = try engine.compiled(
      fixture.plan("Stop", compare(key("name"), .equal, .constant(.null))), .objects)
    #expect(first.query === second.query)
    #expect(first.query !== third.query)
  }

  @Test(arguments: [
    (compare(key("stops"), .equal, text("x")), "to-many key not allowed here"),
    (compare(key("stops", "name"), .equal, text("x")), "to-many key not allowed here"),
    (compare(key("stops", "name"), .equal, text("x"), modifier: .all), "ALL is not supported"),
    (compare(key("colour"), .equal, text("x")), "keypath colour not found in entity Route"),
    (compare(key("name", "first"), .equal, text("x")), "the attribute 'name' has no property 'first'"),
    (PredicateTree.block(PredicateObject(1)), "block predicate"),
    (compare(.customFunction(key("name"), "shout", []), .equal, text("x")), "FUNCTION(…, 'shout')"),
    (compare(.variable("x"), .equal, text("x")), "$x"),
    (compare(key("name"), .between, text("x")), "BETWEEN needs exactly two values"),
  ]) func `what cannot be translated is named`(predicate: PredicateTree, message: String) throws {
    let error = #expect(throws: UntranslatableQueryError.self) {
      _ = try fixture.engine.fetch(fixture.plan("Route", predicate))
    }
    #expect(error?.description.contains(message) == true, "\(String(describing: error))")
  }

  @Test func `a predicate nested without end is an error`() throws {
    var predicate = PredicateTree.constant(true)
    for _ in 0..<2000 { predicate = .not(predicate) }
    #expect(throws: UntranslatableQueryError.self) {
      _ = try fixture.engine.count(fixture.plan("Route", predicate))
    }
  }

  @Test func `a long list of alternatives is no problem`() throws {
    try fixture.insert("Route", ["name": .string("r4999")])
    let members = (0..<5000).map { compare(key("name"), .equal, text("r\($0)")) }
    #expect(try fixture.engine.count(fixture.plan("Route", .or(members))) == 1)
  }
}

@Suite struct QueryResultTests {
  private let fixture: StoreFixture
  private let keys: [ObjectKey]
  private let routes: [ObjectKey]
  private let tags: [ObjectKey]

  /// Four stops: two on the first route, one on the second, one on none.
  init() throws {
    let fixture = try StoreFixture(Models.transit)
    let first = fixture.insertion("Route", ["name": .string("North")])
    let second = fixture.insertion("Route", ["name": .string("South")])
    let third = fixture.insertion("Route", [:])
    let stops: [ChangeSet.Insertion] = [
      fixture.insertion(
        "Stop",
        ["name": .string("Alpha"), "code": .int(1), "route": .pending(first.id), "token": .uuid(Self.token)]),
      fixture.insertion("Stop", ["name": .string("alpine"), "code": .int(2), "route": .pending(first.id)]),
      fixture.insertion("Stop", ["name": .string("Älpha"), "code": .int(3), "route": .pending(second.id)]),
      fixture.insertion("Stop", ["code": .null, "active": .int(1)]),
    ]
    let tag = fixture.insertion(
      "Tag", ["stops": .toMany(ToManyDelta(added: [stops[0].id, stops[2].id], removed: [], order: nil))])
    let other = fixture.insertion("Tag", [:])
    try fixture.insert([first, second, third] + stops + [tag, other])
    self.fixture = fixture
    keys = stops.map { $0.id.key! }
    routes = [first, second, third].map { $0.id.key! }
    tags = [tag, other].map { $0.id.key! }
  }

  static let token = UUID(uuidString: "A0B1C2D3-0011-2233-4455-66778899AABB")!

  private func _stops(_ predicate: PredicateTree) throws -> [Int64] { try fixture.keys("Stop", predicate) }

  @Test func `nil is found and unequal leaves it out`() throws {
    #expect(try _stops(compare(key("name"), .equal, .constant(.null))) == [4])
    #expect(try _stops(compare(key("name"), .notEqual, .constant(.null))) == [1, 2, 3])
    #expect(try _stops(compare(key("code"), .notEqual, int(1))) == [2, 3])
    #expect(try _stops(.not(compare(key("code"), .equal, int(1)))) == [2, 3])
    #expect(try _stops(compare(key("code"), .lessThan, int(3))) == [1, 2])
  }

  @Test func `texts compare by bytes unless options say otherwise`() throws {
    #expect(try _stops(compare(key("name"), .beginsWith, text("Al"))) == [1])
    #expect(try _stops(compare(key("name"), .beginsWith, text("al"), options: .caseInsensitive)) == [1, 2])
    #expect(
      try _stops(
        compare(key("name"), .beginsWith, text("al"), options: [.caseInsensitive, .diacriticInsensitive]))
        == [1, 2, 3])
    #expect(
      try _stops(
        compare(key("name"), .equal, text("ALPHA"), options: [.caseInsensitive, .diacriticInsensitive])) == [
          1, 3,
        ])
    #expect(try _stops(compare(key("name"), .contains, text("lp"))) == [1, 2, 3])
    #expect(try _stops(compare(key("name"), .endsWith, text("ha"))) == [1, 3])
    #expect(try _stops(compare(key("name"), .endsWith, text("xxAlpha"))) == [])
    #expect(try _stops(compare(key("name"), .like, text("?lp*a"))) == [1, 3])
    #expect(try _stops(compare(key("name"), .matches, text("[Aa]lp.*"))) == [1, 2])
    #expect(
      try _stops(
        compare(
          key("name"), .in, .constant(.collection([.string("ALPHA"), .string("ALPINE")])),
          options: .caseInsensitive)) == [1, 2])
  }

  @Test func `ranges and lists are inclusive`() throws {
    #expect(
      try _stops(compare(key("code"), .between, .constant(.collection([.int(2), .int(3)])))) == [2, 3])
    #expect(
      try _stops(compare(key("code"), .in, .constant(.collection([.int(1), .null, .int(3)])))) == [1, 3])
    #expect(
      try _stops(.not(compare(key("code"), .in, .constant(.collection([.int(1), .null, .int(3)]))))) == [2])
  }

  @Test func `values of every type can be compared with`() throws {
    #expect(try _stops(compare(key("active"), .equal, .constant(.bool(true)))) == [4])
    #expect(try _stops(compare(key("token"), .equal, .constant(.uuid(Self.token)))) == [1])
    #expect(try _stops(compare(key("token"), .equal, text(Self.token.uuidString))) == [1])
    #expect(
      try _stops(compare(key("token"), .in, .constant(.collection([.uuid(Self.token), .uuid(UUID())])))) == [
        1
      ])
    #expect(try _stops(compare(key("code"), .equal, text("2"))) == [2])
  }

  @Test func `to-ones are followed and compared`() throws {
    #expect(try _stops(compare(key("route"), .equal, object(routes[0]))) == [1, 2])
    #expect(try _stops(compare(key("route", "name"), .equal, text("South"))) == [3])
    #expect(
      try _stops(
        .or([compare(key("route", "name"), .equal, text("South")), compare(key("active"), .equal, int(1))]))
        == [3, 4])
    #expect(try _stops(compare(key("route"), .equal, .constant(.null))) == [4])
    let both = PredicateValue.collection(
      routes.prefix(2).map { .object(PredicateObject(NSManagedObjectID($0))) })
    #expect(try _stops(compare(key("route"), .in, .constant(both))) == [1, 2, 3])
  }

  @Test func `an object without row matches nothing`() throws {
    let unsaved = ExpressionTree.constant(.object(PredicateObject(fixture.temporaryID("Route"))))
    #expect(try _stops(compare(key("route"), .equal, unsaved)) == [])
    // A stop with the same number as a route is not that route.
    #expect(try fixture.keys("Route", compare(.evaluatedObject, .equal, object(keys[0]))) == [])
  }

  @Test func `to-manys are searched`() throws {
    #expect(
      try fixture.keys("Route", compare(key("stops", "name"), .equal, text("alpine"), modifier: .any)) == [1])
    #expect(try fixture.keys("Route", compare(key("stops"), .contains, object(keys[2]))) == [2])
    #expect(try fixture.keys("Route", .not(compare(key("stops"), .contains, object(keys[3])))) == [1, 2, 3])
    #expect(try fixture.keys("Route", compare(object(keys[0]), .in, key("stops"))) == [1])
    #expect(try _stops(compare(key("tags"), .contains, object(tags[0]))) == [1, 3])
    #expect(
      try fixture.keys("Route", compare(key("stops", "tags"), .equal, object(tags[0]), modifier: .any)) == [
        1, 2,
      ])
    #expect(try fixture.keys("Route", compare(key("stops", "@count"), .equal, int(0))) == [3])
    #expect(try fixture.keys("Route", compare(key("stops", "@max", "code"), .equal, int(2))) == [1])
    #expect(try fixture.keys("Route", compare(key("stops", "code", "@sum"), .equal, int(0))) == [3])
    let subquery = ExpressionTree.subquery(
      key("stops"), variable: "s", compare(.keyPathOf(.variable("s"), ["code"]), .greaterThan, int(1)))
    #expect(
      try fixture.keys("Route", compare(.keyPathOf(subquery, ["@count"]), .greaterThan, int(0))) == [1, 2])
  }

  @Test func `entities can be compared by description and name`() throws {
    let library = try StoreFixture(Models.library)
    try library.insert([library.insertion("Book", [:]), library.insertion("GraphicNovel", [:])])
    let description = library.engine.spaces[1].entity
    let isNovel = compare(key("entity"), .equal, .constant(.object(PredicateObject(description))))
    #expect(try library.keys("Book", isNovel) == [2])
    #expect(try library.keys("Book", compare(key("entity", "name"), .equal, text("Book"))) == [1])
  }

  @Test func `rows are sorted limited and counted`() throws {
    let sort = [FetchPlan.SortTerm(keyPath: ["code"], ascending: true, comparison: .binary)]
    #expect(try fixture.keys("Stop", sort: sort) == [4, 1, 2, 3])
    var plan = fixture.plan("Stop", sort: sort)
    plan.offset = 1
    plan.limit = 2
    #expect(try fixture.engine.fetch(plan).map(\.key.reference) == [1, 2])
    #expect(try fixture.engine.count(plan) == 2)
    let names = [FetchPlan.SortTerm(keyPath: ["name"], ascending: false, comparison: .caseInsensitive)]
    #expect(try fixture.keys("Stop", compare(key("code"), .lessThan, int(3)), sort: names) == [2, 1])
    let routes = [
      FetchPlan.SortTerm(keyPath: ["route", "name"], ascending: false, comparison: .binary),
      FetchPlan.SortTerm(keyPath: ["code"], ascending: false, comparison: .binary),
    ]
    #expect(try fixture.keys("Stop", sort: routes) == [3, 2, 1, 4])
  }

  @Test func `an index serves a prefix and an equality`() throws {
    for predicate in [
      compare(key("identifier"), .beginsWith, text("S")), compare(key("identifier"), .equal, text("S")),
    ] {
      let query = try fixture.engine.compiled(fixture.plan("Stop", predicate), .objects).query
      var plan = ""
      try fixture.connection().query("EXPLAIN QUERY PLAN \(query.sql.text)") { plan += $0.string(3) }
      #expect(plan.contains("USING INDEX Z_Stop_UNIQUE_identifier"))
    }
  }
}
