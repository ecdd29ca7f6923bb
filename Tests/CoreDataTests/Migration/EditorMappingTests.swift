import CoreDataModelFiles
import Foundation
import Testing

@testable import CoreData

/// Mapping models with what Xcode's editor writes beside expressions: filters, key paths, mapping names.
@Suite("Mapping models of the editor", .serialized)
struct EditorMappingTests {
  private let fixture: MigrationFixture
  private let old: NSManagedObjectModel
  private let new: NSManagedObjectModel

  init() throws {
    let fixture = try MigrationFixture()
    self.fixture = fixture
    // Part of every hash: mapping models are found by their versions, and each test needs its own.
    let tag = "versionHashModifier=\"\(UUID().uuidString)\""
    old = try fixture.model(
      ModelText.entity("Author", tag, ModelText.text("name"), ModelText.many("books", "Book", "author"))
        + ModelText.entity(
          "Book", tag, ModelText.text("title"), ModelText.number("year"),
          ModelText.one("author", "Author", "books"), ModelText.many("notes", "Note", "book"))
        + ModelText.entity("Note", tag, ModelText.text("text"), ModelText.one("book", "Book", "notes")))
    new = try fixture.model(
      ModelText.entity(
        "Writer", tag, ModelText.text("fullName"), ModelText.many("works", "Work", "writer"),
        ModelText.one("badge", "Badge"))
        + ModelText.entity(
          "Work", tag, ModelText.text("title"), ModelText.text("shelf"),
          ModelText.one("writer", "Writer", "works"), ModelText.many("remarks", "Remark", "work"))
        + ModelText.entity(
          "Remark", tag, ModelText.text("text"), ModelText.text("about"),
          ModelText.one("work", "Work", "remarks"), ModelText.one("of", "Writer"))
        + ModelText.entity("Badge", tag, ModelText.text("name")))
    try fixture.open(old, options: nil) { context in
      for name in ["Jane", "Anne", "Nobody"] {
        let author = context.make("Author", ["name": name])
        for year in [1790, 1811, 1815] {
          let book = context.make("Book", ["title": "\(name) \(year)", "year": year, "author": author])
          for number in 1...3 { context.make("Note", ["text": "\(name) \(year) \(number)", "book": book]) }
        }
      }
      try context.save()
    }
  }

  // MARK: Document

  private static func property(
    _ id: Int, _ name: String, _ more: [String: String] = [:], isLink: Bool = false
  ) -> String {
    let fields = ([("name", name)] + more.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }).map {
      "<attribute name=\"\($0.0)\" type=\"string\">\($0.1)</attribute>"
    }
    return "<object type=\"\(isLink ? "XDDEVRELATIONSHIPMAPPING" : "XDDEVATTRIBUTEMAPPING")\" id=\"z\(id)\">"
      + fields.joined() + "</object>"
  }

  private static func entity(
    _ id: Int, _ number: Int, _ from: String, _ to: String, _ more: [String: String] = [:],
    attributes: ClosedRange<Int>? = nil, links: ClosedRange<Int>? = nil
  ) -> String {
    let fields =
      [
        ("sourcename", from), ("destinationname", to), ("mappingnumber", "\(number)"),
        ("mappingtypename", "Undefined"), ("autogenerateexpression", "1"),
      ].filter { !$0.1.isEmpty } + more.map { ($0.key, $0.value) }
    func list(_ name: String, _ ids: ClosedRange<Int>?) -> String {
      "<relationship name=\"\(name)\" type=\"0/0\" idrefs=\"\(ids.map { $0.map { "z\($0)" }.joined(separator: " ") } ?? "")\"></relationship>"
    }
    return "<object type=\"XDDEVENTITYMAPPING\" id=\"z\(id)\">"
      + fields.map { "<attribute name=\"\($0.0)\" type=\"string\">\($0.1)</attribute>" }.joined()
      + list("attributemappings", attributes) + list("relationshipmappings", links) + "</object>"
  }

  /// An empty archive of a dictionary with one text, as the editor stores user info.
  private static let userInfo = try! NSKeyedArchiver.archivedData(
    withRootObject: NSDictionary(dictionary: ["shelf": "up"]), requiringSecureCoding: false
  ).base64EncodedString()

  private func document(
    from source: String, to destination: String, filter: String = "name != 'Nobody'",
    mapping: String = "BookToWork", unknown: String = ""
  ) -> String {
    let policy = String(reflecting: CenturyPolicy.self)
    let objects = [
      Self.property(1, "fullName", ["sourcekeypath": "$source.name"]),
      Self.property(
        2, "works", ["sourcekeypath": "$source.books", "sourcemappingname": mapping], isLink: true),
      Self.property(
        3, "badge", ["sourcekeypath": "$source", "sourcemappingname": "AuthorToBadge"], isLink: true),
      Self.entity(
        10, 1, "Author", "Writer", ["sourcefilterpredicatestring": filter], attributes: 1...1, links: 2...3),
      Self.property(4, "title"),
      Self.property(5, "shelf", ["userinfodata": Self.userInfo]),
      Self.property(
        6, "writer", ["sourcekeypath": "author", "sourcemappingname": "AuthorToWriter"], isLink: true),
      Self.property(
        7, "remarks", ["sourcekeypath": "$source.notes", "sourcemappingname": "NoteToRemark"], isLink: true),
      Self.entity(
        11, 2, "Book", "Work",
        [
          "sourcefilterpredicatestring": "year &gt; 1800", "migrationpolicyclassname": policy,
          "userinfodata": Self.userInfo,
        ], attributes: 4...5, links: 6...7),
      Self.property(20, "text"),
      Self.property(21, "about", ["sourcekeypath": "$source.book.title"]),
      Self.property(
        22, "work", ["sourcekeypath": "$source.book", "sourcemappingname": "BookToWork"], isLink: true),
      Self.property(
        23, "of", ["sourcekeypath": "$source.book.author", "sourcemappingname": "AuthorToWriter"],
        isLink: true),
      Self.entity(12, 3, "Note", "Remark", attributes: 20...21, links: 22...23),
      Self.property(30, "name"),
      Self.entity(13, 4, "Author", "Badge", attributes: 30...30),
      "<object type=\"XDDEVMAPPINGMODEL\" id=\"z40\">"
        + "<attribute name=\"sourcemodelpath\" type=\"string\">Model.xcdatamodeld/\(source).xcdatamodel</attribute>"
        + "<attribute name=\"destinationmodelpath\" type=\"string\">Model.xcdatamodeld/\(destination).xcdatamodel</attribute>"
        + unknown
        + "<relationship name=\"entitymappings\" type=\"0/0\" idrefs=\"z10 z11 z12 z13\"></relationship></object>",
    ]
    return "<?xml version=\"1.0\" standalone=\"yes\"?>\n<database>\(objects.joined())</database>"
  }

  private func expectMigrated(_ context: NSManagedObjectContext) throws {
    let writers = try context.listed("Writer", by: "fullName")
    let works = try context.listed("Work", by: "title")
    #expect(writers.keys.sorted() == ["Anne", "Jane"])
    #expect(
      works.keys.sorted() == [
        "Anne 1811", "Anne 1815", "Jane 1811", "Jane 1815", "Nobody 1811", "Nobody 1815",
      ])
    #expect(works.values.allSatisfy { $0.text("shelf") == "19 up" })
    for name in ["Anne", "Jane"] {
      #expect(writers[name]?.texts("works", "title") == ["\(name) 1811", "\(name) 1815"])
      #expect((writers[name]?.value(forKey: "badge") as? NSManagedObject)?.text("name") == name)
    }
    for (title, work) in works {
      let author = String(title.prefix { $0 != " " })
      #expect(
        (work.value(forKey: "writer") as? NSManagedObject)?.text("fullName")
          == (author == "Nobody" ? nil : author))
      #expect(work.texts("remarks", "text") == (1...3).map { "\(title) \($0)" })
    }
    let remarks = try context.listed("Remark", by: "text")
    #expect(remarks.count == 27)
    for (text, remark) in remarks {
      let (author, title) = (String(text.prefix { $0 != " " }), String(text.dropLast(2)))
      #expect(remark.text("about") == title)
      #expect(
        (remark.value(forKey: "work") as? NSManagedObject)?.text("title")
          == (title.hasSuffix("1790") ? nil : title))
      #expect(
        (remark.value(forKey: "of") as? NSManagedObject)?.text("fullName")
          == (author == "Nobody" ? nil : author))
    }
    try #expect(context.texts("Badge", "name") == ["Anne", "Jane", "Nobody"])
  }

  // MARK: Migrating

  @Test func `Filters, key paths and mapping names link exactly`() throws {
    let names = (try fixture.bundle(old), try fixture.bundle(new))
    try fixture.bundle(document(from: names.0, to: names.1), at: "Editor.xcmappingmodel/xcmapping.xml")
    try fixture.open(new) { try expectMigrated($0) }
  }

  @Test func `A compiled mapping does the same`() throws {
    let names = (try fixture.bundle(old), try fixture.bundle(new))
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
      "compiled-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    let source = directory.appendingPathComponent("Editor.xcmappingmodel")
    try FileManager.default.createDirectory(at: source, withIntermediateDirectories: true)
    try Data(document(from: names.0, to: names.1).utf8).write(
      to: source.appendingPathComponent("xcmapping.xml"))
    for (name, model) in [(names.0, old), (names.1, new)] {
      try model.write(to: directory.appendingPathComponent("\(name).xcdatamodel"))
    }
    let file = try CompiledMappingFile.file(
      of: source.path, models: CompiledMappingFile.models(beside: source.path))
    let compiled = directory.appendingPathComponent(file.name)
    try file.data.write(to: compiled)
    let mapping = try NSMappingModel.load(contentsOf: compiled)
    let shelf = mapping.entityMappings.flatMap { $0.attributeMappings ?? [] }.first { $0.name == "shelf" }
    #expect(shelf?.userInfo?["shelf"] as? String == "up")
    let copy = TestDatabase.place(directory.appendingPathComponent("Copy.sqlite"))
    try NSMigrationManager(sourceModel: old, destinationModel: new).migrateStore(
      from: fixture.url, sourceType: TestDatabase.type, with: mapping, toDestinationURL: copy,
      destinationType: TestDatabase.type)
    try fixture.open(new, at: copy, options: nil) { try expectMigrated($0) }
  }

  @Test func `The types of mappings follow from what they have`() throws {
    func loaded(_ old: NSManagedObjectModel, _ new: NSManagedObjectModel, _ text: (String, String) -> String)
      throws
      -> [NSEntityMappingType]
    {
      let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
        "types-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: directory) }
      let file = directory.appendingPathComponent("Types.xcmappingmodel")
      try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
      try Data(text("One", "Two").utf8).write(to: file.appendingPathComponent("xcmapping.xml"))
      for (name, model) in [("One", old), ("Two", new)] {
        try model.write(to: directory.appendingPathComponent("\(name).xcdatamodel"))
      }
      return try NSMappingModel.load(contentsOf: file).entityMappings.map(\.mappingType)
    }
    #expect(
      try loaded(old, new) { document(from: $0, to: $1) } == [
        .transformEntityMappingType, .customEntityMappingType, .transformEntityMappingType,
        .transformEntityMappingType,
      ])
    let same = try fixture.model(ModelText.entity("Kept", "", ModelText.text("name")))
    let more = try fixture.model(
      ModelText.entity("Kept", "", ModelText.text("name"))
        + ModelText.entity("Made", "", ModelText.text("name")))
    func mapping(_ from: String, _ to: String) -> (String, String) -> String {
      { source, destination in
        "<?xml version=\"1.0\" standalone=\"yes\"?>\n<database>" + Self.property(1, "name")
          + Self.entity(10, 1, from, to, attributes: 1...1)
          + "<object type=\"XDDEVMAPPINGMODEL\" id=\"z40\">"
          + "<attribute name=\"sourcemodelpath\" type=\"string\">Model.xcdatamodeld/\(source).xcdatamodel</attribute>"
          + "<attribute name=\"destinationmodelpath\" type=\"string\">Model.xcdatamodeld/\(destination).xcdatamodel"
          + "</attribute><relationship name=\"entitymappings\" type=\"0/0\" idrefs=\"z10\"></relationship></object>"
          + "</database>"
      }
    }
    try #expect(loaded(same, more, mapping("Kept", "Kept")) == [.copyEntityMappingType])
    try #expect(loaded(same, more, mapping("", "Made")) == [.addEntityMappingType])
    try #expect(loaded(more, same, mapping("Made", "")) == [.removeEntityMappingType])
  }

  // MARK: Reading

  private func read(_ text: String) throws -> MappingModelSchema {
    try MappingModelFile.read(Data(text.utf8), path: "xcmapping.xml")
  }

  private func failure(_ text: String) -> String {
    do {
      _ = try read(text)
      return ""
    } catch {
      return "\(error)"
    }
  }

  @Test func `A mapping that is not there is an error, not a lost link`() {
    let message = failure(document(from: "A", to: "B", mapping: "BookToWrok"))
    #expect(message.contains("'BookToWrok'"))
    #expect(message.contains("BookToWork, NoteToRemark"))
  }

  @Test func `An unreadable filter or key path is an error`() {
    #expect(failure(document(from: "A", to: "B", filter: "name = = 1")).contains("name = = 1"))
    let text = document(from: "A", to: "B").replacing("$source.notes", with: "$source.no tes")
    #expect(failure(text).contains("$source.no tes"))
  }

  @Test func `What is not known is listed`() throws {
    let unknown = "<attribute name=\"newsince\" type=\"string\">27</attribute>"
    #expect(try read(document(from: "A", to: "B")).remarks == [])
    let schema = try read(document(from: "A", to: "B", unknown: unknown))
    #expect(schema.remarks == ["the mapping model has 'newsince', which is not known here"])
  }

  // MARK: Versions

  @Test func `A renamed version is found by what it has`() throws {
    try fixture.bundle(old)
    try fixture.bundle(new)
    try fixture.bundle(
      document(from: "Gone", to: "Gone 2"), at: "Editor.xcmappingmodel/xcmapping.xml")
    try fixture.open(new) { try expectMigrated($0) }
  }

  @Test func `Of several versions that fit, none is guessed`() throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
      "stale-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    let mapping = directory.appendingPathComponent("Editor.xcmappingmodel")
    try FileManager.default.createDirectory(at: mapping, withIntermediateDirectories: true)
    try Data(document(from: "Gone", to: "Gone 2").utf8).write(
      to: mapping.appendingPathComponent("xcmapping.xml"))
    let more = try fixture.model(
      ModelText.entity("Author", "", ModelText.text("name"), ModelText.text("more"))
        + ModelText.entity("Book") + ModelText.entity("Note"))
    for (name, model) in [("One", old), ("Two", more), ("Three", new)] {
      try model.write(to: directory.appendingPathComponent("\(name).xcdatamodel"))
    }
    #expect {
      try NSMappingModel.load(contentsOf: mapping)
    } throws: {
      let message = "\($0)"
      return message.contains("'Gone'") && message.contains("One.xcdatamodel")
        && message.contains("Two.xcdatamodel")
        && !message.contains("Three.xcdatamodel")
    }
  }
}

/// Puts the century of the old year on the shelf.
final class CenturyPolicy: NSEntityMigrationPolicy {
  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance])
    let century = (sInstance.value(forKey: "year") as? Int ?? 0) / 100 + 1
    made.first?.setValue("\(century) \(mapping.userInfo?["shelf"] ?? "")", forKey: "shelf")
  }
}
