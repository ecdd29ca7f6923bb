import CoreDataModelSchema
import Foundation
import Testing

@testable import CoreDataModelFiles

@Suite("The contents of an .xcdatamodel")
struct ModelContentsTests {
  private func _read(_ xml: String) throws -> ModelSchema {
    try ModelContentsReader.read(Data(xml.utf8), path: "contents")
  }

  private func _failure(_ xml: String) -> ModelFileError? {
    do {
      _ = try _read(xml)
      return nil
    } catch {
      return error as? ModelFileError
    }
  }

  // MARK: Meaning

  @Test func `an attribute is mandatory unless it says optional`() throws {
    let attributes = try _read(
      """
      <model><entity name="A"><attribute name="a" attributeType="String"/>
      <attribute name="b" optional="YES" attributeType="String"/></entity></model>
      """
    ).entities[0].attributes
    #expect(attributes.map(\.isOptional) == [false, true])
  }

  @Test(arguments: [
    ("Integer 16", "7", SchemaLiteral.integer(7)), ("Integer 64", "0.0", .integer(0)),
    ("Integer 32", "NO", .integer(0)), ("Double", "0.5", .double(0.5)), ("Boolean", "YES", .boolean(true)),
    ("Decimal", "3.141592653589793238462643", .decimal("3.141592653589793238462643")),
    ("String", "", .string("")),
    ("URI", "x://y", .uri("x://y")),
  ])
  func `default values are read by the attribute's type`(type: String, text: String, literal: SchemaLiteral)
    throws
  {
    let model = try _read(
      """
      <model><entity name="A"><attribute name="a" attributeType="\(type)" defaultValueString="\(text)"/></entity></model>
      """)
    #expect(model.entities[0].attributes[0].defaultValue == literal)
  }

  @Test func `a limit of a string is a length, of a date a moment`() throws {
    let attributes = try _read(
      """
      <model><entity name="A"><attribute name="s" attributeType="String" minValueString="3" maxValueString="5"
      regularExpressionString="[a-z]+"/><attribute name="d" attributeType="Date" minDateTimeInterval="10"
      defaultDateTimeInterval="20"/></entity></model>
      """
    ).entities[0].attributes
    #expect(
      attributes[0].limits
        == AttributeLimits(minimum: .integer(3), maximum: .integer(5), regularExpression: "[a-z]+"))
    #expect(attributes[1].limits.minimum == .date(10))
    #expect(attributes[1].defaultValue == .date(20))
  }

  @Test func `a to-many without maxCount has no limit`() throws {
    let relationships = try _read(
      """
      <model><entity name="A"><relationship name="one" deletionRule="Deny" destinationEntity="A"/>
      <relationship name="many" toMany="YES" minCount="2" destinationEntity="A" inverseName="one"/></entity></model>
      """
    ).entities[0].relationships
    #expect(relationships.map(\.maxCount) == [1, 0])
    #expect(relationships.map(\.isToMany) == [false, true])
    #expect(relationships.map(\.deleteRule) == [.deny, .nullify])
    #expect(relationships[1].minCount == 2)
  }

  @Test func `an attribute names its composite, whose elements it then has`() throws {
    let model = try _read(
      """
      <model><entity name="A"><attribute name="p" attributeType="Composite" composite="Point"/></entity>
      <composite name="Point"><attribute name="y" attributeType="Double"/><attribute name="x" attributeType="Double"/>
      </composite></model>
      """)
    #expect(model.entities[0].attributes[0].elements.map(\.name) == ["y", "x"])
  }

  @Test func `the older ways to say index are read`() throws {
    let entity = try _read(
      """
      <model><entity name="A"><attribute name="a" attributeType="String" indexed="YES"/><compoundIndexes><compoundIndex>
      <index value="a,b"/></compoundIndex><compoundIndex><index value="c"/><index value="d"/></compoundIndex>
      </compoundIndexes></entity></model>
      """
    ).entities[0]
    #expect(entity.attributes[0].isIndexed)
    #expect(entity.compoundIndexes == [["a", "b"], ["c", "d"]])
  }

  @Test func `unknown elements and attributes are skipped`() throws {
    let model = try _read(
      """
      <model novel="YES"><entity name="A" abstract="YES"><wing span="3"><wing/></wing></entity>
      <elements><element name="A" positionX="1"/></elements></model>
      """)
    #expect(model.entities.map(\.name) == ["A"])
    #expect(!model.entities[0].isAbstract)
  }

  @Test func `only transient attributes can be untyped`() throws {
    let transient = try _read(
      "<model><entity name=\"A\"><attribute name=\"a\" transient=\"YES\"/></entity></model>")
    #expect(throws: Never.self) { try ModelLayout(transient) }
    let stored = try _read("<model><entity name=\"A\"><attribute name=\"a\"/></entity></model>")
    #expect(throws: ModelLayoutError.self) { try ModelLayout(stored) }
  }

  // MARK: Refusals

  @Test func `a nonsensical value is refused with its line`() {
    let failure = _failure(
      """
      <model>
        <entity name="A">
          <attribute name="a" attributeType="Quaternion"/>
        </entity>
      </model>
      """)
    #expect(failure?.line == 3)
    #expect(failure?.column != nil)
    #expect(failure?.reason.contains("Quaternion") == true)
  }

  @Test(arguments: [
    "", "hello", "<model>", "<other/>", "<model><entity/></model>",
    "<model><entity name=\"A\"><relationship name=\"r\"/></entity></model>",
    "<model><entity name=\"A\"><attribute name=\"a\" optional=\"MAYBE\" attributeType=\"String\"/></entity></model>",
    "<model><entity name=\"A\"><attribute name=\"a\" attributeType=\"Composite\" composite=\"P\"/></entity></model>",
  ])
  func `what is no model is refused`(xml: String) {
    #expect(_failure(xml) != nil)
  }

  @Test func `XML entity declarations are refused`() {
    let bomb = """
      <?xml version="1.0"?><!DOCTYPE model [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
      <model><entity name="&b;"/></model>
      """
    #expect(_failure(bomb)?.reason.contains("document type") == true)
    let external = "<!DOCTYPE model SYSTEM \"file:///etc/passwd\"><model/>"
    #expect(_failure(external)?.reason.contains("document type") == true)
  }

  @Test func `an encoding that could hide a declaration is refused`() {
    #expect(_failure("<?xml version=\"1.0\" encoding=\"UTF-7\"?><model/>")?.reason.contains("UTF-7") == true)
    let utf16 = Data([0xFF, 0xFE]) + "<model/>".data(using: .utf16LittleEndian)!
    #expect(throws: ModelFileError.self) { try ModelContentsReader.read(utf16, path: "contents") }
  }

  @Test func `deep nesting is refused`() {
    let xml =
      "<model>" + String(repeating: "<a>", count: 10_000) + String(repeating: "</a>", count: 10_000)
      + "</model>"
    #expect(_failure(xml)?.reason.contains("deep") == true)
  }

  @Test func `composites that contain themselves are refused`() {
    #expect(
      _failure(
        "<model><composite name=\"P\"><attribute name=\"p\" attributeType=\"Composite\" composite=\"P\"/></composite></model>"
      )?.reason.contains("itself") == true)
    let levels = (0..<12).map { level in
      let members = (0..<10).map {
        level == 0
          ? "<attribute name=\"a\($0)\" attributeType=\"String\"/>"
          : "<attribute name=\"a\($0)\" attributeType=\"Composite\" composite=\"L\(level - 1)\"/>"
      }
      return "<composite name=\"L\(level)\">\(members.joined())</composite>"
    }
    #expect(_failure("<model>\(levels.joined())</model>")?.reason.contains("million") == true)
  }

  // MARK: Writing

  @Test func `every part of the vocabulary survives writing`() throws {
    var entity = EntitySchema(name: "Book \"<&>\"")
    entity.className = ".Book"
    entity.isAbstract = true
    entity.isSyncable = true
    entity.versionHashModifier = "2"
    entity.renamingIdentifier = "Old"
    entity.codeGeneration = .category
    entity.userInfo = ["line\nbreak": "tab\t"]
    entity.uniquenessConstraints = [["b", "a"]]
    entity.compoundIndexes = [["a", "b"]]
    entity.coreSpotlightDisplayNameExpression = "a"
    var index = FetchIndexSchema(
      name: "byA", elements: [.init(property: "a", isRTree: true, isAscending: false)])
    index.elements.append(.init(property: nil, expression: "a + b", expressionType: .integer64))
    index.partialIndexPredicate = "a > 3 && b != \"x\""
    entity.indexes = [index]
    var a = AttributeSchema(
      traits: PropertyTraits(
        name: "a", versionHashModifier: "m", renamingIdentifier: "z", userInfo: ["k": ""]),
      type: .double, defaultValue: .double(0.1))
    a.limits = AttributeLimits(minimum: .double(-1), maximum: .double(1e300))
    a.usesScalarValueType = true
    a.preservesValueInHistoryOnDeletion = true
    a.allowsCloudEncryption = true
    var b = AttributeSchema(traits: PropertyTraits(name: "b"), type: .transformable)
    b.valueTransformerName = "T"
    b.customClassName = "C"
    var c = AttributeSchema(traits: PropertyTraits(name: "c"), type: .binaryData)
    c.allowsExternalBinaryDataStorage = true
    var d = AttributeSchema(traits: PropertyTraits(name: "d"), type: .string)
    d.derivationExpression = "canonical:(a)"
    var e = AttributeSchema(traits: PropertyTraits(name: "e"), type: .composite)
    e.compositeName = "P"
    e.elements = [
      AttributeSchema(traits: PropertyTraits(name: "x"), type: .uuid, defaultValue: .uuid(UUID().uuidString))
    ]
    let f = AttributeSchema(traits: PropertyTraits(name: "f"), type: .date, defaultValue: .date(12.25))
    entity.attributes = [a, b, c, d, e, f]
    entity.relationships = [
      RelationshipSchema(
        traits: PropertyTraits(name: "r", isTransient: true), destination: "Book \"<&>\"", inverse: "r",
        minCount: 2,
        maxCount: 5, deleteRule: .noAction, isOrdered: true)
    ]
    var request = FetchRequestSchema(name: "t", entity: "X", predicate: "a == \"b\"")
    request.resultType = 2
    request.fetchLimit = 3
    request.includesSubentities = false
    request.returnsDistinctResults = true
    entity.fetchedProperties = [FetchedPropertySchema(traits: PropertyTraits(name: "fp"), request: request)]
    var schema = ModelSchema(entities: [entity])
    schema.fetchRequests = [request]
    schema.composites = ["P": e.elements]
    schema.configurations = [ConfigurationSchema(name: "Cloud", entities: ["X"])]
    schema.configurations[0].usedWithCloudKit = true
    schema.versionIdentifiers = ["1.0"]
    #expect(try _read(ModelContentsWriter.write(schema)) == schema)
  }

  @Test func `what XML can't hold is refused`() {
    let schema = ModelSchema(entities: [EntitySchema(name: "A\u{0}")])
    #expect(throws: ModelFileError.self) { try ModelContentsWriter.write(schema) }
  }
}
