import CoreData
import CoreDataSQLiteBinding
import CoreDataToolKit
import Foundation
import Testing

@testable import CoreDataStoreTools

/// Export and import.
@Suite struct ExchangeTests {
  private let shelf: Shelf

  init() throws { shelf = try Shelf() }

  private func export(_ store: String, _ form: String, to name: String) {
    let answer = shelf.run(
      "export", "@" + store, "--model", "@model", "--format", form, "--output", "@" + name)
    #expect(answer.code == .success, "\(answer.error)")
  }

  @Test(arguments: ["ndjson", "json"])
  func `An import exported again gives the same bytes`(form: String) throws {
    try shelf.makeStore()
    export("store.sqlite", form, to: "once")
    let answer = shelf.run(
      "import", "@once", "--format", form, "--model", "@model", "--output", "@second.sqlite")
    #expect(answer.output == "12 objects written to second.sqlite.\n")
    export("second.sqlite", form, to: "twice")
    #expect(try shelf.text("once") == shelf.text("twice"))
  }

  @Test func `A derived time is what the input says, not the time of the import`() throws {
    try shelf.write(
      """
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
          <entity name="Note" representedClassName="NSManagedObject">
              <attribute name="text" optional="YES" attributeType="String"/>
              <attribute name="changed" optional="YES" attributeType="Date" derived="YES" derivationExpression="now()" usesScalarValueType="NO"/>
          </entity>
      </model>
      """, to: "clock")
    let line = #"{"$entity":"Note","$id":"Note/p1","changed":"2020-02-29T12:00:00Z","text":"a"}"# + "\n"
    try shelf.write(line, to: "in.ndjson")
    let made = shelf.run("import", "@in.ndjson", "--model", "@clock", "--output", "@clock.sqlite")
    #expect(made.code == .success, "\(made.error)")
    #expect(shelf.run("export", "@clock.sqlite").output == line)
  }

  @Test func `A directory of CSV files gives the same files again`() throws {
    try shelf.makeStore()
    export("store.sqlite", "csv", to: "once")
    #expect(shelf.run("import", "@once", "--model", "@model", "--output", "@second.sqlite").code == .success)
    export("second.sqlite", "csv", to: "twice")
    for entity in ["Author", "Book", "Novel", "Chapter", "Passport", "Tag"] {
      #expect(try shelf.text("once/\(entity).csv") == shelf.text("twice/\(entity).csv"))
    }
  }

  @Test func `CSV quotes what needs it and tells nil from empty`() throws {
    try shelf.makeStore()
    export("store.sqlite", "csv", to: "csv")
    let books = try shelf.text("csv/Book.csv")
    #expect(
      books.hasPrefix(
        "$id,copies,cost,cover,extra,inPrint,isbn,page,pages,price,published,title,weight,author,chapters,tags\r\n"
      ))
    #expect(books.contains("\"Cécile; \"\"quoted\"\", and\nlines\""))
    #expect(books.contains(",Chapter/p3;Chapter/p1;Chapter/p2,Tag/p2;Tag/p1\r\n"))
    #expect(try shelf.text("csv/Novel.csv").contains(",realism,false,,,,,,\"\","))
  }

  @Test func `Every type survives`() throws {
    try shelf.makeStore()
    let answer = shelf.run("export", "@store.sqlite", "--model", "@model", "--entity", "Book")
    #expect(
      answer.output == #"""
        {"$entity":"Book","$id":"Book/p3","copies":9007199254740993,"cost":"10.11","cover":"aGVsbG8=","extra":"AAEC/w==","inPrint":true,"isbn":"5B3C7A1E-8C0B-4E0B-9E61-0E6D7B8C9A01","page":"https://example.org/a?b=c","pages":300,"price":0.1,"published":"1886-04-01T12:30:00.125Z","title":"Cécile; \"quoted\", and\nlines","weight":1.5,"author":"Author/p2","chapters":["Chapter/p3","Chapter/p1","Chapter/p2"],"tags":["Tag/p2","Tag/p1"]}

        """#)
  }

  @Test func `Large data goes to a file beside the store and comes back`() throws {
    let data = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
    try shelf.makeStore("store.sqlite", "{\"$entity\":\"Book\",\"cover\":\"\(data.base64EncodedString())\"}")
    #expect(try shelf.value("SELECT length(ZCOVER) FROM ZBOOK") == .int(38))
    let answer = shelf.run("export", "@store.sqlite", "--model", "@model", "--entity", "Book")
    #expect(answer.output.contains(data.base64EncodedString()))
  }

  @Test func `Handwritten objects may have any names, or none`() throws {
    try shelf.write(
      """
      {"Book": [{"title": "a", "author": "t"}, {"$id": 7, "title": "b"}],
       "Author": [{"$id": "t", "books": ["7"]}]}
      """, to: "own.json")
    #expect(shelf.run("import", "@own.json", "--model", "@model", "--output", "@own.sqlite").code == .success)
    #expect(try shelf.value("SELECT COUNT(*) FROM ZBOOK WHERE ZAUTHOR = 1", in: "own.sqlite") == .int(2))
    #expect(shelf.run("check", "@own.sqlite", "--model", "@model").code == .success)
  }

  @Test func `What is left out gets the model's default`() throws {
    try shelf.makeStore("store.sqlite", #"{"$entity":"Author","$id":"a"}"#)
    #expect(try shelf.value("SELECT ZNAME FROM ZAUTHOR") == .text("nobody"))
  }

  @Test func `A null that is not optional is told`() throws {
    try shelf.write("{\"$entity\":\"Author\",\"name\":null}", to: "a.ndjson")
    let answer = shelf.run("import", "@a.ndjson", "--model", "@model", "--output", "@a.sqlite")
    #expect(answer.code == .success)
    #expect(answer.output.contains("1 object without a value that is not optional, the first at a.ndjson:1"))
  }

  @Test func `One side of a one-to-one is enough`() throws {
    try shelf.makeStore()
    #expect(try shelf.value("SELECT ZHOLDER FROM ZPASSPORT WHERE Z_PK = 9") == .int(2))
    #expect(try shelf.value("SELECT ZPASSPORT FROM ZAUTHOR WHERE Z_PK = 5") == .int(10))
  }

  @Test func `Objects can be added to a copy of a store`() throws {
    try shelf.makeStore()
    try shelf.write(#"{"$entity":"Author","$id":"Author/p2","name":"new"}"#, to: "more.ndjson")
    let answer = shelf.run(
      "import", "@more.ndjson", "--base", "@store.sqlite", "--model", "@model", "--output", "@more.sqlite")
    #expect(answer.code == .success, "\(answer.error)")
    #expect(try shelf.value("SELECT ZNAME FROM ZAUTHOR WHERE Z_PK = 6", in: "more.sqlite") == .text("new"))
    #expect(try shelf.value("SELECT COUNT(*) FROM ZAUTHOR") == .int(2))
  }

  @Test func `Thousands of linked objects are written in batches`() throws {
    var lines = ""
    for number in 1...2500 {
      lines +=
        "{\"$entity\":\"Chapter\",\"$id\":\"Chapter/p\(number)\",\"heading\":\"\(number)\",\"book\":\"Book/p\(2501 - number)\"}\n"
    }
    for number in 1...2500 { lines += "{\"$entity\":\"Book\",\"$id\":\"Book/p\(number)\"}\n" }
    try shelf.makeStore("store.sqlite", lines)
    #expect(
      try shelf.value(
        "SELECT COUNT(*) FROM ZCHAPTER c JOIN ZBOOK b ON c.ZBOOK = b.Z_PK AND b.Z_PK = 2501 - c.Z_PK")
        == .int(2500))
    #expect(try shelf.value("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Book'") == .int(2500))
  }

  @Test(arguments: [
    (#"{"$entity":"Boook"}"#, "input:1: the model has no entity 'Boook'. Is 'Book' meant?"),
    (
      "\n{\"$entity\":\"Book\",\"titel\":\"x\"}", "input:2: 'Book' has no property 'titel'. Is 'title' meant?"
    ),
    (
      #"{"$entity":"Book","pages":"many"}"#,
      "input:1: 'pages': a whole number of 32 bits was expected, not 'many'"
    ),
    (#"{"$entity":"Book","pages":3000000000}"#, "'pages': a whole number of 32 bits was expected"),
    (#"{"$entity":"Book","isbn":"17"}"#, "'isbn': a UUID was expected, not '17'"),
    (#"{"$entity":"Book","published":"today"}"#, "a date such as 2024-02-29T12:00:00Z was expected"),
    (#"{"$entity":"Book","cover":"%%"}"#, "bytes in base64 was expected"),
    (#"{"$entity":"Book","mark":"x"}"#, "'mark' is transient"),
    (
      #"{"$entity":"Book","author":"Author/p1"}"#,
      "which is no object of the input. '--skip-missing' leaves out"
    ),
    (#"{"$entity":"Book","$id":"b","author":"b"}"#, "'author' leads to 'b', which is a Book and no Author"),
    (#"{"$entity":"Book","$id":"b"}{"#, "something follows the value"),
    (
      "{\"$entity\":\"Book\",\"$id\":\"b\"}\n{\"$entity\":\"Book\",\"$id\":\"b\"}",
      "input:2: the $id 'b' occurs a second time"
    ),
    (#"{"title":"x"}"#, "does not say its entity"),
    (
      "{\"$entity\":\"Author\",\"$id\":\"a\",\"books\":[\"b\"]}\n{\"$entity\":\"Book\",\"$id\":\"b\",\"author\":\"c\"}\n{\"$entity\":\"Author\",\"$id\":\"c\"}",
      "'books' has a member whose own side of the relationship says another owner"
    ),
    (
      "{\"$entity\":\"Tag\",\"name\":\"x\"}\n{\"$entity\":\"Tag\",\"name\":\"x\"}",
      "A uniqueness constraint of the model does not allow this"
    ),
  ])
  func `A mistake is named with its place, and no store is left`(text: String, message: String) throws {
    try shelf.write(text, to: "input")
    let answer = shelf.run("import", "@input", "--model", "@model", "--output", "@bad.sqlite")
    #expect(answer.code == .badInput)
    #expect(answer.error.contains(message), "\(answer.error)")
    #expect(!FileManager.default.fileExists(atPath: shelf.path("bad.sqlite")))
  }

  @Test func `References to missing objects can be left out`() throws {
    try shelf.write(#"{"$entity":"Book","author":"Author/p1","tags":["x","y"]}"#, to: "input.ndjson")
    let answer = shelf.run(
      "import", "@input.ndjson", "--skip-missing", "--model", "@model", "--output", "@s.sqlite")
    #expect(answer.output.contains("3 references to objects that are not in the input left out"))
  }

  @Test func `An export never overwrites the store, nor an import a file`() throws {
    try shelf.makeStore()
    #expect(
      shelf.run("export", "@store.sqlite", "--model", "@model", "--output", "@store.sqlite").code == .usage)
    let answer = shelf.run("import", "@input.ndjson", "--model", "@model", "--output", "@store.sqlite")
    #expect(answer.code == .cannotCreateOutput)
    #expect(try shelf.value("SELECT COUNT(*) FROM ZAUTHOR") == .int(2))
  }
}
