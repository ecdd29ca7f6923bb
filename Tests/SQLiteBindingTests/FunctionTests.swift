import Testing

@testable import CoreDataSQLiteBinding

@Suite struct FunctionTests {
  @Test func `functions get and give values`() throws {
    let connection = try Connection(path: ":memory:")
    try connection.register(function: "shout", argumentCount: 1) { call in
      guard let text = call.text(0) else { return call.answerNull() }
      call.answer(text.uppercased())
    }
    #expect(try connection.firstValue("SELECT shout('é')") == .text("É"))
    #expect(try connection.firstValue("SELECT shout(NULL)") == .null)
  }

  @Test func `an error in a function fails the statement`() throws {
    struct Refusal: Error, CustomStringConvertible { let description = "not today" }
    let connection = try Connection(path: ":memory:")
    try connection.register(function: "refuse", argumentCount: 0) { _ in throw Refusal() }
    let error = #expect(throws: SQLiteError.self) { try connection.query("SELECT refuse()") }
    #expect(error?.message.contains("not today") == true)
  }

  @Test func `collations decide the order`() throws {
    let connection = try Connection(path: ":memory:")
    try connection.register(collation: "byLength") { $0.count - $1.count }
    try connection.execute("CREATE TABLE t(a); INSERT INTO t VALUES('ccc'), ('b'), ('aa')")
    var values: [String] = []
    try connection.query("SELECT a FROM t ORDER BY a COLLATE byLength") { values.append($0.string(0)) }
    #expect(values == ["b", "aa", "ccc"])
  }
}

@Suite struct ValueArrayTests {
  private func _rows(_ array: ValueArray) throws -> [Binding] {
    let connection = try Connection(path: ":memory:")
    let statement = try connection.prepare("SELECT value FROM Z_VALUES(?)")
    statement.bind(array, at: 1)
    var result: [Binding] = []
    while try statement.step() { result.append(statement.value(0)) }
    return result
  }

  @Test func `one parameter carries many values`() throws {
    #expect(try _rows(ValueArray([3, 1, 2] as [Int64])) == [.int(3), .int(1), .int(2)])
    #expect(try _rows(ValueArray([0.1, .infinity])) == [.double(0.1), .double(.infinity)])
    #expect(try _rows(ValueArray(["", "ü", "x"])) == [.text(""), .text("ü"), .text("x")])
    let mixed: [Binding] = [.null, .blob([1, 2]), .text("t"), .int(5)]
    #expect(try _rows(ValueArray(mixed)) == mixed)
    #expect(try _rows(ValueArray([Int64]())) == [])
  }

  @Test func `an index serves membership in an array`() throws {
    let connection = try Connection(path: ":memory:")
    try connection.execute("CREATE TABLE t(a VARCHAR); CREATE INDEX i ON t(a)")
    var plan = ""
    try connection.query("EXPLAIN QUERY PLAN SELECT * FROM t WHERE a IN (SELECT value FROM Z_VALUES(?))") {
      plan += $0.string(3) + "\n"
    }
    #expect(plan.contains("USING COVERING INDEX i (a=?)"))
  }

  @Test func `without an array the table is empty`() throws {
    let connection = try Connection(path: ":memory:")
    #expect(try connection.firstValue("SELECT COUNT(*) FROM Z_VALUES(7)") == .int(0))
    #expect(try connection.firstValue("SELECT COUNT(*) FROM Z_VALUES") == .int(0))
  }
}

@Suite struct AggregateTests {
  private final class Longest: Aggregate {
    private var _text: String?
    func step(_ call: FunctionCall) throws {
      guard let text = call.text(0) else { return }
      if text == "!" { throw Refusal() }
      if text.count > _text?.count ?? -1 { _text = text }
    }
    func finish(_ call: FunctionCall) { _text.map { call.answer($0) } ?? call.answerNull() }
  }

  private struct Refusal: Error, CustomStringConvertible { let description = "not this one" }

  private func _connection() throws -> Connection {
    let connection = try Connection(path: ":memory:")
    try connection.register(aggregate: "longest", argumentCount: 1) { Longest() }
    try connection.execute(
      "CREATE TABLE t(g, a); INSERT INTO t VALUES(1, 'x'), (1, 'xyz'), (2, 'uv'), (3, NULL)")
    return connection
  }

  @Test func `each group has its own`() throws {
    var values: [Binding] = []
    try _connection().query("SELECT longest(a) FROM t GROUP BY g ORDER BY g") { values.append($0.value(0)) }
    #expect(values == [.text("xyz"), .text("uv"), .null])
  }

  @Test func `no rows are a group too`() throws {
    #expect(try _connection().firstValue("SELECT longest(a) FROM t WHERE g > 9") == .null)
  }

  @Test func `an error fails the statement`() throws {
    let connection = try _connection()
    try connection.execute("INSERT INTO t VALUES(1, '!')")
    let error = #expect(throws: SQLiteError.self) { try connection.query("SELECT longest(a) FROM t") }
    #expect(error?.message.contains("not this one") == true)
    #expect(try connection.firstValue("SELECT longest(a) FROM t WHERE g = 2") == .text("uv"))
  }
}
