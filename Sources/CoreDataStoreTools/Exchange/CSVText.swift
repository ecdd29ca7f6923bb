import CoreDataToolKit

/// Comma-separated values as defined by RFC 4180, with one more distinction: an empty field is null, a quoted
/// empty field is an empty string.
package enum CSVText {
  /// One record with its line end.
  package static func line(_ fields: [String?]) -> String {
    fields.map(_field).joined(separator: ",") + "\r\n"
  }

  private static func _field(_ text: String?) -> String {
    guard let text else { return "" }
    let isPlain =
      !text.isEmpty
      && !text.utf8.contains { byte in
        byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\"") || byte == 0x0A || byte == 0x0D
      }
    if isPlain { return text }
    // By scalars: to Swift, a quote followed by an accent is one character, which does not equal a quote.
    var result = "\""
    for scalar in text.unicodeScalars {
      if scalar == "\"" { result += "\"" }
      result.unicodeScalars.append(scalar)
    }
    return result + "\""
  }
}

/// Reads comma-separated values.
///
/// Not thread-safe.
final class CSVReader {
  private let _file: InputFile

  init(_ file: InputFile) { _file = file }

  /// Returns the fields of the next record, nil for an empty one without quotes; nil at the end.
  ///
  /// - Throws: `ToolFailure` for a quote that is unterminated or in the middle of a field.
  func next() throws(ToolFailure) -> [String?]? {
    guard try _file.peek() != nil else { return nil }
    var fields: [String?] = []
    while true {
      let (field, isLast) = try _field()
      fields.append(field)
      if isLast { return fields }
    }
  }

  private func _field() throws(ToolFailure) -> (text: String?, isLast: Bool) {
    let line = _file.line
    var bytes: [UInt8] = []
    let isQuoted = try _file.peek() == UInt8(ascii: "\"")
    if isQuoted {
      _ = try _file.next()
      while true {
        guard let byte = try _file.next() else {
          throw ToolFailure(.badInput, "\(_file.path):\(line): a quoted field does not end.")
        }
        if byte == UInt8(ascii: "\"") {
          guard try _file.peek() == byte else { break }
          _ = try _file.next()
        }
        bytes.append(byte)
      }
    }
    while let byte = try _file.next() {
      if byte == UInt8(ascii: ",") { return (_text(bytes, isQuoted), false) }
      if byte == 0x0A { return (_text(bytes, isQuoted), true) }
      let following = try _file.peek()
      if byte == 0x0D, following == 0x0A || following == nil { continue }
      guard !isQuoted else {
        throw ToolFailure(.badInput, "\(_file.path):\(line): something follows a quoted field.")
      }
      bytes.append(byte)
    }
    return (_text(bytes, isQuoted), true)
  }

  private func _text(_ bytes: [UInt8], _ isQuoted: Bool) -> String? {
    bytes.isEmpty && !isQuoted ? nil : String(decoding: bytes, as: UTF8.self)
  }
}
