import CoreDataModelFiles
import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation
import Testing

@testable import CoreDataModelTools

/// Models made for data.
@Suite struct InferCommandTests {
  /// Runs the command on a file of this name, and reads the model that it writes.
  private func _infer(_ name: String, _ text: String) throws -> (schema: ModelSchema, notes: String) {
    try Scratch.with { scratch in try _infer(try scratch.file(name, text)) }
  }

  private func _infer(_ path: String) throws -> (schema: ModelSchema, notes: String) {
    try Scratch.with { scratch in
      let output = scratch.url.appendingPathComponent("Model.xcdatamodel").path
      let run = ToolRun.model(["infer", path, "--output", output])
      #expect(run.code == .success, "\(run.error)")
      return (try ModelInput.read(output), run.error)
    }
  }

  private func _database(_ sql: String) throws -> (schema: ModelSchema, notes: String) {
    try Scratch.with { scratch in
      let path = scratch.url.appendingPathComponent("data.db").path
      try Connection(path: path).execute(sql)
      return try _infer(path)
    }
  }

  private func _types(_ entity: EntitySchema) -> [String: AttributeType] {
    Dictionary(uniqueKeysWithValues: entity.attributes.map { ($0.name, $0.type) })
  }

  // MARK: JSON

  @Test func `a member that only the first line has is an attribute`() throws {
    let (schema, _) = try _infer("books.ndjson", "{\"title\": \"a\", \"pages\": 1}\n{\"title\": \"b\"}\n")
    let book = try #require(schema.entities.first { $0.name == "Books" })
    #expect(_types(book) == ["title": .string, "pages": .integer64])
    #expect(book.attributes.first { $0.name == "pages" }?.isOptional == true)
  }

  @Test func `the type of a member is the narrowest that all its values have`() throws {
    let (schema, _) = try _infer(
      "books.ndjson",
      """
      {"title": "Effi Briest", "pages": 337, "price": 8, "inPrint": true, "isbn": "6F9619FF-8B86-D011-B42D-00C04FC964FF"}
      {"title": "2001", "pages": 1002, "price": 9.5, "inPrint": false, "isbn": "6F9619FF-8B86-D011-B42D-00C04FC964F0"}
      """)
    let book = try #require(schema.entities.first { $0.name == "Books" })
    #expect(
      _types(book) == [
        "title": .string, "pages": .integer64, "price": .double, "inPrint": .boolean, "isbn": .uuid,
      ])
    #expect(book.attributes.allSatisfy { !$0.isOptional })
  }

  @Test func `a member that a record lacks or has as null is optional`() throws {
    let (schema, _) = try _infer("b.json", #"[{"a": 1, "b": null, "c": 3}, {"a": 2, "b": 1}]"#)
    let optional = schema.entities[0].attributes.filter(\.isOptional).map(\.name)
    #expect(Set(optional) == ["b", "c"])
  }

  @Test func `texts that all read as dates or URLs are told`() throws {
    let (schema, notes) = try _infer(
      "visits.json", #"[{"at": "2024-02-29T12:00:00Z", "page": "https://example.org/a", "on": "2024-02-29"}]"#
    )
    #expect(_types(schema.entities[0]) == ["at": .date, "page": .uri, "on": .date])
    #expect(notes.contains("note: Visits.at: all 1 texts read as dates."))
  }

  @Test func `objects inside become entities with inverses`() throws {
    let (schema, notes) = try _infer(
      "books.json",
      #"[{"title": "A", "author": {"name": "Ursula"}, "chapters": [{"heading": "One"}]}, {"title": "B", "author": null}]"#
    )
    #expect(Set(schema.entities.map(\.name)) == ["Books", "Author", "Chapter"])
    let book = try #require(schema.entities.first { $0.name == "Books" })
    let author = try #require(book.relationships.first { $0.name == "author" })
    #expect(author.destination == "Author" && !author.isToMany && author.inverse == "books")
    let chapters = try #require(book.relationships.first { $0.name == "chapters" })
    #expect(chapters.isToMany && chapters.deleteRule == .cascade)
    #expect(notes.contains("Books.chapters: members of Chapter"))
  }

  @Test func `objects of one name in several places are one entity`() throws {
    let (schema, _) = try _infer(
      "all.json", #"{"Book": [{"author": {"name": "A"}}], "Film": [{"author": {"name": "B", "born": 1929}}]}"#
    )
    #expect(schema.entities.filter { $0.name == "Author" }.count == 1)
    let author = try #require(schema.entities.first { $0.name == "Author" })
    #expect(_types(author) == ["name": .string, "born": .integer64])
    #expect(Set(author.relationships.map(\.name)) == ["books", "films"])
  }

  @Test func `values of several kinds are strings, and told`() throws {
    let (schema, notes) = try _infer("a.json", #"[{"value": 1}, {"value": "many"}]"#)
    #expect(_types(schema.entities[0]) == ["value": .string])
    #expect(notes.contains("values of several kinds"))
  }

  @Test func `a value that no record has is not said to be of several kinds`() throws {
    let (_, notes) = try _infer("a.json", #"[{"value": null, "name": "x"}, {"value": null, "name": "y"}]"#)
    #expect(!notes.contains("values of several kinds"), "\(notes)")
  }

  @Test func `lists of values are transformable, and empty ones left out`() throws {
    let (schema, notes) = try _infer("a.json", #"[{"tags": ["a", "b"], "none": []}]"#)
    #expect(_types(schema.entities[0]) == ["tags": .transformable])
    #expect(notes.contains("A.none: an empty list in every record; left out."))
  }

  @Test func `names that managed objects have get an ending`() throws {
    let (schema, notes) = try _infer("a.json", #"[{"description": "x", "created_at": 1, "ID": 3}]"#)
    #expect(Set(schema.entities[0].attributes.map(\.name)) == ["descriptionValue", "createdAt", "id"])
    #expect(notes.contains("A.createdAt: called 'created_at' in the data."))
  }

  @Test func `a line that is no object is an error with its number`() throws {
    try Scratch.with { scratch in
      let run = ToolRun.model(["infer", try scratch.file("a.ndjson", "{\"a\": 1}\n[2]\n")])
      #expect(run.code == .badInput)
      #expect(run.error.contains("a.ndjson:2: an object was expected, not an array."))
    }
  }

  // MARK: CSV

  @Test func `a directory has an entity for each file, and references are told`() throws {
    try Scratch.with { scratch in
      _ = try scratch.file("data/author.csv", "id,name,zip\n1,Ursula,01067\n2,Thomas,\n")
      _ = try scratch.file("data/book.csv", "title,author_id,price\nA,1,8.50\nB,2,10\n")
      let (schema, notes) = try _infer(scratch.url.appendingPathComponent("data").path)
      #expect(schema.entities.map(\.name) == ["Author", "Book"])
      #expect(_types(schema.entities[0]) == ["id": .integer64, "name": .string, "zip": .string])
      #expect(schema.entities[0].attributes.filter(\.isOptional).map(\.name) == ["zip"])
      #expect(_types(schema.entities[1]) == ["title": .string, "authorId": .integer64, "price": .double])
      #expect(notes.contains("Book.authorId: looks like a reference to Author"))
    }
  }

  @Test func `a file without lines has optional strings`() throws {
    let (schema, _) = try _infer("a.csv", "x,y\n")
    #expect(schema.entities[0].attributes.map(\.type) == [.string, .string])
    let optional = schema.entities[0].attributes.map(\.isOptional)
    #expect(optional == [true, true])
  }

  // MARK: SQLite

  @Test func `tables become entities with the types, defaults and constraints that they declare`() throws {
    let (schema, _) = try _database(
      """
      CREATE TABLE order_items (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT 'it''s', price DECIMAL(10,2), amount SMALLINT DEFAULT 1,
        paid BOOLEAN NOT NULL DEFAULT 0, photo BLOB, at DATETIME, code VARCHAR(10) UNIQUE);
      CREATE INDEX by_name ON order_items(name, price);
      """)
    let items = try #require(schema.entities.first)
    #expect(items.name == "OrderItems")
    #expect(
      _types(items) == [
        "id": .integer64, "name": .string, "price": .decimal, "amount": .integer16, "paid": .boolean,
        "photo": .binaryData, "at": .date, "code": .string,
      ])
    let name = try #require(items.attributes.first { $0.name == "name" })
    #expect(!name.isOptional && name.defaultValue == .string("it's"))
    #expect(Set(items.uniquenessConstraints) == [["id"], ["code"]])
    #expect(items.indexes.map { $0.elements.map(\.property) } == [["name", "price"]])
  }

  @Test func `foreign keys become relationships, and tables of pairs many-to-many ones`() throws {
    let (schema, notes) = try _database(
      """
      CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE book (
        id INTEGER PRIMARY KEY, author_id INTEGER NOT NULL REFERENCES Author(id) ON DELETE CASCADE,
        sequel_id INTEGER UNIQUE REFERENCES book(id));
      CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE book_tag (book_id INTEGER REFERENCES book(id), tag_id INTEGER REFERENCES tag(id),
        PRIMARY KEY (book_id, tag_id));
      """)
    #expect(Set(schema.entities.map(\.name)) == ["Author", "Book", "Tag"])
    let book = try #require(schema.entities.first { $0.name == "Book" })
    #expect(book.attributes.map(\.name) == ["id"])
    let author = try #require(book.relationships.first { $0.name == "author" })
    #expect(!author.isOptional && author.inverse == "books")
    let books = try #require(schema.entities.first { $0.name == "Author" }?.relationships.first)
    #expect(books.isToMany && books.deleteRule == .cascade)
    let sequel = try #require(book.relationships.first { $0.name == "sequel" })
    #expect(sequel.destination == "Book" && sequel.inverse == "book")
    #expect(book.relationships.first { $0.name == "tags" }?.isToMany == true)
    #expect(notes.contains("book_tag: rows are pairs of references"))
  }

  @Test func `what has no place in a model is told`() throws {
    let (_, notes) = try _database(
      """
      CREATE TABLE a (id INTEGER PRIMARY KEY);
      CREATE TABLE b (a_id INTEGER REFERENCES a(id), line INTEGER, n TEXT, PRIMARY KEY (a_id, line), UNIQUE (a_id, n));
      CREATE VIEW v AS SELECT 1;
      """)
    #expect(notes.contains("B: the primary key has columns that are relationships; no constraint."))
    #expect(notes.contains("B: the unique index"))
    #expect(notes.contains("1 view: a model has none; left out."))
  }

  @Test func `a column without a type takes that of its values`() throws {
    let (schema, notes) = try _database(
      "CREATE TABLE t (a, b, c); INSERT INTO t VALUES (1, 1.5, 'x'), (2, 2, NULL);")
    #expect(_types(schema.entities[0]) == ["a": .integer64, "b": .double, "c": .string])
    #expect(notes.contains("T.b: declared without a type, with integer and real values"))
  }

  @Test func `virtual tables are left out with what they keep`() throws {
    let (schema, notes) = try _database(
      "CREATE VIRTUAL TABLE search USING fts5(text); CREATE TABLE t (a TEXT);")
    #expect(schema.entities.map(\.name) == ["T"])
    #expect(notes.contains("search: a virtual table; left out."))
  }

  // MARK: The command

  @Test func `the models that it makes have no errors`() throws {
    try Scratch.with { scratch in
      let data = try scratch.file(
        "books.json", #"[{"title": "A", "author": {"name": "U"}, "entity": 1, "chapters": [{"n": 1}]}]"#)
      let model = scratch.url.appendingPathComponent("Books.xcdatamodel").path
      #expect(ToolRun.model(["infer", data, "-o", model]).code == .success)
      #expect(ToolRun.model(["check", model]).code == .success)
    }
  }

  @Test func `without an output the XML goes to standard output, and no notes if they are not wanted`() throws
  {
    try Scratch.with { scratch in
      let run = ToolRun.model(["infer", try scratch.file("a.json", #"[{"b_c": 1}]"#), "--quiet"])
      #expect(run.code == .success && run.error.isEmpty)
      #expect(run.output.contains("<attribute name=\"bC\""))
    }
  }

  @Test func `the model is written as JSON, too`() throws {
    try Scratch.with { scratch in
      let run = ToolRun.model(["infer", try scratch.file("a.json", #"[{"b": 1}]"#), "--json"])
      let model = try #require(try run.json() as? [String: Any])
      #expect(((model["entities"] as? [[String: Any]])?.first?["name"] as? String) == "A")
    }
  }

  @Test func `a missing file, an empty one and one of another kind are errors`() throws {
    try Scratch.with { scratch in
      #expect(ToolRun.model(["infer", scratch.url.path + "/none.json"]).code == .noInput)
      for (name, text) in [("empty.json", ""), ("number.json", "17"), ("bad.csv", "a,b\n1\n")] {
        let file = try scratch.file(name, text)
        #expect(ToolRun.model(["infer", file]).code == .badInput, "\(name)")
      }
    }
  }
}
