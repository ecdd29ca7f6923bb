import Testing

@testable import CoreData

@Suite("Loading a model file")
struct ModelLoadingTests {
  private let _contents = """
    <?xml version="1.0" encoding="UTF-8"?>
    <model userDefinedModelVersionIdentifier="3">
      <entity name="Author"><attribute name="name" optional="YES" attributeType="String"/>
        <relationship name="books" optional="YES" toMany="YES" destinationEntity="Book" inverseName="author"/></entity>
      <entity name="Book"><attribute name="pages" attributeType="Integer 16" defaultValueString="12" minValueString="1"/>
        <attribute name="published" optional="YES" attributeType="Date" defaultDateTimeInterval="60"/>
        <relationship name="author" optional="YES" maxCount="1" destinationEntity="Author" inverseName="books"/></entity>
    </model>
    """

  private func _file(_ text: String) throws -> URL {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(
      "\(UUID().uuidString).xcdatamodeld/V.xcdatamodel/contents")
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url)
    return url.deletingLastPathComponent().deletingLastPathComponent()
  }

  @Test func `an .xcdatamodeld becomes connected entities with defaults`() throws {
    let url = try _file(_contents)
    defer { try? FileManager.default.removeItem(at: url) }
    let model = try #require(NSManagedObjectModel(contentsOf: url))
    let book = try #require(model.entitiesByName["Book"])
    #expect(book.relationshipsByName["author"]?.inverseRelationship?.name == "books")
    #expect(book.attributesByName["pages"]?.defaultValue as? Int == 12)
    #expect(
      book.attributesByName["published"]?.defaultValue as? Date == Date(timeIntervalSinceReferenceDate: 60))
    #expect(book.attributesByName["pages"]?.isOptional == false)
    #expect(model.versionIdentifiers == ["3"])
    let frozen = try model.frozen()
    #expect(frozen.entities.count == 2)
  }

  @Test func `models of one file are independent of each other`() throws {
    let url = try _file(_contents)
    defer { try? FileManager.default.removeItem(at: url) }
    let contents = url.appendingPathComponent("V.xcdatamodel/contents")
    // Old enough to be kept.
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -600)], ofItemAtPath: contents.path)
    let first = try NSManagedObjectModel.load(contentsOf: url)
    let hashes = first.entityVersionHashesByName
    first.entitiesByName["Book"]?.attributesByName["pages"]?.isOptional = true
    first.entitiesByName["Author"]?.name = "Writer"
    #expect(first.entityVersionHashesByName != hashes)
    let second = try NSManagedObjectModel.load(contentsOf: url)
    #expect(second.entityVersionHashesByName == hashes)
    #expect(second.entitiesByName["Book"]?.attributesByName["pages"]?.isOptional == false)
    #expect(second.entitiesByName["Book"]?.attributesByName["pages"]?.defaultValue as? Int == 12)
    _ = try second.frozen()
    let third = try NSManagedObjectModel.load(contentsOf: url)
    third.entitiesByName["Book"]?.attributesByName["pages"]?.isOptional = true
    #expect(try third.frozen().versionHashes != hashes)
    #expect(second.entityVersionHashesByName == hashes)
  }

  @Test func `what can't be read is nil, and load says why`() throws {
    let url = try _file("<model><entity name=\"A\" parentEntity=\"B\"/></model>")
    defer { try? FileManager.default.removeItem(at: url) }
    #expect(NSManagedObjectModel(contentsOf: url) == nil)
    let error = #expect(throws: (any Error).self) { try NSManagedObjectModel.load(contentsOf: url) }
    #expect(error.map { "\($0)" }?.contains("'B' is not in the model") == true)
    #expect(NSManagedObjectModel(contentsOf: URL(fileURLWithPath: "/nowhere.momd")) == nil)
    #expect(NSManagedObjectModel(contentsOf: URL(string: "https://example.org/a.momd")!) == nil)
  }

  @Test func `the models of a bundle merge`() throws {
    let root = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).resources")
    defer { try? FileManager.default.removeItem(at: root) }
    for (name, entity) in [("One", "A"), ("Two", "B")] {
      let directory = root.appendingPathComponent("\(name).xcdatamodeld/\(name).xcdatamodel")
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      try Data("<model><entity name=\"\(entity)\"/></model>".utf8).write(
        to: directory.appendingPathComponent("contents"))
    }
    let bundle = try #require(Bundle(url: root))
    let model = try #require(NSManagedObjectModel.mergedModel(from: [bundle]))
    #expect(Set(model.entitiesByName.keys) == ["A", "B"])
    #expect(ModelSearch.model(named: "Two", in: bundle)?.lastPathComponent == "Two.xcdatamodeld")
    let metadata: [String: Any] = [
      "NSStoreModelVersionHashes": ["B": try #require(model.entitiesByName["B"]).versionHash]
    ]
    #expect(
      NSManagedObjectModel.mergedModel(from: [bundle], forStoreMetadata: metadata)?.entities.map(\.name) == [
        "B"
      ])
    #expect(NSManagedObjectModel.mergedModel(from: []) == nil)
  }

  @Test func `a reference resolves only to the promised checksum`() throws {
    let url = try _file(_contents)
    defer { try? FileManager.default.removeItem(at: url) }
    let checksums = try NSManagedObjectModel.__checksumsForVersionedModel(at: url)
    #expect(checksums.keys.sorted() == ["V"])
    let checksum = try #require(checksums["V"])
    let reference = NSManagedObjectModelReference(fileURL: url, versionChecksum: checksum)
    #expect(reference.resolvedModel.entities.count == 2)
    #expect(reference.resolvedModel === reference.resolvedModel)
    let wrong = NSManagedObjectModelReference(fileURL: url, versionChecksum: "other")
    let error = #expect(throws: (any Error).self) { try wrong.resolve() }
    #expect(error.map { "\($0)" }?.contains(checksum) == true)
  }
}
