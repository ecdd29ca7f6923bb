import Foundation
import Testing

@testable import CoreDataSQLiteBinding

/// A directory that is removed with its contents.
final class TemporaryDirectory {
  let url: URL
  init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("binding-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }
  deinit { try? FileManager.default.removeItem(at: url) }
  func path(_ name: String) -> String { url.appendingPathComponent(name).path }
}

@Suite struct ConnectionTests {
  @Test func `values come back as they were bound`() throws {
    let connection = try Connection(path: ":memory:")
    try connection.execute("CREATE TABLE t(a, b, c, d, e)")
    let long = String(repeating: "länger ", count: 400)
    try connection.withStatement(SQLText("INSERT INTO t VALUES(?, ?, ?, ?, ?)")) { statement in
      statement.bind(Int64.min, at: 1)
      statement.bind(1.5, at: 2)
      statement.bind("kurz é", at: 3)
      statement.bind(long, at: 4)
      [UInt8]([1, 0, 255]).withUnsafeBytes { statement.bind(blob: $0, at: 5) }
      try statement.run()
    }
    var row: [Binding] = []
    try connection.query("SELECT * FROM t") { statement in row = (0..<5).map { statement.value($0) } }
    #expect(row == [.int(.min), .double(1.5), .text("kurz é"), .text(long), .blob([1, 0, 255])])
  }

  @Test func `empty text and empty bytes are not null`() throws {
    let connection = try Connection(path: ":memory:")
    let text = try connection.firstValue("SELECT typeof(?)", [.text("")])
    #expect(text == .text("text"))
    let statement = try connection.prepare("SELECT typeof(?)")
    [UInt8]().withUnsafeBytes { statement.bind(blob: $0, at: 1) }
    #expect(try statement.step())
    #expect(statement.string(0) == "blob")
  }

  @Test func `text that is not UTF-8 is repaired`() throws {
    let connection = try Connection(path: ":memory:")
    let value = try connection.firstValue("SELECT CAST(x'41FF42' AS TEXT)")
    #expect(value == .text("A\u{FFFD}B"))
  }

  @Test func `an error names the statement but no value`() throws {
    let connection = try Connection(path: ":memory:")
    try connection.execute("CREATE TABLE t(a UNIQUE)")
    let insert = SQLText("INSERT INTO t VALUES(?)")
    func add() throws {
      try connection.withStatement(insert) { statement in
        statement.bind("secret", at: 1)
        try statement.run()
      }
    }
    try add()
    let error = #expect(throws: SQLiteError.self) { try add() }
    #expect(error?.isUniqueViolation == true)
    #expect(error?.description.contains("INSERT INTO t VALUES(?)") == true)
    #expect(error?.description.contains("secret") == false)
  }

  @Test func `binding a missing parameter throws at the step`() throws {
    let connection = try Connection(path: ":memory:")
    let statement = try connection.prepare("SELECT 1")
    statement.bind(1.0, at: 3)
    #expect(throws: SQLiteError.self) { _ = try statement.step() }
  }

  @Test func `transaction undoes everything when its body throws`() throws {
    struct Stop: Error {}
    let connection = try Connection(path: ":memory:")
    try connection.execute("CREATE TABLE t(a)")
    #expect(throws: Stop.self) {
      try connection.transaction {
        try connection.execute("INSERT INTO t VALUES(1)")
        throw Stop()
      }
    }
    #expect(try connection.firstValue("SELECT COUNT(*) FROM t") == .int(0))
    #expect(connection.isInAutocommit)
  }

  @Test func `back up takes what is still in the log`() throws {
    let directory = try TemporaryDirectory()
    let source = try Connection(path: directory.path("a.db"))
    try source.execute("PRAGMA journal_mode = WAL; CREATE TABLE t(a); INSERT INTO t VALUES(7)")
    let copy = try Connection(path: directory.path("b.db"))
    try source.backUp(to: copy)
    #expect(try copy.firstValue("SELECT a FROM t") == .int(7))
  }

  @Test func `erasing leaves an empty database`() throws {
    let directory = try TemporaryDirectory()
    let connection = try Connection(path: directory.path("a.db"))
    try connection.execute("PRAGMA journal_mode = WAL; CREATE TABLE t(a); INSERT INTO t VALUES(7)")
    try connection.eraseDatabase()
    #expect(try connection.firstValue("SELECT COUNT(*) FROM sqlite_master") == .int(0))
  }

  @Test func `traced statements show values only when asked`() throws {
    let connection = try Connection(path: ":memory:")
    var traced: [String] = []
    connection.trace { traced.append($0.sql) }
    _ = try connection.firstValue("SELECT ?", [.text("x")])
    connection.trace(showsValues: true) { traced.append($0.sql) }
    _ = try connection.firstValue("SELECT ?", [.text("x")])
    connection.trace(nil)
    _ = try connection.firstValue("SELECT 3")
    #expect(traced == ["SELECT ?", "SELECT 'x'"])
  }

  @Test func `a path that looks like a URI is a path`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path("a?b#c%41.db")
    do {
      let connection = try Connection(path: path)
      try connection.execute("CREATE TABLE t(a)")
    }
    #expect(FileManager.default.fileExists(atPath: path))
    let again = try Connection(path: path, mode: .immutable)
    #expect(try again.firstValue("SELECT COUNT(*) FROM t") == .int(0))
  }
}

@Suite struct StatementCacheTests {
  @Test func `a statement is prepared once per text`() throws {
    let connection = try Connection(path: ":memory:")
    let text = SQLText("SELECT 1")
    let first = try connection.lend(text)
    connection.giveBack(first)
    let second = try connection.lend(text)
    #expect(first === second)
  }

  @Test func `a lent statement is not lent twice`() throws {
    let connection = try Connection(path: ":memory:")
    let text = SQLText("SELECT 1 UNION SELECT 2")
    let outer = try connection.lend(text)
    #expect(try outer.step())
    let inner = try connection.lend(text)
    #expect(inner !== outer)
    #expect(try inner.step())
    connection.giveBack(inner)
    #expect(try outer.step())
    #expect(outer.int64(0) == 2)
  }

  @Test func `the least recently used statement goes`() throws {
    let connection = try Connection(path: ":memory:", statementCapacity: 2)
    let texts = (1...3).map { SQLText("SELECT \($0)") }
    let first = try connection.lend(texts[0])
    connection.giveBack(first)
    connection.giveBack(try connection.lend(texts[1]))
    connection.giveBack(try connection.lend(texts[0]))
    connection.giveBack(try connection.lend(texts[2]))
    #expect(connection.cachedStatementCount == 2)
    #expect(try connection.lend(texts[0]) === first)
  }
}
