import CoreDataJSON
import TestSupport
import Testing

@testable import SwiftDataExpansion

@Suite struct ProtocolTests {
  /// Returns the plugin's output for an input that arrives in pieces of this size.
  static func converse(_ input: [UInt8], piece: Int = 3) throws -> [UInt8] {
    var rest = input[...]
    var output: [UInt8] = []
    let channel = MessageChannel(
      read: { buffer in
        let part = rest.prefix(min(piece, buffer.count))
        rest = rest.dropFirst(part.count)
        buffer.copyBytes(from: part)
        return part.count
      },
      write: { buffer in
        let count = min(buffer.count, piece)
        output += buffer[..<count]
        return count
      })
    try PluginServer(channel: channel, log: { _ in }).run()
    return output
  }

  static func framed(_ message: String) -> [UInt8] {
    let bytes = Array(message.utf8)
    return (0..<8).map { UInt8(truncatingIfNeeded: bytes.count >> (8 * $0)) } + bytes
  }

  private static let _greeting = #"{"getCapability":{"capability":{"protocolVersion":7}}}"#

  @Test func `The version of the protocol is answered`() throws {
    #expect(
      try Self.converse(Self.framed(Self._greeting))
        == Self.framed(#"{"getCapabilityResult":{"capability":{"protocolVersion":7,"features":[]}}}"#))
  }

  @Test(arguments: [(1, 1), (7, 7), (8, 7), (1000, 7), (-1, 0)])
  func `An older compiler's version is spoken`(theirs: Int, ours: Int) {
    let answer = MacroHarness.server().answer(
      to: Array(#"{"getCapability":{"capability":{"protocolVersion":\#(theirs)}}}"#.utf8))
    #expect(answer.contains("\"protocolVersion\":\(ours),"))
  }

  @Test func `The end of input ends the conversation`() throws {
    #expect(try Self.converse([]).isEmpty)
  }

  @Test func `A length of zero ends the conversation`() throws {
    let zero = [UInt8](repeating: 0, count: 8)
    #expect(try Self.converse(zero + Self.framed(Self._greeting)).isEmpty)
  }

  @Test(arguments: [1, 2, 7, 8, 9, 1 << 20])
  func `Messages arrive in pieces of any size`(piece: Int) throws {
    let messages = Self.framed(Self._greeting) + Self.framed(Self._greeting)
    let answers = try Self.converse(messages, piece: piece)
    #expect(
      answers == (try Self.converse(Self.framed(Self._greeting)))
        + (try Self.converse(Self.framed(Self._greeting))))
  }

  private static let _nothing = #"{"expandMacroResult":{"expandedSource":null,"diagnostics":[]}}"#

  @Test(arguments: [
    #"{"loadPluginLibrary":{"libraryPath":"x","moduleName":"y"}}"#,
    #"{"checkDefaultArgumentMacroExpression":{}}"#, "{}", "[]",
    "null", "7", "", "{", "\u{0}", #"{"expandAttachedMacro":{}}"#, #"{"expandAttachedMacro":null}"#,
    #"{"expandFreestandingMacro":{"macro":{"typeName":"UniqueMacro"}}}"#,
    #"{"expandAttachedMacro":{"macro":{"typeName":"ModelMacro"},"attributeSyntax":{"source":"@Model"},"macroRole":"body"}}"#,
    #"{"expandAttachedMacro":{"macro":{"typeName":"OtherMacro"},"attributeSyntax":{"source":"@A"},"macroRole":"peer"}}"#,
  ])
  func `A message that means nothing is answered`(message: String) {
    #expect(MacroHarness.server().answer(to: Array(message.utf8)) == Self._nothing)
  }

  @Test func `A truncated message is an error`() {
    let message = Self.framed(Self._greeting)
    for count in [1, 7, 9, message.count - 1] {
      #expect(throws: MessageChannel.Failure.self) { try Self.converse(Array(message[..<count])) }
    }
  }

  @Test func `An announced length takes no memory`() {
    let header = (0..<8).map { UInt8(truncatingIfNeeded: MessageChannel.lengthLimit >> (8 * $0)) }
    #expect(throws: MessageChannel.Failure.truncated(expected: MessageChannel.lengthLimit, found: 2)) {
      try Self.converse(header + [1, 2])
    }
    #expect(throws: MessageChannel.Failure.tooLong(.max)) {
      try Self.converse([UInt8](repeating: 255, count: 9))
    }
  }

  @Test func `A compiler that stops reading is an error`() {
    let channel = MessageChannel(read: { _ in 0 }, write: { _ in 0 })
    #expect(throws: MessageChannel.Failure.closed) { try channel.send([1]) }
  }

  @Test func `A trailing blank in a macro's name does not matter`() {
    #expect(MacroHarness.members(of: "@Model class A { var a = 1 }").source?.isEmpty == false)
  }

  @Test func `Random bytes neither hang nor crash`() {
    var random = SeededRandom(seed: 22)
    for _ in 0..<200 {
      let bytes = (0..<Int.random(in: 0..<400, using: &random)).map { _ in
        UInt8.random(in: .min ... .max, using: &random)
      }
      _ = try? Self.converse(bytes, piece: 64)
      _ = try? Self.converse(
        (0..<8).map { UInt8(truncatingIfNeeded: bytes.count >> (8 * $0)) } + bytes, piece: 64)
    }
  }

  @Test func `Spoiled source neither hangs nor crashes`() {
    var random = SeededRandom(seed: 23)
    let source = Array(
      """
      @Model public final class Book<T>: Base { #Unique<Book>([\\.a], [\\Book.b]); @Attribute(.unique, originalName: "x") var a: [String: Int] = [:]
        #if os(Linux)
        @Relationship(deleteRule: .cascade, inverse: \\C.d) private(set) var b: [C]? = nil { didSet { print("\\(b) }") } }
        #endif
        init(a: Int) throws { self.a = { $0 }(a) } /* a */ let c = #"raw"#, d: (Int) -> Void }
      """.utf8)
    let signs = Array("{}()[]<>\"\\@#=:,.;\n`/* ".utf8)
    for _ in 0..<400 {
      var bytes = source
      for _ in 0..<Int.random(in: 1..<8, using: &random) {
        let index = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes.remove(at: index)
        case 1: bytes.insert(signs.randomElement(using: &random)!, at: index)
        case 2: bytes.removeSubrange(index..<min(bytes.count, index + 30))
        default: bytes[index] = signs.randomElement(using: &random)!
        }
        if bytes.isEmpty { bytes = source }
      }
      let text = String(decoding: bytes, as: UTF8.self)
      _ = MacroHarness.members(of: text)
      _ = MacroHarness.attached("ModelMacro", "memberAttribute", to: text, in: text)
      _ = MacroHarness.attached("PersistedPropertyMacro", "accessor", to: text)
      _ = MacroHarness.attached("ModelActorMacro", "member", to: text)
      _ = MacroHarness.freestanding("UniqueMacro", text, context: [text])
    }
  }

  @Test(arguments: [
    "(", "\"\\(", "{", "<", "/*", "#if A\n", "@A", "[", "class A {", "var a = ", "A<", "a,", ".",
  ])
  func `Deep nesting neither hangs nor crashes`(opening: String) {
    _ = MacroHarness.members(of: "@Model class A { var a = " + String(repeating: opening, count: 2000))
    _ = MacroHarness.members(of: "@Model class A { " + String(repeating: opening, count: 2000))
  }
}
