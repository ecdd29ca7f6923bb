import Testing

@testable import SwiftDataExpansion

@Suite struct ReaderTests {
  private func _variables(_ body: String) -> [(name: String, type: String?, value: String?)] {
    let piece = SyntaxPiece("class A {\n\(body)\n}")
    var reader = DeclarationReader(piece)
    let members = reader.type()?.members ?? []
    return members.flatMap { ModelProperty.all(of: $0, in: piece) }.map { property in
      (property.name.text, property.type, property.binding.value.map(piece.text))
    }
  }

  @Test(arguments: [
    ("1", "1"), ("1 // one", "1"), ("1 /* } */", "1"), ("[1, 2]", "[1, 2]"), ("f(a, b)", "f(a, b)"),
    ("{ x in x }(1)", "{ x in x }(1)"), ("\"}\"", "\"}\""), ("#\"\"}\"#", "#\"\"}\"#"),
    ("a ? b : c", "a ? b : c"),
    ("a\n  ? b\n  : c", "a\n  ? b\n  : c"), ("[1]\n  .map { $0 }", "[1]\n  .map { $0 }"),
    ("1 +\n  2", "1 +\n  2"),
    ("1\n  + 2", "1\n  + 2"), ("x\n  as Int", "x\n  as Int"), ("f { 1 }", "f { 1 }"),
    ("f { 1 } g: { 2 }", "f { 1 } g: { 2 }"),
    ("1 { didSet { } }", "1"), ("f() { willSet(new) { } }", "f()"),
    ("Dictionary<String, Int>()", "Dictionary<String, Int>()"),
    ("a < b", "a < b"), ("if a { 1 } else { 2 }", "if a { 1 } else { 2 }"),
    ("if a { 1 }\n  else { 2 }", "if a { 1 }\n  else { 2 }"),
    ("\"\"\"\n  } { \\(\"}\")\n  \"\"\"", "\"\"\"\n  } { \\(\"}\")\n  \"\"\""), ("#fileID", "#fileID"),
    ("a!", "a!"), ("try? f()", "try? f()"),
    ("\\B.c", "\\B.c"), ("-1", "-1"), ("\n  1", "1"), (".init(\n  a: 1\n)", ".init(\n  a: 1\n)"), ("1;", "1"),
  ])
  func `A value ends where the next member begins`(written: String, value: String) {
    for next in [
      "var b: Int", "@Attribute var b: Int", "func f() { }\n  var b: Int", "private(set) var b: Int",
      "open var b: Int",
    ] {
      let found = _variables("  var a = \(written)\n  \(next)")
      #expect(found.map(\.name) == ["a", "b"])
      #expect(found.first?.value == value)
    }
  }

  @Test(arguments: [
    ("Int", "Int"), ("[String: [Int]]", "[String: [Int]]"),
    ("Dictionary<String, Int>", "Dictionary<String, Int>"),
    ("(Int, Int) -> Int", "(Int, Int) -> Int"), ("A.B<C, D>.E?", "A.B<C, D>.E?"), ("any A & B", "any A & B"),
    ("Int { 1 }", "Int"), ("Int = 1", "Int"), ("Int // an integer", "Int"), ("Int?\n  = nil", "Int?"),
    ("[\n  Int\n]", "[\n  Int\n]"),
    ("A\n  .B", "A\n  .B"), ("Int!", "Int!"), ("@MainActor () -> Void", "@MainActor () -> Void"),
  ])
  func `A type ends before its value`(written: String, type: String) {
    let found = _variables("  var a: \(written)\n  var b: Int")
    #expect(found.map(\.name) == ["a", "b"])
    #expect(found.first?.type == type)
  }

  @Test func `Members on one line are told apart`() {
    let found = _variables(
      "var a: Int; let b = 2; var c: Int { 3 }; var d = 4 { didSet { } }; var e = { 5 }()")
    #expect(found.map(\.name) == ["a", "b", "c", "d", "e"])
  }

  @Test func `A function's body is stepped over`() {
    let found = _variables(
      """
        func f<T>(a: Int = { 1 }(), _ b: [T]) async throws -> some Equatable where T: Hashable
        {
          var inner = 1
        }
        init?(a: Int) { let inner = 2 }
        static func == (a: A, b: A) -> Bool { a === b }
        subscript(a: Int) -> Int { get { 1 } set { var inner = 3 } }
        class B { var inner = 4 }
        var a = 1
      """)
    #expect(found.map(\.name) == ["a"])
  }

  @Test func `An inheritance clause is read`() {
    var reader = DeclarationReader(
      SyntaxPiece("@Model class A: Base, @unchecked Sendable, Equatable & B.C, D<E, F> where G: H { }"))
    #expect(reader.type()?.inherited.map(\.name) == ["Base", "Sendable", "Equatable & B.C", "D<E, F>"])
  }

  @Test(arguments: [
    "", "class", "class A", "class A {", "class A { var", "class A { var a", "class A { var a =",
    "class A { var a: ",
    "class A { @", "class A { @B(", "class A { #", "class A { #if", "class A { #endif }", "class A { init",
    "class A { init(",
    "class A: ", "class A<", "@", "@A(", "}", ")))", "class A { var a = \"", "class A { var a = \"\\(",
    "class A { /*",
    "class A { func", "class A { func f() {", "class A { case", "class A { var (a", "class A { private(",
  ])
  func `Unfinished source is read to its end`(source: String) {
    let piece = SyntaxPiece(source)
    var reader = DeclarationReader(piece)
    _ = reader.type()
    var members = DeclarationReader(piece)
    _ = members.member()
    _ = MacroHarness.members(of: source)
  }
}
