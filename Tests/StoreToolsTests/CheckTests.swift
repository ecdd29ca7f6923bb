import CoreData
import CoreDataSQLiteBinding
import CoreDataToolKit
import Foundation
import Testing

@testable import CoreDataStoreTools

/// `store check`, with and without `--repair`.
@Suite struct CheckTests {
  private let shelf: Shelf

  init() throws {
    shelf = try Shelf()
    try shelf.makeStore()
  }

  private func check(_ words: String...) -> Shelf.Answer {
    shelf.run(["check", "@store.sqlite", "--model", "@model"] + words)
  }

  @Test func `A healthy store passes`() {
    let answer = check("--strict")
    #expect(answer.code == .success)
    #expect(answer.output == "store.sqlite: no problems found.\n")
  }

  /// Repairable damage, the kind it is reported as, a part of the message, and the result that the repaired
  /// copy must give.
  static let mendable: [(sql: String, kind: String, message: String, question: String, answer: Binding?)] = [
    (
      "UPDATE ZBOOK SET ZAUTHOR = 99 WHERE Z_PK = 3", "dangling-reference", "ZBOOK row 3",
      "SELECT ZAUTHOR FROM ZBOOK WHERE Z_PK = 3", .null
    ),
    (
      "INSERT INTO Z_2TAGS (Z_2BOOKS, Z_6TAGS) VALUES (3, 77)", "dangling-reference",
      "Z_6TAGS leads to a missing row", "SELECT COUNT(*) FROM Z_2TAGS WHERE Z_6TAGS = 77", .int(0)
    ),
    (
      "UPDATE ZPASSPORT SET ZHOLDER = NULL WHERE Z_PK = 9", "one-sided-inverse",
      "Author.passport leads to an object whose holder does not lead back",
      "SELECT ZHOLDER FROM ZPASSPORT WHERE Z_PK = 9", .int(2)
    ),
    (
      "UPDATE ZPASSPORT SET ZHOLDER = 5 WHERE Z_PK = 9", "one-sided-inverse", "does not lead back",
      "SELECT COUNT(*) FROM ZAUTHOR a JOIN ZPASSPORT p ON a.ZPASSPORT = p.Z_PK AND p.ZHOLDER = a.Z_PK",
      .int(1)
    ),
    (
      "UPDATE Z_PRIMARYKEY SET Z_MAX = 3 WHERE Z_NAME = 'Book'", "primary-keys",
      "Z_MAX of Book is 3, but ZBOOK has rows up to 11",
      "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Book'", .int(11)
    ),
    (
      "UPDATE Z_PRIMARYKEY SET Z_SUPER = 0 WHERE Z_NAME = 'Novel'", "entity-table", "Novel has the parent 0",
      "SELECT Z_SUPER FROM Z_PRIMARYKEY WHERE Z_NAME = 'Novel'", .int(2)
    ),
    (
      "UPDATE ZTAG SET Z_ENT = 44 WHERE Z_PK = 1", "entity-number",
      "1 row whose Z_ENT is no entity of this table", "SELECT Z_ENT FROM ZTAG WHERE Z_PK = 1", .int(6)
    ),
    (
      "UPDATE ZCHAPTER SET Z2_BOOK = 3 WHERE Z_PK = 1", "wrong-destination",
      "says another entity than its destination has", "SELECT Z2_BOOK FROM ZCHAPTER WHERE Z_PK = 1", .int(2)
    ),
    (
      "UPDATE ZCHAPTER SET Z_FOK_BOOK = 2048", "order", "3 rows that share their place",
      "SELECT COUNT(DISTINCT Z_FOK_BOOK) FROM ZCHAPTER", .int(3)
    ),
    (
      "UPDATE ZCHAPTER SET Z_FOK_BOOK = NULL WHERE Z_PK = 3", "order", "without a place among the members",
      "SELECT Z_FOK_BOOK FROM ZCHAPTER WHERE Z_PK = 3", .int(4096)
    ),
    (
      "UPDATE ZBOOK SET ZPAGES = 'x' || 1, ZPRICE = CAST('1.5' AS BLOB) WHERE 0; UPDATE ZBOOK SET ZINPRINT = 5 WHERE Z_PK = 3",
      "cell-type", "Book.inPrint holds no Boolean", "SELECT ZINPRINT FROM ZBOOK WHERE Z_PK = 3", .int(1)
    ),
    (
      "UPDATE ZBOOK SET ZPAGES = 3.0e0 + 0.0 WHERE 0; UPDATE ZBOOK SET ZEXTRA = 'text' WHERE Z_PK = 3",
      "cell-type", "Book.extra holds no Transformable", "SELECT typeof(ZEXTRA) FROM ZBOOK WHERE Z_PK = 3",
      .text("blob")
    ),
    (
      "UPDATE ZBOOK SET ZCOVER = CAST(X'02' || '0E6D7B8C-9A01-4E0B-9E61-5B3C7A1E8C0B' || X'00' AS BLOB) WHERE Z_PK = 3",
      "external-data", "stands in a file that is not in", "SELECT ZCOVER FROM ZBOOK WHERE Z_PK = 3", .null
    ),
    (
      "UPDATE ZBOOK SET Z_OPT = NULL WHERE Z_PK = 3", "cell-type", "without a version",
      "SELECT Z_OPT FROM ZBOOK WHERE Z_PK = 3", .int(1)
    ),
  ]

  @Test(arguments: mendable.indices)
  func `Damage is found, and mended in a copy`(_ index: Int) throws {
    let (sql, kind, message, question, expected) = Self.mendable[index]
    try shelf.damage(sql)
    let found = check()
    #expect(
      found.output.contains(kind)
        && found.output.split { $0.isWhitespace }.joined(separator: " ").contains(message), "\(found.output)")
    let before = try Data(contentsOf: URL(fileURLWithPath: shelf.path("store.sqlite")))
    let mended = check("--repair", "--output", "@mended.sqlite")
    #expect(mended.code == .success, "\(mended.output)\(mended.error)")
    #expect(try shelf.value(question, in: "mended.sqlite") == expected)
    #expect(try Data(contentsOf: URL(fileURLWithPath: shelf.path("store.sqlite"))) == before)
  }

  @Test(arguments: [
    ("UPDATE ZBOOK SET Z_ENT = 44 WHERE Z_PK = 7", "entity-number", ExitCode.badInput),
    ("UPDATE ZBOOK SET ZISBN = X'0102' WHERE Z_PK = 3", "cell-type", .badInput),
    ("UPDATE ZBOOK SET ZPAGES = 'many' WHERE Z_PK = 3", "cell-type", .badInput),
    ("DROP INDEX Z_Tag_UNIQUE_name; UPDATE ZTAG SET ZNAME = 'berlin'", "constraint", .badInput),
    ("UPDATE ZAUTHOR SET ZNAME = NULL WHERE Z_PK = 2", "missing-value", .success),
    ("UPDATE ZBOOK SET ZPAGES = 3000000000 WHERE Z_PK = 3", "cell-type", .success),
    ("DROP TABLE ZTAG", "schema", .badInput), ("UPDATE Z_METADATA SET Z_PLIST = NULL", "metadata", .success),
  ])
  func `What takes guessing is reported only`(sql: String, kind: String, code: ExitCode) throws {
    try shelf.damage(sql)
    let answer = check()
    #expect(answer.code == code)
    #expect(answer.output.contains(kind), "\(answer.output)")
    #expect(check("--strict").code == .badInput)
  }

  @Test func `Files that no row names are found, and not copied`() throws {
    let directory = shelf.directory.appendingPathComponent(".store_SUPPORT/_EXTERNAL_DATA")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let name = "0E6D7B8C-9A01-4E0B-9E61-5B3C7A1E8C0B"
    try Data([1]).write(to: directory.appendingPathComponent(name))
    let words = check().output.split { $0.isWhitespace }.joined(separator: " ")
    #expect(words.contains("1 file in") && words.contains("that no row names, such as \(name)"), "\(words)")
    #expect(check("--repair", "--output", "@mended.sqlite").code == .success)
    #expect(!FileManager.default.fileExists(atPath: shelf.path(".mended_SUPPORT/_EXTERNAL_DATA/\(name)")))
    #expect(FileManager.default.fileExists(atPath: directory.appendingPathComponent(name).path))
  }

  @Test func `Damaged pages are reported, and nothing else about them`() throws {
    let url = URL(fileURLWithPath: shelf.path("store.sqlite"))
    var data = try Data(contentsOf: url)
    let page = try #require(try shelf.value("SELECT rootpage FROM sqlite_master WHERE name = 'ZBOOK'"))
    guard case .int(let number) = page else { return }
    for offset in 0..<64 { data[Int(number - 1) * 4096 + offset] = 0xFF }
    try data.write(to: url)
    let answer = check()
    #expect(answer.code == .badInput)
    #expect(answer.output.contains("integrity"))
    #expect(!answer.output.contains("dangling"))
  }

  @Test func `Findings come as JSON too`() throws {
    try shelf.damage("UPDATE ZBOOK SET ZAUTHOR = 99")
    let findings = try check("--json").json() as? [[String: Any]]
    #expect(findings?.first?["kind"] as? String == "dangling-reference")
    #expect(findings?.first?["rows"] as? [Int] == [3, 7, 11])
    #expect(findings?.first?["isMendable"] as? Bool == true)
  }

  @Test func `repair needs an output, and replaces none`() throws {
    #expect(check("--repair").code == .usage)
    #expect(check("--output", "@x").code == .usage)
    #expect(check("--repair", "--output", "@model").code == .cannotCreateOutput)
    #expect(check("--repair", "--output", "@store.sqlite").code == .cannotCreateOutput)
  }
}
