import CoreDataToolKit
import Foundation
import Testing

@testable import CoreDataStoreTools

/// `store fetch`, `store entities` and `store info`.
@Suite struct FetchTests {
  private let shelf: Shelf

  init() throws {
    shelf = try Shelf()
    try shelf.makeStore()
  }

  private func fetch(_ words: String..., columns: Int? = nil) -> Shelf.Answer {
    shelf.run(["fetch", "@store.sqlite", "--model", "@model"] + words, columns: columns)
  }

  @Test func `A fetch shows a table`() {
    #expect(
      fetch("Author", "--sort", "-age", "--columns", "name,age,books").output == """
        name             age  books
        Theodor Fontane   78      2
        夏目漱石 📚               1
        2 objects.

        """)
  }

  @Test func `Predicates and sort keys go through relationships`() {
    let answer = fetch(
      "Book", "--where", "author.name BEGINSWITH[c] 'theodor' AND ANY tags.name == 'berlin'", "--sort",
      "-pages,title",
      "--columns", "$id,author.name", "--format", "ndjson")
    #expect(
      answer.output == """
        {"$id":"Book/p3","author.name":"Theodor Fontane"}
        {"$id":"Novel/p7","author.name":"Theodor Fontane"}

        """)
  }

  @Test func `Fetches can leave out subentities, skip and stop`() {
    #expect(fetch("Book", "--exact", "--count").output == "1\n")
    #expect(
      fetch("Book", "--sort", "title", "--offset", "1", "--limit", "1", "--columns", "$id", "--format", "csv")
        .output == "$id\r\nNovel/p7\r\n")
  }

  @Test func `JSON has everything`() throws {
    let objects = try fetch("Novel", "--json").json() as? [[String: Any]]
    #expect(objects?.count == 2)
    #expect(objects?.first?["genre"] as? String == "realism")
    #expect(objects?.first?["tags"] as? [String] == ["Tag/p1"])
  }

  @Test func `A table keeps to the terminal`() {
    let answer = fetch("Book", columns: 60)
    for line in answer.output.split(separator: "\n") { #expect(TextWidth.of(String(line)) <= 60) }
    #expect(answer.output.contains("No room for "))
  }

  // MARK: Long results

  /// Creates books 1 to `count`.
  private func makeManyBooks(_ count: Int) throws {
    let lines = (1...count).map { "{\"$entity\":\"Book\",\"title\":\"Book \($0)\",\"pages\":\($0)}" }
    try shelf.makeStore("many.sqlite", lines.joined(separator: "\n"))
  }

  private func fetchMany(_ words: String..., columns: Int? = nil) -> Shelf.Answer {
    shelf.run(["fetch", "@many.sqlite", "Book", "--model", "@model"] + words, columns: columns)
  }

  @Test func `a table on a terminal ends after a hundred objects`() throws {
    try makeManyBooks(1234)
    let lines = fetchMany("--columns", "title", columns: 80).output.split(separator: "\n")
    #expect(lines.count == 102)
    #expect(lines.last == "The first 100 of 1,234 objects; '--limit N' shows more.")
  }

  @Test func `a table on a terminal is as long as its limit`() throws {
    try makeManyBooks(120)
    let lines = fetchMany("--columns", "title", "--limit", "110", columns: 80).output.split(separator: "\n")
    #expect(lines.last == "110 objects.")
  }

  @Test func `what is no table on a terminal has all objects`() throws {
    try makeManyBooks(120)
    #expect(fetchMany("--format", "ndjson", columns: 80).output.split(separator: "\n").count == 120)
    #expect(fetchMany("--columns", "title").output.split(separator: "\n").last == "120 objects.")
  }

  @Test func `a long table for a program has all rows in one form`() throws {
    try makeManyBooks(1234)
    let lines = fetchMany("--columns", "title,pages").output.split(separator: "\n")
    #expect(lines.count == 1236)
    #expect(lines[1] == "Book 1        1")
    #expect(lines[1234] == "Book 1234   1234" || lines[1234] == "Book 1234  1234", "\(lines[1234])")
    #expect(lines.last == "1,234 objects.")
  }

  @Test func `objects without order come by their keys`() throws {
    #expect(
      fetch("Book", "--columns", "$id", "--format", "csv", "--limit", "2", "--offset", "1").output
        == "$id\r\nNovel/p7\r\nNovel/p11\r\n")
    #expect(fetch("Novel", "--count").output == "2\n")
    #expect(fetch("Book", "--count", "--limit", "2").output == "2\n")
  }

  // MARK: SQL

  @Test func `sql shows the statement and its values`() {
    let answer = fetch("Book", "--where", "pages > 3 AND title == 'x'", "--sql")
    #expect(answer.output.hasPrefix("SELECT "), "\(answer.error)")
    #expect(answer.output.contains("WHERE"))
    #expect(answer.output.hasSuffix("Values: 3, 'x'\n"))
  }

  @Test func `explain shows the plan, and what an index would spare`() {
    let answer = fetch("Book", "--where", "pages > 3", "--sort", "title", "--limit", "5", "--explain")
    #expect(answer.output.contains("Plan:\n  SCAN t0"), "\(answer.output)")
    #expect(
      answer.output.contains("All rows of Book are read. A fetch index on 'pages' would let SQLite search."))
    #expect(answer.output.contains("A fetch index on 'title' would have them in order."))
  }

  @Test func `explain gives no advice where an index is used`() {
    let answer = fetch("Tag", "--where", "name == 'berlin'", "--explain")
    #expect(answer.output.contains("USING INDEX") || answer.output.contains("USING COVERING INDEX"))
    #expect(!answer.output.contains("would"), "\(answer.output)")
  }

  @Test func `explain has a form for programs`() throws {
    let json = try fetch("Book", "--where", "pages > 3", "--explain", "--json").json() as? [String: Any]
    #expect(json?["values"] as? [String] == ["3"])
    #expect((json?["plan"] as? [String])?.isEmpty == false)
    #expect((json?["advice"] as? [String])?.count == 1)
  }

  // MARK: Mistakes

  @Test(arguments: [
    (["Bok"], "The model has no entity 'Bok'. Did you mean 'Book'?"),
    (["Book", "--columns", "titel"], "'Book' has no property 'titel'. Did you mean 'title'?"),
    (
      ["Book", "--columns", "title.length"],
      "Nothing can follow 'title' in 'title.length': it is an attribute."
    ),
    (["Book", "--columns", "tags.name"], "Nothing can follow 'tags'"),
    (["Book", "--sort", "author.nme"], "'Author' has no property 'nme'. Did you mean 'name'?"),
    (["Book", "--where", "title = "], "The predicate cannot be understood"),
    (["Book", "--format", "jsn"], "Did you mean 'json'?"),
    (["Book", "--wher", "x"], "Did you mean '--where'?"),
  ])
  func `A mistake is named, with what may be meant`(words: [String], message: String) {
    let answer = shelf.run(["fetch", "@store.sqlite", "--model", "@model"] + words)
    #expect(answer.code == .usage)
    #expect(answer.error.contains(message), "\(answer.error)")
  }

  @Test func `A predicate on an unknown property is a mistake of usage`() {
    let answer = fetch("Book", "--where", "titel = 'x'")
    #expect(answer.code == .usage)
    #expect(answer.error.hasSuffix("Did you mean 'title'?\n"), "\(answer.error)")
  }

  @Test func `entities lists tables and numbers`() throws {
    let answer = shelf.run("entities", "@store.sqlite", "--model", "@model", "--properties")
    let lines = answer.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    #expect(lines.contains(["Book", "1", "2", "ZBOOK"]))
    #expect(lines.contains(["Novel", "2", "3", "ZBOOK"]))
    #expect(lines.contains(["chapters", "ordered", "->>", "Chapter"]))
    let json =
      try shelf.run("entities", "@store.sqlite", "--model", "@model", "--json").json() as? [[String: Any]]
    #expect(json?.first { $0["name"] as? String == "Novel" }?["objects"] as? Int == 2)
  }

  @Test func `info says what the store is`() throws {
    let text = shelf.run("info", "@store.sqlite", "--model", "@model").output
    #expect(text.contains("Health         good: no problems found"))
    #expect(text.contains("History        none"))
    let json = try shelf.run("info", "@store.sqlite", "--model", "@model", "--json").json() as? [String: Any]
    #expect((json?["findings"] as? [Any])?.isEmpty == true)
    #expect((json?["entities"] as? [Any])?.count == 6)
  }

  @Test func `Reading leaves every byte and no new file`() throws {
    func state() throws -> [String: Data] {
      let names = try FileManager.default.contentsOfDirectory(atPath: shelf.directory.path)
      return try Dictionary(
        uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: URL(fileURLWithPath: shelf.path($0)))) })
    }
    let before = try state()
    _ = fetch("Book", "--where", "pages > 3")
    _ = shelf.run("info", "@store.sqlite", "--model", "@model")
    _ = shelf.run("export", "@store.sqlite", "--model", "@model")
    #expect(try state() == before)
  }
}
