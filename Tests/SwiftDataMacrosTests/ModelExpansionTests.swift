import Testing

@testable import SwiftDataExpansion

@Suite struct ModelExpansionTests {
  @Test func `A final class becomes a model`() {
    let answer = MacroHarness.members(
      of: """

        /// A book.
        @Model
        final class Book {
          @Attribute(.unique) var isbn: String
          var title = "" // as printed
          var tags: [String] = []
          @Relationship(deleteRule: .cascade, inverse: \\Chapter.book)
          var chapters: [Chapter] = []
          @Transient var isOpen = false
          var length: Int { title.count }

          init(isbn: String) { self.isbn = isbn }
        }
        """)
    #expect(answer.remarks.isEmpty)
    #expect(
      answer.source == """
        private let _$backingData = SwiftData._ModelValues<Book>()

        var _$observationRegistrar: SwiftData._ModelObservationRegistrar {
          _$backingData.observationRegistrar
        }

        var persistentBackingData: any SwiftData.BackingData<Book> {
          get {
            _$backingData.shown(by: self)
          }
          set {
            _$backingData.show(newValue)
          }
        }

        var _modelStorage: SwiftData._ModelStorage? {
          _$backingData.storageOfModule
        }

        static var schemaMetadata: [SwiftData.Schema.PropertyMetadata] {
          [
            SwiftData.Schema.PropertyMetadata(name: "isbn", keypath: \\Book.isbn, metadata: SwiftData.Schema.Attribute(.unique)),
            SwiftData.Schema.PropertyMetadata(name: "title", keypath: \\Book.title, defaultValue: ""),
            SwiftData.Schema.PropertyMetadata(name: "tags", keypath: \\Book.tags, defaultValue: ([]) as [String]),
            SwiftData.Schema.PropertyMetadata(name: "chapters", keypath: \\Book.chapters, defaultValue: ([]) as [Chapter], metadata: SwiftData.Schema.Relationship(deleteRule: .cascade, inverse: \\Chapter.book)),
          ]
        }

        required init(backingData: any SwiftData.BackingData<Book>) {
          _isbn = _SwiftDataNoType()
          _title = _SwiftDataNoType()
          _tags = _SwiftDataNoType()
          _chapters = _SwiftDataNoType()
          _$backingData.show(backingData)
        }

        private struct _SwiftDataNoType {
        }
        """)
  }

  @Test func `A subclass adds to its superclass`() {
    let answer = MacroHarness.members(
      of: "@Model final class Novel: Book {\n  var plot: String?\n  override init() { super.init() }\n}",
      isSubclass: true)
    #expect(answer.remarks.isEmpty)
    #expect(
      answer.source == """
        private var _$backingData = SwiftData._ModelPart<Novel>()

        override var persistentBackingData: any SwiftData.BackingData<Root> {
          get {
            let whole = super.persistentBackingData
            if let joined = _$backingData.joined(to: whole) {
              _$backingData = joined
            }
            return whole
          }
          set {
            super.persistentBackingData = newValue
            _$backingData = SwiftData._ModelPart(sharing: super.persistentBackingData)
          }
        }

        override var _modelStorage: SwiftData._ModelStorage? {
          persistentBackingData._storage
        }

        override class var schemaMetadata: [SwiftData.Schema.PropertyMetadata] {
          super.schemaMetadata + [
            SwiftData.Schema.PropertyMetadata(name: "plot", keypath: \\Novel.plot),
          ]
        }

        required init(backingData: any SwiftData.BackingData<Root>) {
          _plot = _SwiftDataNoType()
          _$backingData = SwiftData._ModelPart(sharing: backingData)
          super.init(backingData: backingData)
        }

        private struct _SwiftDataNoType {
        }
        """)
  }

  private func _source(_ declaration: String) -> String { MacroHarness.members(of: declaration).source ?? "" }

  @Test func `A class that can be inherited from names its root`() {
    let source = _source("@Model class Book { var title = \"\" }")
    #expect(source.contains("\ntypealias Root = Book\n"))
    #expect(source.contains("\nclass var schemaMetadata:"))
  }

  @Test func `A class called Root names none`() {
    #expect(!_source("@Model class Root { var title = \"\" }").contains("typealias"))
  }

  @Test(arguments: [
    ("public", "public "), ("open", "public "), ("package", "package "), ("private", ""), ("nonisolated", ""),
  ])
  func `Members are as visible as the class`(modifier: String, access: String) {
    let source = _source("@Model \(modifier) class Book { var title = \"\"; init() {} }")
    #expect(source.contains("\n\(access)required init(backingData:"))
    #expect(source.contains("\n\(access)class var schemaMetadata:"))
    #expect(source.contains("\n\(access)var persistentBackingData:"))
    #expect(source.contains("\n\(access)var _$observationRegistrar"))
  }

  @Test(arguments: [
    ("var a = 1", true), ("var a: Int?", true), ("var a = 1; init(a: Int) { self.a = a }", false),
    ("var a = 1; convenience init(a: Int) { self.init(); self.a = a }", true), ("", true),
  ])
  func `A class without initialiser gets one`(body: String, isAdded: Bool) {
    #expect(_source("@Model final class Book { \(body) }").contains("\ninit() {") == isAdded)
  }

  @Test func `What is not stored is not in the schema`() {
    let source = _source(
      """
      @Model final class Book {
        static let one = 1
        class var two: Int { 2 }
        lazy var three = 3
        @Transient var four = 4
        var five: Int { 5 }
        var six: Int { get { 6 } set { } }
        func seven() -> Int { 7 }
        subscript(eight: Int) -> Int { 8 }
        enum Nine: Int { case nine = 9 }
        struct Ten { var ten = 10 }
        typealias Eleven = Int
        deinit { }
        #if os(Linux)
        func twelve() { }
        #endif
        var stored = 13
      }
      """)
    #expect(source.components(ofEntries: "name: \"") == ["stored"])
  }

  @Test func `A constant is read once`() {
    let source = _source(
      "@Model final class Book { let isbn: String; let id = UUID(); init() { isbn = \"\" } }")
    #expect(source.components(ofEntries: "name: \"") == ["isbn", "id"])
    #expect(source.contains("  isbn = backingData.getValue(forKey: \\.isbn)\n  _$backingData"))
  }

  @Test func `A statement with a value becomes a closure`() {
    let source = _source("@Model final class Book { var a: Int = if Bool.random() { 1 } else { 2 } }")
    #expect(source.contains("defaultValue: ({ if Bool.random() { 1 } else { 2 } }()) as Int)"))
  }

  @Test func `A condition goes along`() {
    let source = _source(
      """
      @Model final class Book {
        var a = 1
        #if os(macOS)
        var b = 2
        #elseif DEBUG && os(Linux)
        var c = 3
        #else
        var d = 4
        #if X
        var e = 5
        #endif
        #endif
        var f = 6
      }
      """)
    #expect(source.contains("#if os(macOS)\n  _b = _SwiftDataNoType()\n#endif\n"))
    #expect(source.contains("#if os(macOS)\n#elseif DEBUG && os(Linux)\n  _c = _SwiftDataNoType()\n#endif\n"))
    #expect(
      source.contains(
        "#if os(macOS)\n#elseif DEBUG && os(Linux)\n#else\n#if X\n  metadata.append(SwiftData.Schema.PropertyMetadata("
          + "name: \"e\", keypath: \\Book.e, defaultValue: 5))\n#endif\n#endif\n"))
    #expect(source.contains("\n  _f = _SwiftDataNoType()\n"))
  }

  @Test func `Constraints and indexes are part of the schema`() {
    let source = _source(
      "@Model final class Trip { #Unique<Trip>([\\.a], [\\.b]); #Index<Trip>(.binary([\\.a])); var a = 1; var b = 2 }"
    )
    #expect(
      source.contains(
        "(name: \"#Unique\", keypath: \\Trip.self, metadata: SwiftData.Schema.Unique<Trip>([\\.a], [\\.b])),")
    )
    #expect(
      source.contains(
        "(name: \"#Index\", keypath: \\Trip.self, metadata: SwiftData.Schema.Index<Trip>(.binary([\\.a]))),"))
  }

  @Test func `A name in backticks keeps them where it is code`() {
    let source = _source("@Model final class Book { var `default`: Int = 1 }")
    #expect(source.contains("(name: \"default\", keypath: \\Book.`default`, defaultValue: (1) as Int)"))
    #expect(source.contains("  _default = "))
  }

  @Test func `A class with errors raises no others`() {
    let source = _source("@Model final class Book { var action: () -> Void; init() { action = { } } }")
    #expect(source.contains("fatalError"))
    #expect(!source.contains("_action"))
  }

  @Test func `An expansion is the same each time`() {
    let source =
      "@Model class Book { #Index<Book>([\\.a]); var a = 1; var b: [String: Int] = [:]; var c: Int? }"
    #expect(Set((0..<20).map { _ in _source(source) }).count == 1)
  }

  // MARK: Extensions

  private func _extension(_ declaration: String, _ missing: String?, _ type: String = "Book") -> String? {
    MacroHarness.attached("ModelMacro", "extension", to: declaration, missing: missing, extending: type)
      .source
  }

  @Test func `A model is no Sendable`() {
    let source =
      _extension("@Model class Book { }", "Observable, PersistentModel, Sendable", "Library.Book") ?? ""
    #expect(source.contains("extension Library.Book: nonisolated SwiftData.PersistentModel {\n}"))
    #expect(source.contains("extension Library.Book: nonisolated SwiftData.Observable {\n}"))
    #expect(source.contains("@available(*, unavailable"))
    #expect(source.contains("extension Library.Book: Swift.Sendable {\n}"))
  }

  @Test func `A class that says Sendable stays so`() {
    let source = _extension("@Model class Book: @unchecked Sendable { }", "Observable, PersistentModel")
    #expect(source?.contains("Sendable") == false)
  }

  @Test func `A subclass inherits its conformances`() {
    #expect(_extension("@Model class Novel: Book { }", nil, "Novel") == "")
  }

  @Test(arguments: ["Observable", "Sendable", "PersistentModel"])
  func `A superclass may have the name of a protocol`(name: String) {
    let source = MacroHarness.members(
      of: "@Model class Novel: \(name) { var a = 1; override init() { super.init() } }", isSubclass: true
    ).source
    #expect(source?.contains("super.schemaMetadata") == true)
  }

  @Test func `A class that says all itself is no subclass`() {
    let source = MacroHarness.members(
      of: "@Model class Book: SwiftData.PersistentModel, @unchecked Sendable { var a = 1 }", isSubclass: true
    ).source
    #expect(source?.contains("super.") == false)
  }

  @Test func `A class of a client's protocol is no subclass`() {
    let source = MacroHarness.attached(
      "ModelMacro", "member", to: "@Model class Tag: Named { var name = \"\" }",
      missing: "Observable, Sendable"
    ).source
    #expect(source?.contains("super.") == false)
  }
}

extension String {
  /// Returns the text between each `start` and the next quotation mark.
  func components(ofEntries start: String) -> [String] {
    var rest = self[...]
    var found: [String] = []
    while let range = rest.firstRange(of: start) {
      rest = rest[range.upperBound...]
      found.append(String(rest.prefix { $0 != "\"" }))
    }
    return found
  }
}
