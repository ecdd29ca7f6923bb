import CoreDataModelSchema
import Foundation
import TestSupport
import Testing

@testable import CoreDataModelFiles

@Suite struct CompilingTests {
  private static let model = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
        <entity name="Book" representedClassName="Book">
            <attribute name="title" optional="YES" attributeType="String"/>
            <attribute name="pages" optional="YES" attributeType="Integer 32"/>
            <relationship name="authors" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Author" inverseName="books" inverseEntity="Author"/>
            <fetchIndex name="byTitle"><fetchIndexElement property="title" type="Binary" order="ascending"/></fetchIndex>
            <fetchedProperty name="long" optional="YES"><fetchRequest name="fetchedPropertyFetchRequest" entity="Book" predicateString="PREDICATE"/></fetchedProperty>
        </entity>
        <entity name="Author" representedClassName="Author">
            <relationship name="books" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Book" inverseName="authors" inverseEntity="Book"/>
        </entity>
        <fetchRequest name="all" entity="Book" predicateString="PREDICATE"/>
    </model>
    """

  private func schema(_ predicate: String) throws -> ModelSchema {
    let text = Self.model.replacing(
      "PREDICATE",
      with: predicate.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
        .replacing("\"", with: "&quot;"))
    return try ModelContentsReader.read(Data(text.utf8), path: "contents")
  }

  @Test(.enabled(if: SharedCorpus.root != nil), arguments: SharedCorpus.models)
  func `a compiled model reads back as its source`(path: String) throws {
    let source = try ModelContentsReader.read(SharedCorpus.data(path), path: path)
    let compiled = try CompiledModelFile.archive(source, path: path)
    let read = try CompiledModelReader.read(compiled, path: "compiled")
    #expect(read.entityVersionHashes() == source.entityVersionHashes())
    #expect(read.canonical() == source.canonical())
    // A compiled model compiles to itself.
    #expect(try CompiledModelFile.archive(read, path: path) == compiled)
  }

  @Test(arguments: [
    "(books UNION authors) == {1}", "SUBQUERY(authors, $a, ANY $a.books.pages > 3).@count > 1",
    #"title IN ({"a", "b"} INTERSECT {"b", "c"})"#, "TERNARY(pages > 3, 1, 2) == 1",
    "SUBQUERY(authors, $a, SUBQUERY($a.books, $b, $b.pages > 3).@count > 1).@count > 0",
  ])
  func `a predicate of any form survives compiling`(_ predicate: String) throws {
    let source = try schema(predicate)
    let read = try CompiledModelReader.read(
      CompiledModelFile.archive(source, path: "model"), path: "compiled")
    #expect(read.canonical() == source.canonical())
  }

  /// Predicates with the same form inside itself, near the limit of nesting: most levels take one, some two or three.
  private static let _nested: [String] = {
    func nested(_ count: Int, _ core: String, _ around: (String) -> String) -> String {
      (0..<count).reduce(core) { text, _ in around(text) }
    }
    return [
      nested(15, "pages == 1") { "NOT (pages == 2 AND \($0))" },
      nested(15, "pages == 1") { "(pages == 2 AND (pages == 3 OR \($0)))" },
      nested(40, "pages") { "abs:(\($0))" } + " == 1", nested(30, "pages") { "1 + (\($0))" } + " == 1",
      nested(30, "pages") { "(\($0)) * 2" } + " == 1", "1 == " + nested(40, "pages") { "abs:(\($0))" },
      nested(30, "title") { "FUNCTION(\($0), 'first:', 1)" } + " == 1",
      nested(30, "title") { "FUNCTION('x', 'first:', \($0))" } + " == 1",
      nested(20, "pages") { "TERNARY(pages == 1, \($0), 2)" } + " == 1",
      nested(20, "pages") { "TERNARY(pages == 1, 2, \($0))" } + " == 1",
      nested(20, "pages == 1") { "TERNARY(\($0), 1, 2) == 1" },
      nested(20, "pages") { "TERNARY(\($0) == 1, 1, 2)" } + " == 1",
      nested(40, "books") { "(\($0) UNION authors)" } + " == {1}",
      nested(40, "books") { "(authors MINUS \($0))" } + " == {1}",
      nested(12, "pages == 1") { "SUBQUERY(authors, $a, \($0)).@count > 0" },
      nested(20, "authors") { "SUBQUERY(\($0), $a, $a.pages > 1)" } + ".@count > 0",
      nested(40, "pages") { "{1, \($0)}" } + " == 1",
    ]
  }()

  @Test(arguments: _nested)
  func `a predicate that is nested deeply has an archived form, which can be read`(_ predicate: String) throws
  {
    #expect(PredicateArchive(reader: .thisLibrary).predicate(predicate) != nil)
    let compiled = try CompiledModelFile.archive(schema(predicate), path: "model")
    let read = try CompiledModelReader.read(compiled, path: "compiled")
    #expect(read.fetchRequests.first?.predicate?.isEmpty == false)
  }

  @Test func `values without a field in archives survive compiling`() throws {
    let text = """
      <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
      <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
          <entity name="Book" representedClassName="NSManagedObject" elementID="Book" codeGenerationType="category" coreSpotlightDisplayNameExpression="title">
              <attribute name="title" attributeType="String" customClassName="Title" elementID="title" allowsCloudEncryption="YES"/>
              <attribute name="price" attributeType="Decimal" minValueString="1.00" maxValueString="99.90" defaultValueString="5.0"/>
              <attribute name="pages" attributeType="Integer 32" usesScalarValueType="YES"/>
              <attribute name="size" optional="YES" attributeType="Composite" composite="Size"/>
              <attribute name="count" attributeType="Integer 64" derived="YES" derivationExpression="pages . @count"/>
              <relationship name="next" maxCount="1" destinationEntity="Book" elementID="next"/>
              <fetchedProperty name="long" transient="NO" elementID="long"><fetchRequest name="fetchedPropertyFetchRequest" entity="Book" includeSubentities="NO"/></fetchedProperty>
          </entity>
          <fetchRequest name="all" entity="Book" includePropertyValues="NO" includesPendingChanges="NO" returnObjectsAsFaults="NO" returnDistinctResults="YES"/>
          <configuration name="Cloud" usedWithCloudKit="YES"><memberEntity name="Book"/></configuration>
          <composite name="Size"><attribute name="width" optional="YES" attributeType="Float" usesScalarValueType="YES"/></composite>
          <composite name="Spare"><attribute name="size" optional="YES" attributeType="Composite" composite="Size"/></composite>
      </model>
      """
    let source = try ModelContentsReader.read(Data(text.utf8), path: "contents")
    let compiled = try CompiledModelFile.archive(source, path: "m")
    let read = try CompiledModelReader.read(compiled, path: "compiled")
    #expect(read.canonical() == source.canonical())
    #expect(read.entityVersionHashes() == source.entityVersionHashes())
    #expect(read.composites.keys.sorted() == ["Size", "Spare"])
  }

  @Test(arguments: [
    "title BEGINSWITH[cd] \"a\"", "title ENDSWITH \"z\"", "pages BETWEEN {1, 2}", "title IN {\"a\", \"b\"}",
    "TRUEPREDICATE", "NOT (pages == nil)", "ANY authors.books.title LIKE[c] \"x*\"",
    "SUBQUERY(authors, $a, $a.books.@count > 1).@count > 0", "pages == 1 OR pages == 2 AND title != \"\"",
    "authors.@count >= 3", "pages == $PAGES", "title == $FETCH_SOURCE.title", "title CONTAINS[n] \"q\"",
    "TERNARY(pages > 1, 2, 3) == pages", "pages + 1 == 3",
  ])
  func `a predicate survives compiling`(predicate: String) throws {
    let source = try schema(predicate)
    let read = try CompiledModelReader.read(CompiledModelFile.archive(source, path: "m"), path: "compiled")
    let archive = PredicateArchive(reader: .thisLibrary)
    let text = try #require(read.fetchRequests.first?.predicate)
    // Texts may differ in form, but compile to the same archive.
    func form(_ text: String) throws -> Data {
      KeyedArchiveWriter.archive(try #require(archive.predicate(text)))
    }
    #expect(try form(text) == form(predicate), "\(text)")
    #expect(read.entities.last?.fetchedProperties.first?.request.predicate == text)
  }

  @Test func `a predicate that has no compiled form is named`() throws {
    let source = try schema("pages ==")
    #expect {
      try CompiledModelFile.archive(source, path: "Books.xcdatamodel")
    } throws: {
      "\($0)".contains("fetch request 'all'") && "\($0)".contains("Books.xcdatamodel")
    }
  }

  @Test func `every version is compiled and the directory has its hashes`() throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: directory) }
    let bundle = directory.appendingPathComponent("Books.xcdatamodeld")
    for (name, predicate) in [("Books", "pages > 1"), ("Books 2", "pages > 2")] {
      let version = bundle.appendingPathComponent("\(name).xcdatamodel")
      try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
      try Data(Self.model.replacing("PREDICATE", with: predicate.replacing(">", with: "&gt;")).utf8)
        .write(to: version.appendingPathComponent("contents"))
    }
    let current = try PropertyListSerialization.data(
      fromPropertyList: ["_XCCurrentVersionName": "Books 2.xcdatamodel"], format: .xml, options: 0)
    try current.write(to: bundle.appendingPathComponent(".xccurrentversion"))

    let files = try CompiledModelFile.files(of: bundle.path)
    #expect(
      files.map(\.name)
        == ["Books.momd/Books 2.mom", "Books.momd/Books.mom", "Books.momd/VersionInfo.plist"])
    for file in files {
      let url = directory.appendingPathComponent(file.name)
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try file.data.write(to: url)
    }
    let compiled = directory.appendingPathComponent("Books.momd").path
    #expect(try ModelVersions(path: compiled).current.name == "Books 2")
    #expect(
      try ModelFile.load(path: compiled).entityVersionHashes()
        == ModelFile.load(path: bundle.path).entityVersionHashes())
    let info = try PropertyListSerialization.propertyList(from: files[2].data, options: [], format: nil)
    let hashes = (info as? [String: Any])?["NSManagedObjectModel_VersionHashes"] as? [String: [String: Data]]
    #expect(
      hashes?["Books"] == (try ModelFile.load(path: bundle.path).entityVersionHashes().mapValues { Data($0) })
    )
  }

  @Test(
    .enabled(if: SharedCorpus.root != nil),
    arguments: [
      "compiled/coredataplus/SampleModel/SampleModel.momd",
      "compiled/coredataplus/SampleModel3/SampleModel3.momd",
    ])
  func `a compiled directory says what its compiler said`(momd: String) throws {
    let path = SharedCorpus.root!.appendingPathComponent(momd).path
    func info(_ data: Data) throws -> NSDictionary? {
      try PropertyListSerialization.propertyList(from: data, options: [], format: nil) as? NSDictionary
    }
    let ours = try #require(try CompiledModelFile.files(of: path).first { $0.name.hasSuffix(".plist") })
    let theirs = try #require(try info(SharedCorpus.data(momd + "/VersionInfo.plist")))
    let made = try #require(try info(ours.data))
    for key in theirs.allKeys { #expect((made[key] as? NSObject) == theirs[key] as? NSObject, "\(key)") }
  }

  // MARK: Mapping models

  @Test(.enabled(if: SharedCorpus.root != nil))
  func `a compiled mapping model compiles to what it says`() throws {
    let path = SharedCorpus.root!.appendingPathComponent("compiled/coredataplus/SampleModel/V2toV3.cdm").path
    let file = try CompiledMappingFile.file(of: path, models: [])
    #expect(file.name == "V2toV3.cdm")
    #expect(try MappingModelFile.read(file.data, path: "compiled") == MappingModelFile.load(path: path))
  }

  @Test(.enabled(if: SharedCorpus.root != nil))
  func `an edited mapping model compiles to what Xcode makes of it`() throws {
    let root = SharedCorpus.root!.appendingPathComponent("compiled")
    let theirs = try MappingModelFile.load(
      path: root.appendingPathComponent("coredataplus/SampleModel/V2toV3.cdm").path)
    let source = root.appendingPathComponent("xcmappingmodel/CoreDataPlus-V2toV3.xcmappingmodel.xml").path
    let models = [root.appendingPathComponent("coredataplus/SampleModel/SampleModel.momd").path]
    let ours = try MappingModelFile.read(
      CompiledMappingFile.file(of: source, models: models).data, path: "compiled")
    func byName(_ model: MappingModelSchema) -> [MappingModelSchema.Entity] {
      model.entities.map {
        var entity = $0
        entity.attributes.sort { $0.name < $1.name }
        entity.relationships.sort { $0.name < $1.name }
        return entity
      }.sorted { $0.name < $1.name }
    }
    #expect(byName(ours) == byName(theirs))
  }

  @Test(.enabled(if: SharedCorpus.root != nil))
  func `a mapping model whose versions are not found says so`() throws {
    let source = SharedCorpus.root!.appendingPathComponent(
      "compiled/xcmappingmodel/CoreDataPlus-V2toV3.xcmappingmodel.xml"
    ).path
    #expect {
      try CompiledMappingFile.file(of: source, models: [])
    } throws: {
      "\($0)".contains("model version 'SampleModel2'")
    }
  }
}
