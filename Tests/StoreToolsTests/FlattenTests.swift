import CoreDataSQLiteBinding
import CoreDataToolKit
import Foundation
import Testing

@testable import CoreDataStoreTools

/// `store flatten`.
@Suite struct FlattenTests {
  private let _shelf: Shelf

  init() throws {
    _shelf = try Shelf()
    try _shelf.makeStore()
  }

  private func _flatten(_ words: String...) -> Shelf.Answer {
    _shelf.run(["flatten", "@store.sqlite", "--model", "@model"] + words)
  }

  /// The rows of a query of the plain tables, with fields separated by bars.
  private func _rows(_ sql: String, in name: String = "plain.db") throws -> [String] {
    let connection = try Connection(path: _shelf.path(name), mode: .readOnly)
    var rows: [String] = []
    try connection.query(sql) { row in
      rows.append(
        (0..<Int32(row.columnCount)).map { row.isNull($0) ? "nil" : row.string($0) }.joined(separator: "|"))
    }
    return rows
  }

  private func _made() throws {
    let answer = _flatten("--output", "@plain.db")
    try #require(answer.code == .success, "\(answer.error)")
    #expect(answer.error == "12 objects written to 7 tables in plain.db.\n")
  }

  @Test func `Values are as other tools read them`() throws {
    try _made()
    try #expect(
      _rows(
        "SELECT id, entity, title, pages, price, cost, published, inPrint, isbn, page, hex(cover) FROM Book WHERE id = 3"
      )
        == [
          "3|Book|Cécile; \"quoted\", and\nlines|300|0.1|10.11|1886-04-01T12:30:00.125Z|1|"
            + "5B3C7A1E-8C0B-4E0B-9E61-0E6D7B8C9A01|https://example.org/a?b=c|68656C6C6F"
        ])
    try #expect(
      _rows("SELECT cost, typeof(cost), title, genre FROM Book WHERE id = 11") == [
        "-0.000000001|text|nil|nil"
      ])
    try #expect(_rows("SELECT title, inPrint FROM Book WHERE id = 7") == ["|0"])
  }

  @Test func `A table has a text that tells objects apart beside its key`() throws {
    try _made()
    try #expect(_rows("SELECT name FROM pragma_table_info('Book') LIMIT 3") == ["id", "entity", "title"])
    try #expect(
      _rows("SELECT name FROM pragma_table_info('Author')") == ["id", "name", "age", "passport_id"])
  }

  @Test func `Relationships are foreign keys and tables of pairs`() throws {
    try _made()
    try #expect(
      _rows("SELECT \"from\", \"table\", \"to\" FROM pragma_foreign_key_list('Book')") == [
        "author_id|Author|id"
      ])
    try #expect(_rows("SELECT title FROM Book WHERE author_id = 2 ORDER BY id").count == 2)
    try #expect(_rows("SELECT * FROM Book_tags ORDER BY book_id, position") == ["3|2|0", "3|1|1", "7|1|0"])
    try #expect(
      _rows("SELECT heading FROM Book_chapters JOIN Chapter ON id = chapter_id ORDER BY position")
        == ["drei", "eins", "zwei"])
    try #expect(_rows("PRAGMA foreign_key_check").isEmpty)
  }

  @Test func `A subentity has a view`() throws {
    try _made()
    try #expect(_rows("SELECT id, genre FROM Novel ORDER BY id") == ["7|realism", "11|nil"])
    try #expect(_rows("SELECT count(*) FROM Book") == ["3"])
  }

  @Test func `Columns and origin are documented`() throws {
    try _made()
    try #expect(
      _rows("SELECT property, note FROM _column WHERE \"table\" = 'Book' AND \"column\" = 'published'")
        == ["published|ISO 8601"])
    try #expect(_rows("SELECT value FROM _provenance WHERE key = 'source'")[0].hasSuffix("store.sqlite"))
    let uuid = try _shelf.text(of: "SELECT Z_UUID FROM Z_METADATA")
    try #expect(_rows("SELECT value FROM _provenance WHERE key = 'store_uuid'") == [uuid ?? ""])
  }

  @Test func `A zone is that of moments`() throws {
    #expect(_flatten("--output", "@plain.db", "--zone", "+02:00").code == .success)
    try #expect(_rows("SELECT published FROM Book WHERE id = 11") == ["2001-01-01T02:00:00+02:00"])
  }

  @Test func `Archives and JSON are JSON, and other bytes stay`() throws {
    let archive = try NSKeyedArchiver.archivedData(
      withRootObject: ["names": ["Ada", "Bob"], "born": Date(timeIntervalSinceReferenceDate: 0)]
        as NSDictionary,
      requiringSecureCoding: false)
    let list = try PropertyListSerialization.data(
      fromPropertyList: [1, "zwei", 3.5], format: .binary, options: 0)
    let values = [archive, list, Data("{\"a\": [1]}".utf8), Data("{no json".utf8), Data([0, 1])]
    try _shelf.makeStore(
      "store2.sqlite",
      values.map { "{\"$entity\":\"Book\",\"extra\":\"\($0.base64EncodedString())\"}" }.joined(
        separator: "\n"))
    let answer = _shelf.run("flatten", "@store2.sqlite", "--model", "@model", "--output", "@plain.db")
    #expect(answer.code == .success)
    let found = try _rows(
      "SELECT typeof(extra), CASE typeof(extra) WHEN 'text' THEN extra ELSE hex(extra) END FROM Book ORDER BY id"
    )
    #expect(found.count == 5)
    let json = try #require(found.first?.dropFirst("text|".count))
    let object = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
    #expect(object?["names"] as? [String] == ["Ada", "Bob"])
    #expect(object?["born"] as? String == "2001-01-01T00:00:00Z")
    #expect(
      Array(found.dropFirst()) == [
        "text|[1,\"zwei\",3.5]", "text|{\"a\": [1]}", "blob|7B6E6F206A736F6E", "blob|0001",
      ])
  }

  @Test func `Texts are found by words`() throws {
    #expect(_flatten("--output", "@plain.db", "--search").code == .success)
    try #expect(
      _rows(
        "SELECT b.id FROM Book_fts f JOIN Book b ON b.id = f.rowid WHERE Book_fts MATCH 'cecile AND lines'")
        == ["3"])
  }

  @Test func `Other programs find the index by its content`() throws {
    #expect(_flatten("--output", "@plain.db", "--search").code == .success)
    // As datasette and sqlite-utils look for it.
    try #expect(
      _rows(
        "SELECT name FROM sqlite_master WHERE rootpage = 0 AND sql LIKE '%VIRTUAL TABLE%USING FTS%content=\"Book\"%'"
      )
        == ["Book_fts"])
  }

  @Test func `Plain tables are also CSV and lines of JSON`() throws {
    #expect(_flatten("--output", "@out", "--format", "csv").code == .success)
    try #expect(
      _shelf.text("out/Author.csv") == "id,name,age,passport_id\r\n2,Theodor Fontane,78,9\r\n5,夏目漱石 📚,,10\r\n"
    )
    try #expect(_shelf.text("out/Book_tags.csv") == "book_id,tag_id,position\r\n3,2,0\r\n3,1,1\r\n7,1,0\r\n")
    #expect(_flatten("--output", "@lines", "--format", "ndjson").code == .success)
    try #expect(
      _shelf.text("lines/Passport.ndjson")
        == "{\"id\":9,\"number\":\"C01X0006H\",\"holder_id\":2}\n{\"id\":10,\"number\":\"C01X0007J\",\"holder_id\":5}\n"
    )
  }

  @Test func `Nothing is replaced unless asked, and the store never`() throws {
    try _shelf.write("mine", to: "plain.db")
    #expect(_flatten("--output", "@plain.db").code == .cannotCreateOutput)
    try #expect(_shelf.text("plain.db") == "mine")
    #expect(_flatten("--output", "@plain.db", "--force").code == .success)
    #expect(_flatten("--output", "@store.sqlite", "--force").code == .usage)
    #expect(_flatten().error.contains("'--output FILE'"))
  }

  @Test func `Names of tables are names of files that differ`() {
    #expect(
      ["a/b", "a_b", "a%2Fb", ".x", "%2Ex"].map(FlatFile.name) == [
        "a%2Fb", "a_b", "a%252Fb", "%2Ex", "%252Ex",
      ])
  }

  @Test func `Names that SQLite takes for equal get numbers`() {
    var names = FlatNames(["_column"])
    #expect(
      ["Title", "title", "_Column", "sqlite_x", "TITLE"].map { names.add($0) } == [
        "Title", "title_2", "_Column_2", "_sqlite_x", "TITLE_3",
      ])
  }
}
