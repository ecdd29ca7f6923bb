import Testing

@testable import SwiftDataExpansion

@Suite struct PropertyExpansionTests {
  private func _expand(_ role: String, _ declaration: String) -> String? {
    MacroHarness.attached(
      "PersistedPropertyMacro", role, to: declaration, attribute: "@_PersistedProperty(at: 2)", missing: nil,
      context: ["@Model final class Book {}"]
    ).source
  }

  @Test func `A variable gets accessors`() {
    #expect(
      _expand("accessor", "@Attribute(.unique) var title: String = \"\" // a title\n") == """
        @storageRestrictions(accesses: _$backingData, initializes: _title)
        init(initialValue) {
          _$backingData.begin(\\.title, at: 2, with: initialValue)
          _title = _SwiftDataNoType()
        }
        get {
          _$backingData.value(\\.title, at: 2, of: self)
        }
        set {
          _$backingData.set(\\.title, at: 2, of: self, to: newValue)
        }
        """)
  }

  @Test func `An error about the type is shown at the type`() {
    // The piece begins on line 1, in column 1.
    let source = _expand("accessor", "\n  var title: Title") ?? ""
    #expect(
      source.contains(
        """
        get {
          #sourceLocation(file: "/Sources/App/Models.swift", line: 1)
        _$backingData
                    .value(\\.title, at: 2, of: self)
        #sourceLocation()
        }
        """))
  }

  @Test func `A variable with @Relationship is read as one`() {
    let source = _expand("accessor", "@Relationship var author: Author?") ?? ""
    #expect(source.contains("_$backingData.related(\\.author, at: 2, of: self)"))
  }

  @Test func `A transformable variable is read as such`() {
    let source = _expand("accessor", "@Attribute(.transformable(by: \"T\")) var color: NSObject") ?? ""
    #expect(source.contains("_$backingData.transformableValue(\\.color, at: 2, of: self)"))
    #expect(source.contains("_$backingData.setTransformable(\\.color, at: 2, of: self, to: newValue)"))
    #expect(source.contains("_$backingData.beginTransformable(\\.color, at: 2, with: initialValue)"))
  }

  @Test(arguments: [
    ("var title: String", ""), ("var title: String?", " = _SwiftDataNoType()"),
    ("var title = \"\"", " = _SwiftDataNoType()"),
    ("var title: String!", " = _SwiftDataNoType()"), ("private(set) var title: String", ""),
  ])
  func `A placeholder stands for the value`(declaration: String, value: String) {
    #expect(_expand("peer", declaration) == "private var _title: _SwiftDataNoType\(value)")
  }

  @Test func `Backticks stay in key paths`() {
    #expect(_expand("peer", "var `case`: Int") == "private var _case: _SwiftDataNoType")
    #expect(_expand("accessor", "var `case`: Int")?.contains("value(\\.`case`, at: 2") == true)
  }

  private func _isPersisted(_ member: String, in type: String = "class") -> Bool {
    let answer = MacroHarness.attached(
      "ModelMacro", "memberAttribute", to: member, in: "@Model final \(type) Book {\n  \(member)\n}",
      missing: nil)
    return answer.source == "@_PersistedProperty(at: 0)"
  }

  @Test(arguments: [
    "var a: Int", "var a = 1", "private var a: Int?", "public private(set) var a: [String: [Int]] = [:]",
    "@Attribute(.unique) var a: Int", "@Relationship(inverse: \\Other.b) var a: [Other]",
    "var a: Int = 1 { didSet { } }",
    "// A comment.\n  var a = 1", "/* { */ var a = { 1 }()", "nonisolated(unsafe) var a = 1", "var `in`: Int",
  ])
  func `A stored variable is persisted`(member: String) {
    #expect(_isPersisted(member))
  }

  @Test(arguments: [
    "let a: Int", "static var a = 1", "class var a: Int { 1 }", "lazy var a = 1", "@Transient var a = 1",
    "@SwiftData.Transient var a = 1", "var a: Int { 1 }", "var a: Int { get { 1 } set { } }",
    "var a = 1, b = 2",
    "var (a, b) = (1, 2)", "func a() { }", "init() { }", "deinit { }", "subscript(a: Int) -> Int { a }",
    "class A { var a = 1 }",
    "enum A { case a }", "#Unique<Book>([\\.a])", "typealias A = Int", "weak var a: Other?",
    "var a: () -> Void",
    "private var _$backingData: any BackingData<Book>", "private var _a: _SwiftDataNoType",
    "@_PersistedProperty var a: Int",
    "", "var", "@", "}",
  ])
  func `Anything else is not`(member: String) {
    #expect(!_isPersisted(member))
  }

  private func _attribute(of member: String, in parent: String) -> String? {
    MacroHarness.attached("ModelMacro", "memberAttribute", to: member, in: parent, missing: nil).source
  }

  @Test func `A property knows its place among the stored ones`() {
    let parent = """
      @Model class Book {
        let isbn: String
        @Transient var isOpen = false
        var title: String
        var length: Int { 1 }
        class Page { var number = 1 }
        @Attribute(.unique) var code: Int
      }
      """
    #expect(_attribute(of: "var title: String", in: parent) == "@_PersistedProperty(at: 1)")
    #expect(_attribute(of: "@Attribute(.unique) var code: Int", in: parent) == "@_PersistedProperty(at: 2)")
  }

  @Test func `Where conditions decide, the key path tells the place`() {
    let parent = "@Model class Book {\n#if os(Linux)\n  var a: Int\n#endif\n  var b: Int\n}"
    #expect(_attribute(of: "var b: Int", in: parent) == "@_PersistedProperty")
    let source = MacroHarness.attached(
      "PersistedPropertyMacro", "accessor", to: "var b: Int", attribute: "@_PersistedProperty", missing: nil,
      context: ["@Model final class Book {}"]
    ).source
    #expect(source?.contains("_$backingData.value(\\.b, of: self)") == true)
  }

  @Test func `The members of a struct are left alone`() {
    #expect(!_isPersisted("var a: Int", in: "struct"))
  }

  @Test(arguments: ["AttributeMacro", "RelationshipMacro", "TransientMacro"])
  func `A marker is nothing by itself`(type: String) {
    let answer = MacroHarness.attached(
      type, "peer", to: "var a = 1", attribute: "@Attribute", missing: nil,
      context: ["@Model final class Book {}"])
    #expect(answer == MacroHarness.Answer(source: "", remarks: []))
  }

  @Test func `A constraint is nothing by itself`() {
    let answer = MacroHarness.freestanding(
      "UniqueMacro", "#Unique<Book>([\\.a])", context: ["@Model final class Book {}"])
    #expect(answer == MacroHarness.Answer(source: "", remarks: []))
  }
}
