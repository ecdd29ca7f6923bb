import CoreData
import CoreDataToolKit
import Foundation
import Testing

@testable import CoreDataStoreTools

/// `store diff`.
@Suite struct DiffTests {
  private let _shelf: Shelf

  init() throws {
    _shelf = try Shelf()
    try _shelf.makeStore()
    try FileManager.default.copyItem(atPath: _shelf.path("store.sqlite"), toPath: _shelf.path("new.sqlite"))
  }

  private func _diff(_ words: String...) -> Shelf.Answer {
    _shelf.run(["diff", "@store.sqlite", "@new.sqlite", "--model", "@model"] + words)
  }

  private func _change(_ sql: String...) throws {
    for sql in sql { try _shelf.damage(sql, in: "new.sqlite") }
  }

  @Test func `A store does not differ from its copy`() {
    #expect(_diff().output == "No differences.\n")
    #expect(_diff("--exit-code").code == .success)
  }

  @Test func `Objects are added, removed and changed`() throws {
    try _change(
      "UPDATE ZBOOK SET ZPAGES = 301, ZAUTHOR = NULL WHERE Z_PK = 3", "DELETE FROM ZPASSPORT WHERE Z_PK = 9",
      "UPDATE ZAUTHOR SET ZPASSPORT = NULL WHERE Z_PK = 2",
      "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT 3, Z_ENT, 1, 'neu' FROM ZTAG LIMIT 1")
    let answer = _diff()
    #expect(
      answer.output == """
        ~ Author/p2
            passport: "Passport/p9" → null
        ~ Book/p3
            pages: 300 → 301
            author: "Author/p2" → null
        - Passport/p9
            number: "C01X0006H"
            holder: "Author/p2"
        + Tag/p3
            name: "neu"

        entity    added  removed  changed  same
        Author        0        0        1     1
        Book          0        0        1     0
        Passport      0        1        0     1
        Tag           1        0        0     2

        """)
    #expect(_diff("--exit-code").code == .badInput)
    #expect(_diff("--summary").output.hasPrefix("entity"))
    #expect(_diff("--entity", "Tag").output.contains("Passport") == false)
  }

  @Test func `Members of a relationship that objects of both sides have are compared`() throws {
    let pairs = try #require(
      try _shelf.text(of: "SELECT name FROM sqlite_master WHERE name GLOB 'Z_*TAGS'"))
    let columns = try #require(
      try _shelf.text(of: "SELECT group_concat(name) FROM pragma_table_info('\(pairs)')")
    ).split(separator: ",")
    let book = try #require(columns.first { $0.contains("BOOKS") && !$0.contains("FOK") })
    let tag = try #require(columns.first { $0.contains("TAGS") && !$0.contains("FOK") })
    try _change("DELETE FROM \(pairs) WHERE \(book) = 3 AND \(tag) = 1")
    #expect(_diff().output.contains("~ Book/p3\n    tags: -Tag/p1\n"))
  }

  @Test func `JSON has all changes and the numbers`() throws {
    try _change("UPDATE ZBOOK SET ZPAGES = 301 WHERE Z_PK = 3")
    let object = try _diff("--json").json() as? [String: Any]
    let changes = object?["changes"] as? [[String: Any]]
    #expect(changes?.count == 1)
    let pages = (changes?.first?["properties"] as? [String: Any])?["pages"] as? [String: Int]
    #expect(pages == ["before": 300, "after": 301])
    #expect(((object?["summary"] as? [String: Any])?["Book"] as? [String: Int])?["changed"] == 1)
  }

  @Test func `Objects of different stores are the same by their values`() throws {
    try _shelf.makeStore(
      "other.sqlite",
      """
      {"$entity":"Tag","$id":"Tag/p7","name":"berlin"}
      {"$entity":"Tag","$id":"Tag/p8","name":"winter"}
      {"$entity":"Chapter","$id":"Chapter/p3","heading":"eins"}
      """)
    func difference(_ words: String...) -> Shelf.Answer {
      _shelf.run(["diff", "@store.sqlite", "@other.sqlite", "--model", "@model"] + words)
    }
    // By its uniqueness constraint.
    #expect(
      difference("--entity", "Tag").output.hasPrefix(
        "- Tag(\"sommer\")\n    name: \"sommer\"\n+ Tag(\"winter\")\n"))
    // By the attributes that are named.
    let byHeading = difference("--entity", "Chapter", "--key", "Chapter=heading").output
    #expect(byHeading.contains("- Chapter(\"zwei\")") && !byHeading.contains("- Chapter(\"eins\")"))
    // Otherwise by primary key, which says little.
    let byKey = difference("--entity", "Chapter").output
    #expect(byKey.contains("~ Chapter/p3\n    heading: \"drei\" → \"eins\""))
    #expect(byKey.contains("The stores do not share primary keys: objects of Chapter are taken"))
    let wrong = difference("--key", "Tag=nam")
    #expect(wrong.code == .usage)
    #expect(wrong.error.contains("'Tag' has no attribute 'nam'. Did you mean 'name'?"))
  }

  @Test func `A file is compared with its log`() throws {
    #expect(_shelf.run("diff", "@store.sqlite", "--model", "@model").error.contains("has no write-ahead log"))
    // A reader keeps the log from being folded into the file.
    let writer = try StoreFileFacts.openForMending(path: _shelf.path("store.sqlite"))
    try writer.query("PRAGMA journal_mode = WAL")
    try writer.execute("UPDATE ZBOOK SET ZPAGES = 301 WHERE Z_PK = 3")
    let answer = _shelf.run("diff", "@store.sqlite", "--model", "@model")
    #expect(answer.output.hasPrefix("~ Book/p3\n    pages: 300 → 301\n"), "\(answer.error)")
    withExtendedLifetime(writer) {}
  }

  @Test func `What the models do not share is named`() throws {
    try _shelf.write(
      Shelf.model.replacing(
        "<attribute name=\"number\" optional=\"YES\" attributeType=\"String\"/>", with: ""), to: "model2")
    try _shelf.write("{\"$entity\":\"Tag\",\"name\":\"a\"}", to: "input2")
    #expect(
      _shelf.run("import", "@input2", "--model", "@model2", "--output", "@less.sqlite").code == .success)
    let answer = _shelf.run("diff", "@store.sqlite", "@less.sqlite", "--entity", "Passport")
    #expect(
      answer.output.contains("Only in 'store.sqlite': Passport.number."), "\(answer.output)\(answer.error)")
  }
}

/// `store show`.
@Suite struct ShowTests {
  private let _shelf: Shelf

  init() throws {
    _shelf = try Shelf()
    try _shelf.makeStore()
  }

  private func _show(_ words: String...) -> Shelf.Answer {
    _shelf.run(["show", "@store.sqlite"] + words + ["--model", "@model"])
  }

  @Test func `An object is shown with its values and what it is related to`() {
    #expect(
      _show("Novel/p7").output == """
        Novel/p7
          genre    realism
          inPrint  false
          title    ''
          author   Author/p2  Theodor Fontane
          tags     Tag/p1  berlin
          Without a value: copies, cost, cover, extra, isbn, page, pages, price, published, weight,
          chapters.

        """)
  }

  @Test func `Objects are named with their entity or a parent of it`() {
    #expect(_show("Book/p7").output.hasPrefix("Novel/p7\n"))
    #expect(_show("Book/7", "Author/p2").output.contains("\n\nAuthor/p2\n"))
  }

  @Test func `An object that is not there is an error`() {
    #expect(_show("Book/p99").code == .noInput)
    #expect(_show("Novel/p3").error.contains("There is no object Novel/p3"))
    #expect(_show("Bok/p3").error.contains("Did you mean 'Book'?"))
    #expect(_show("Book").code == .usage)
  }

  @Test func `JSON has everything`() throws {
    let object = try _show("Book/p3", "--json").json() as? [String: Any]
    #expect(object?["$id"] as? String == "Book/p3")
    #expect(object?["chapters"] as? [String] == ["Chapter/p3", "Chapter/p1", "Chapter/p2"])
    #expect(object?["cover"] as? String == "aGVsbG8=")
    #expect((try _show("Book/p3", "Tag/p1", "--json").json() as? [Any])?.count == 2)
  }
}
