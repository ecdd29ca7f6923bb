import Testing

@testable import SwiftDataExpansion

@Suite struct DiagnosticTests {
  /// An invalid declaration, its diagnostic, and the position.
  struct Case: CustomTestStringConvertible, Sendable {
    let source: String
    let severity: String
    let message: String
    let place: String
    var fixed: String?

    init(
      _ source: String, _ message: String, at place: String, fixed: String? = nil, severity: String = "error"
    ) {
      self.source = source
      self.severity = severity
      self.message = message
      self.place = place
      self.fixed = fixed
    }

    var testDescription: String { source }
  }

  /// Returns the body of a class with an initializer.
  private static func _body(_ body: String) -> String { "@Model final class Book { \(body); init() { } }" }

  static let classes: [Case] = [
    Case(
      "@Model struct Book { var a = 1 }", "'@Model' requires a class, but 'Book' is a struct", at: "struct",
      fixed: "@Model final class Book { var a = 1 }"),
    Case(
      "@Model actor Book { var a = 1 }", "'@Model' requires a class, but 'Book' is an actor", at: "actor",
      fixed: "@Model final class Book { var a = 1 }"),
    Case("@Model enum Book { case a }", "'@Model' requires a class, but 'Book' is an enum", at: "enum"),
    Case("@Model protocol Book { }", "'@Model' requires a class, but 'Book' is a protocol", at: "protocol"),
    Case(
      "@Model extension Book { }", "'@Model' requires a class, but 'Book' is an extension", at: "extension"),
    Case(
      "@Model final class Box<T> { var a = 1 }",
      "A model is stored under its class's name, so 'Box' can't be generic",
      at: "<T>"),
    Case(
      "@Model @Observable final class Book { var a = 1 }",
      "'@Model' makes the class observable; '@Observable' makes its properties so a second time",
      at: "@Observable",
      fixed: "@Model final class Book { var a = 1 }"),
    Case(
      "@Model @ModelActor final class Book { var a = 1 }",
      "'@ModelActor' requires an actor, and '@Model' a class",
      at: "@ModelActor", fixed: "@Model final class Book { var a = 1 }"),
    Case(
      "@Model final class Book {\n  var a: Int\n  var b: String\n}",
      "'Book' requires an initializer that sets 'a' and 'b'", at: "Book",
      fixed:
        "@Model final class Book {\n  var a: Int\n  var b: String\n\n  init(a: Int, b: String) {\n    self.a = a\n    self.b = b\n  }\n}"
    ),
    Case(
      "@Model public final class Book { let a: Int }", "'Book' requires an initializer that sets 'a'",
      at: "Book",
      fixed:
        "@Model public final class Book { let a: Int \n  public init(a: Int) {\n    self.a = a\n  }\n}"),
    Case(
      "@Model final class Book { var a: Int; convenience init(b: Int) { self.init() } }",
      "'Book' requires an initializer that sets 'a'", at: "Book"),
    Case(
      "@Model final class Book { var a = 1; init(backingData: Int) { } }",
      "'@Model' writes 'init(backingData:)'; give this initializer another label", at: "init"),
    Case(
      _body("var schemaMetadata = 1"),
      "'@Model' writes a member 'schemaMetadata'; give this property another name",
      at: "schemaMetadata"),
    Case(
      _body("static var persistentBackingData = 1"),
      "'@Model' writes a member 'persistentBackingData'; give this property another name",
      at: "persistentBackingData"),
  ]

  static let types: [Case] = [
    Case(
      _body("var a: () -> Void = { }"), "A store can't hold 'a', which is a function", at: "() -> Void",
      fixed: _body("@Transient var a: () -> Void = { }")),
    Case(
      _body("let a: ((Int) -> Int)?"), "A store can't hold 'a', which is a function", at: "((Int) -> Int)?"),
    Case(_body("var a: [() -> Int] = []"), "A store can't hold 'a', which is a function", at: "[() -> Int]"),
    Case(
      _body("var a: (Int, Int) = (1, 2)"),
      "A store can't hold 'a', which is a tuple; declare a Codable struct",
      at: "(Int, Int)"),
    Case(
      _body("var a: [(x: Int, y: Int)] = []"),
      "A store can't hold 'a', which is a tuple; declare a Codable struct",
      at: "[(x: Int, y: Int)]"),
    Case(
      _body("var a: any Shape"), "A store can't hold 'a', which is an existential; name a concrete type",
      at: "any Shape"
    ),
    Case(
      _body("var a: [String: any Codable] = [:]"),
      "A store can't hold 'a', which is an existential; name a concrete type", at: "[String: any Codable]"),
    Case(
      _body("var a: some Shape = Square()"),
      "A store can't hold 'a', which is an opaque type; name a concrete type",
      at: "some Shape"),
    Case(_body("var a: Int.Type = Int.self"), "A store can't hold 'a', which is a type", at: "Int.Type"),
    Case(
      _body("var a: Any"), "A store can't hold 'a', which is an existential; name a concrete type", at: "Any"),
  ]

  static let properties: [Case] = [
    Case(
      _body("weak var a: Other?"), "A relationship refers to a row, so 'a' can't be 'weak'", at: "weak",
      fixed: _body("var a: Other?")),
    Case(
      _body("unowned var a: Other"), "A relationship refers to a row, so 'a' can't be 'unowned'",
      at: "unowned"),
    Case(
      _body("var a = 1, b = 2"), "A model's properties need accessors each; declare 'a' on its own", at: "var"
    ),
    Case(
      _body("var (a, b) = (1, 2)"),
      "A stored property of a model is declared by its name; declare each on its own", at: "(a, b) = (1, 2)"),
    Case(
      _body("let a = 1"),
      "'a' keeps its initial value in fetched objects, because it is a constant; declare it 'private(set) var' to have it "
        + "read from the store", at: "let", fixed: _body("private(set) var a = 1"), severity: "warning"),
    Case(
      _body("var a = 1 { didSet { } }"),
      "The observers of 'a' aren't called: its accessors are those of '@Model'", at: "{ didSet { } }",
      severity: "warning"),
    Case(
      _body("@Published var a = 1"), "'@Published' and '@Model' can't both supply the accessors of 'a'",
      at: "@Published", fixed: _body("var a = 1")),
    Case(
      _body("@Transient var a: Int"),
      "'@Transient' requires a value or an optional type: fetched objects don't pass through the initializers that set 'a'",
      at: "a"),
    Case(
      _body("@Transient let a: Int?"),
      "'@Transient' requires a value: fetched objects don't pass through the initializers that set 'a'",
      at: "a"),
  ]

  static let attributes: [Case] = [
    Case(
      _body("@Attribute(.unique) var a: Int { 1 }"),
      "'@Attribute' requires a stored property, but 'a' is a computed property", at: "@Attribute(.unique)",
      fixed: _body("var a: Int { 1 }")),
    Case(
      _body("@Relationship var a: [Other] { [] }"),
      "'@Relationship' requires a stored property, but 'a' is a computed property", at: "@Relationship"),
    Case(
      _body("@Attribute static var a = 1"),
      "'@Attribute' requires a stored property, but 'a' is a static property",
      at: "@Attribute"),
    Case(
      _body("@Transient static var a = 1"),
      "'@Transient' requires a stored property, but 'a' is a static property",
      at: "@Transient"),
    Case(
      _body("@Attribute lazy var a = 1"),
      "'@Attribute' requires a stored property, but 'a' is a lazy property, which isn't stored",
      at: "@Attribute"),
    Case(
      _body("@Attribute(.unique) func a() { }"), "'@Attribute' requires a stored property, not 'func'",
      at: "@Attribute(.unique)", fixed: _body("func a() { }")),
    Case(
      _body("@Attribute(.unique) @Attribute(originalName: \"b\") var a = 1"),
      "'@Attribute' stands twice at one property; write its arguments in one",
      at: "@Attribute(originalName: \"b\")",
      fixed: _body("@Attribute(.unique) var a = 1")),
    Case(
      _body("@Relationship @Relationship var a: Other?"),
      "'@Relationship' stands twice at one property; write its arguments in one", at: "@Relationship"),
    Case(
      _body("@Transient @Attribute(.unique) var a = 1"),
      "'@Attribute' describes what is stored, and '@Transient' keeps the property out of the store",
      at: "@Attribute(.unique)", fixed: _body("@Transient var a = 1")),
    Case(
      _body("@Relationship @Transient var a: Other?"),
      "'@Relationship' describes what is stored, and '@Transient' keeps the property out of the store",
      at: "@Relationship"),
    Case(
      _body("@Attribute(originalName: \"b\") @Relationship var a: Other?"),
      "'@Attribute' has no effect beside '@Relationship'", at: "@Attribute(originalName: \"b\")",
      severity: "warning"),
    Case(
      _body("@Attribute(deleteRule: .cascade) var a: Other?"),
      "'deleteRule' is an argument of '@Relationship'",
      at: "deleteRule: .cascade", fixed: _body("@Relationship(deleteRule: .cascade) var a: Other?")),
    Case(
      _body("@Attribute(.unique) var a: [String] = []"),
      "'.unique' requires a value that a store can compare, but 'a' is a collection", at: ".unique"),
    Case(
      _body("@Attribute(.unique, .ephemeral) var a = 1"),
      "'.unique' compares stored values, and '.ephemeral' keeps 'a' out of the store", at: ".unique"),
    Case(
      _body("@Attribute(originalName: \"\") var a = 1"),
      "'originalName' is the name of a stored property and can't be empty", at: "originalName: \"\""),
    Case(
      _body("@Attribute(originalName: \"x\") var a = 1; @Attribute(originalName: \"x\") var b = 1"),
      "'a' already continues the stored property 'x'", at: "\"x\""),
    Case(
      _body("@Relationship(.cascade) var a: Other?"), "A delete rule has the label 'deleteRule'",
      at: ".cascade",
      fixed: _body("@Relationship(deleteRule: .cascade) var a: Other?")),
    Case(
      _body("@Relationship(inverse: \\Other.b) let a: Other"),
      "A relationship changes with its inverse, so 'a' has to be a variable",
      at: "@Relationship(inverse: \\Other.b)",
      fixed: _body("@Relationship(inverse: \\Other.b) var a: Other")),
    Case(
      _body("@Relationship(minimumModelCount: 3, maximumModelCount: 2) var a: [Other]"),
      "At least 3 and at most 2 is no count that 'a' can have", at: "minimumModelCount: 3"),
    Case(
      _body("@Relationship(minimumModelCount: -1) var a: [Other]"), "A minimum count can't be negative",
      at: "minimumModelCount: -1"),
    Case(
      _body("@Relationship(inverse: \\Book.a) var a: [Book]"), "'a' can't be its own inverse",
      at: "inverse: \\Book.a"),
    Case(
      _body("@Relationship(inverse: \\Book.b) var a: [Book]; @Relationship(inverse: \\Book.a) var b: Book?"),
      "'b' and 'a' name each other as inverse; give it on one side only", at: "inverse: \\Book.a"),
    Case(
      _body("@Relationship(inverse: \\.b) var a: [Other]"),
      "The key path of an inverse begins with the class at the other end, as in '\\Other.b'",
      at: "inverse: \\.b"),
  ]

  static let constraints: [Case] = [
    Case(
      _body("#Unique<Book>([\\.a]); #Unique<Book>([\\.b]); var a = 1; var b = 1"),
      "A model has one '#Unique'; write all its key paths there", at: "#Unique<Book>([\\.b])"),
    Case(
      _body("#Index<Book>([\\.a]); #Index<Book>(.rtree([\\.b])); var a = 1; var b = 1"),
      "A model has one '#Index'; write all its key paths there", at: "#Index<Book>(.rtree([\\.b]))"),
    Case(
      _body("#Unique<Other>([\\.a]); var a = 1"),
      "'#Unique' is about the class that it stands in, 'Book', not 'Other'",
      at: "Other", fixed: _body("#Unique<Book>([\\.a]); var a = 1")),
    Case(
      _body("#Unique<Book>(); var a = 1"), "'#Unique' requires an array of key paths, such as '[\\.name]'",
      at: "#Unique<Book>()"),
    Case(
      _body("#Unique<Book>([\\.a]); @Transient var a = 1"),
      "'#Unique' requires stored properties, but 'a' is transient",
      at: "a"),
    Case(
      _body("#Index<Book>([\\.b, \\Book.a]); var a: Int { 1 }; var b = 1"),
      "'#Index' requires stored properties, but 'a' is computed", at: "a"),
    Case(
      _body("#Unique<Book>([\\.nmae]); var name = 1; var title = 1"),
      "'#Unique' requires stored properties, but 'Book' declares no 'nmae'; did you mean 'name'?", at: "nmae",
      fixed: _body("#Unique<Book>([\\.name]); var name = 1; var title = 1")),
    Case(
      _body("#Index<Book>(.binary([\\.published])); var name = 1"),
      "'#Index' requires stored properties, but 'Book' declares no 'published'", at: "published"),
    Case(
      _body("#Unique([\\.name]); var name = 1"),
      "'#Unique' requires the class in angle brackets: '#Unique<Book>'", at: "#Unique([\\.name])",
      fixed: _body("#Unique<Book>([\\.name]); var name = 1")),
  ]

  @Test(arguments: classes + types + properties + attributes + constraints)
  func `A wrong class is told what is wrong`(wrong: Case) throws {
    let remarks = MacroHarness.members(of: wrong.source).remarks
    try #require(remarks.count == 1, "\(remarks)")
    #expect(remarks[0].severity == wrong.severity)
    #expect(remarks[0].message == wrong.message)
    #expect(remarks[0].place == wrong.place)
    if let fixed = wrong.fixed { #expect(remarks[0].fixed == fixed) }
  }

  /// Two classes in the order in which the compiler shows them, each in its enclosing declarations.
  private func _pair(_ first: (String, [String]), _ second: (String, [String])) -> [MacroHarness.Answer] {
    let server = MacroHarness.server()
    return [first, second].map {
      MacroHarness.attached("ModelMacro", "member", to: $0.0, context: $0.1, by: server)
    }
  }

  private static let _shelf =
    "@Model class Shelf { @Relationship(inverse: \\Volume.shelf) var volumes: [Volume] = []; init() {} }"
  private static let _volume =
    "@Model class Volume { @Relationship(inverse: \\Shelf.volumes) var shelf: Shelf?; init() {} }"

  @Test func `Two classes that name each other's properties are told`() {
    let answers = _pair((Self._shelf, []), (Self._volume, []))
    #expect(answers[0].remarks.isEmpty)
    #expect(
      answers[1].remarks.map(\.message) == [
        "'Volume.shelf' and 'Shelf.volumes' name each other as inverse; give it on one side only"
      ])
    #expect(answers[1].remarks.map(\.place) == ["inverse: \\Shelf.volumes"])
    #expect(answers[1].source == MacroHarness.members(of: Self._volume).source)
  }

  @Test func `An inverse on one side, and versions that name different sides, are right`() {
    let plain = "@Model class Volume { var shelf: Shelf?; init() {} }"
    #expect(_pair((Self._shelf, []), (plain, [])).allSatisfy { $0.remarks.isEmpty })
    #expect(
      _pair((Self._shelf, ["enum V1 {}"]), (Self._volume, ["enum V2 {}"])).allSatisfy { $0.remarks.isEmpty })
  }

  @Test func `A subclass needs an initialiser`() {
    let remarks = MacroHarness.members(of: "@Model class Novel: Book { var a = 1 }", isSubclass: true).remarks
    #expect(
      remarks.map(\.message) == [
        "'Novel' requires an initializer: that of '@Model' keeps it from inheriting any"
      ])
  }

  @Test func `A place counts bytes`() {
    let remarks = MacroHarness.members(of: "/* Bücher 📚 */ @Model struct Büch {}").remarks
    #expect(remarks.map(\.place) == ["struct"])
  }

  @Test(arguments: ["Attribute", "Relationship", "Transient"])
  func `A marker outside of a model is an error`(name: String) {
    let remarks = MacroHarness.attached(
      "\(name)Macro", "peer", to: "@\(name)(.unique) var a = 1", attribute: "@\(name)(.unique)", missing: nil,
      context: ["struct Book {}"]
    ).remarks
    #expect(remarks.map(\.message) == ["'@\(name)' requires a property in the body of a class with '@Model'"])
    #expect(remarks.map(\.place) == ["@\(name)(.unique)"])
  }

  @Test func `A transient property of an extension is none`() {
    let answer = MacroHarness.attached(
      "TransientMacro", "peer", to: "@Transient var a: Int { 1 }", attribute: "@Transient", missing: nil,
      context: ["extension Book {}"])
    #expect(answer == MacroHarness.Answer(source: "", remarks: []))
  }

  @Test(arguments: [["struct Book {}"], []])
  func `A constraint outside of a model is an error`(context: [String]) {
    let remarks = MacroHarness.freestanding("UniqueMacro", "#Unique<Book>([\\.a])", context: context).remarks
    #expect(remarks.map(\.message) == ["'#Unique' belongs in the body of a class with '@Model'"])
    #expect(remarks.map(\.place) == ["#Unique<Book>([\\.a])"])
  }

  @Test(arguments: [("class", "a class"), ("struct", "a struct"), ("enum", "an enum")])
  func `A model actor is an actor`(keyword: String, phrase: String) {
    let remarks = MacroHarness.attached(
      "ModelActorMacro", "member", to: "@ModelActor \(keyword) Importer { }", attribute: "@ModelActor",
      missing: nil
    ).remarks
    #expect(remarks.map(\.message) == ["'@ModelActor' requires an actor, but 'Importer' is \(phrase)"])
    #expect(remarks.map(\.place) == [keyword])
  }

  @Test func `A model actor with more to set needs an initialiser`() {
    let remarks = MacroHarness.attached(
      "ModelActorMacro", "member", to: "@ModelActor actor Importer { let a: Int }", attribute: "@ModelActor",
      missing: nil
    ).remarks
    #expect(
      remarks.map(\.message) == [
        "'Importer' requires an initializer that sets 'a', 'modelExecutor' and 'modelContainer'"
      ])
  }

  @Test(arguments: [
    "var description: String = \"\"", "var isDeleted = false", "var hash: Int?",
    "@Transient var a: Int { 1 }",
    "@Attribute(.unique) var a: UUID", "@Attribute(.externalStorage) var a: Data?", "var a: Set<Int> = []",
    "@Relationship(.unique, deleteRule: .nullify, minimumModelCount: 1, maximumModelCount: 3, inverse: \\Other.b) var a: [Other]",
    "@Attribute(.transformable(by: T.self)) var a: any Shape",
    "@Attribute(.transformable(by: \"T\")) var a: AnyObject",
    "var a: (Int)", "var a: Task.Kind", "var a: My.Task", "var a: [String: [Int]]?", "var a: Optional<Int>",
    "@Relationship(maximumModelCount: 0) var a: [Other]",
    // Names say nothing: a model may have any of them.
    "var a: Task?", "var a: [Character]", "let a: UnsafePointer<Int>", "var a: AnyObject?",
    "var a: Void = ()",
    "@Relationship var a: [Date]", "@Relationship(deleteRule: .cascade) var a: String?",
    "@Attribute(.externalStorage) var a: Int = 1", "@Attribute(.unique) var a: Set",
    "@Relationship(minimumModelCount: 2, maximumModelCount: 0) var a: [Other]",
    "@available(iOS 17, *) var a = 1", "@MainActor var a = 1", "@Transient let a = 1",
    "static let a: () -> Void = { }",
    "lazy var a: () -> Void = { }", "@Transient var a: (() -> Void)?", "#warning(\"later\"); var a = 1",
    "@Relationship(inverse: \\Book.b) var a: Book?",
  ])
  func `A right class is told nothing`(body: String) {
    #expect(MacroHarness.members(of: Self._body(body)).remarks == [])
  }
}
