import CoreDataModelSchema
import CoreDataPredicateLanguage
import CoreDataSQLiteBinding
import Foundation
import Testing

@testable import CoreData

/// `identifier IN …` on a unique attribute becomes a join with the values.
@Suite struct UniqueLookUpTests {
  private let fixture: StoreFixture
  private let _keys: [ObjectKey]

  init() throws {
    let fixture = try StoreFixture(Models.transit)
    self.fixture = fixture
    _keys = try fixture.insert(
      ["a", "b", "c", "5"].map { name in
        fixture.insertion("Stop", ["identifier": .string(name), "name": .string("Stop \(name)")])
      })
  }

  private func _plan(_ values: [PredicateValue], _ attribute: String = "identifier") -> FetchPlan {
    fixture.plan("Stop", compare(key(attribute), .in, .constant(.collection(values))))
  }

  private func _sql(_ plan: FetchPlan) throws -> String {
    try fixture.engine.compiled(plan, .objects).query.sql.text
  }

  @Test func `many values of a unique attribute are joined`() throws {
    var plan = _plan([.string("a"), .string("b"), .string("c")])
    plan.content = .identity
    #expect(
      try _sql(plan)
        == "SELECT t0.Z_PK FROM Z_VALUES(?) v JOIN ZSTOP t0 WHERE t0.ZIDENTIFIER = +v.value")
    plan.limit = 2
    #expect(try _sql(plan).hasSuffix("WHERE t0.ZIDENTIFIER IN (SELECT +value FROM Z_VALUES(?)) LIMIT ?"))
    #expect(try _sql(_plan([.string("a"), .string("b")])).contains(" IN "))
    #expect(try _sql(_plan([.string("a"), .string("b"), .string("c")], "name")).contains(" IN "))
  }

  @Test func `each row is found through the index`() throws {
    let plan = _plan(["a", "b", "zz", "c"].map { .string($0) })
    let statement = try fixture.engine.statement(for: plan, .objects, countingRows: false)
    #expect(statement.queryPlan.contains { $0.contains("SEARCH t0 USING INDEX Z_Stop_UNIQUE_identifier") })
    #expect(Set(try fixture.engine.fetch(plan).map(\.key)) == Set(_keys[0...2]))
  }

  @Test func `a row comes once however often it is named`() throws {
    let named: [PredicateValue] = [.string("b"), .string("a"), .string("b"), .int(5), .string("5"), .null]
    let plan = _plan(named)
    #expect(try _sql(plan).contains("JOIN"))
    #expect(try fixture.engine.fetch(plan).map(\.key) == [_keys[1], _keys[0], _keys[3]])
    var identities = plan
    identities.content = .identity
    #expect(try fixture.engine.fetch(identities).map(\.key) == [_keys[1], _keys[0], _keys[3]])
    var visited: [ObjectKey] = []
    try fixture.engine.forEachKey(of: plan) { visited.append($0) }
    #expect(visited == [_keys[1], _keys[0], _keys[3]])
    #expect(try fixture.engine.count(plan) == 3)
  }

  @Test(arguments: [FetchPlan.SortTerm.Comparison.binary, .localizedStandard])
  func `an order holds as for any fetch`(_ comparison: FetchPlan.SortTerm.Comparison) throws {
    var plan = _plan([.string("c"), .string("a"), .string("b")])
    plan.sort = [FetchPlan.SortTerm(keyPath: ["name"], ascending: false, comparison: comparison)]
    #expect(try fixture.engine.fetch(plan).map(\.key) == [_keys[2], _keys[1], _keys[0]])
  }

  @Test func `rows of other entities in the table are left out`() throws {
    let library = try StoreFixture(Models.library)
    try library.insert([
      library.insertion("Author", ["alias": .string("one")]),
      library.insertion("Author", ["alias": .string("two")]), library.insertion("Writer", [:]),
    ])
    let plan = library.plan(
      "Author", compare(key("alias"), .in, .constant(.collection(["one", "two", "x"].map { .string($0) }))))
    let sql = try library.engine.compiled(plan, .objects).query.sql.text
    let number = library.entity("Author").entityNumber
    #expect(sql.hasSuffix("WHERE t0.ZALIAS = +v.value AND t0.Z_ENT = \(number)"))
    #expect(try library.engine.fetch(plan).count == 2)
  }
}
