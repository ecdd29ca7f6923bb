import CoreDataJSON
import CoreDataSwiftLexer

/// A piece of the client's source as the compiler hands it over: the text with the comments before it, and the place
/// of its first byte.
struct SyntaxPiece {
  let bytes: [UInt8]
  let tokens: [SourceToken]
  let fileName: String
  /// Byte offset of the text in its file.
  let offset: Int
  /// Line and column of the first byte, from 1; nil if the compiler names none.
  private let _start: (line: Int, column: Int)?

  init?(_ json: JSONValue) {
    guard let source = json["source"]?.string else { return nil }
    let location = json["location"]
    var start: (line: Int, column: Int)?
    if let line = location?["line"]?.integer, let column = location?["column"]?.integer,
      (1..<1 << 31).contains(line), (1..<1 << 31).contains(column)
    {
      start = (line, column)
    }
    self.init(
      source, fileName: location?["fileName"]?.string ?? "", offset: location?["offset"]?.integer ?? 0,
      start: start)
  }

  init(
    _ source: String, fileName: String = "", offset: Int = 0, start: (line: Int, column: Int)? = nil
  ) {
    bytes = Array(source.utf8)
    tokens = SourceLexer.tokens(in: bytes, 0..<bytes.count)
    self.fileName = fileName
    // The compiler provides the offset, and positions are added to it; the limit prevents an overflow.
    self.offset = min(max(offset, 0), Int.max / 2)
    _start = start
  }

  /// Line and column of a byte of the text in its file; nil if unknown.
  func position(of index: Int) -> (line: Int, column: Int)? {
    guard let _start else { return nil }
    let before = bytes[..<index]
    let line = _start.line + before.count { $0 == UInt8(ascii: "\n") }
    guard let lineBreak = before.lastIndex(of: UInt8(ascii: "\n")) else {
      return (line, _start.column + index)
    }
    return (line, index - lineBreak)
  }

  func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  /// The text without surrounding comments and whitespace.
  var trimmed: String {
    guard let first = tokens.first, let last = tokens.last else { return "" }
    return text(first.range.lowerBound..<last.range.upperBound)
  }

  func place(_ range: Range<Int>) -> Diagnostic.Place {
    Diagnostic.Place(fileName: fileName, range: (offset + range.lowerBound)..<(offset + range.upperBound))
  }

  func breaksLine(between first: SourceToken, and second: SourceToken) -> Bool {
    guard first.range.upperBound <= second.range.lowerBound else { return false }
    return bytes[first.range.upperBound..<second.range.lowerBound].contains(UInt8(ascii: "\n"))
  }

  func touch(_ first: SourceToken, _ second: SourceToken) -> Bool {
    first.range.upperBound == second.range.lowerBound
  }
}
