/// Reads comma-separated values.
///
/// Not thread-safe.
package final class CSVReader {
  private let _file: InputFile

  package init(_ file: InputFile) { _file = file }

  /// Returns the fields of the next record, nil for an empty one without quotes; nil at the end.
  ///
  /// - Throws: `ToolFailure` for a quote that is unterminated or in the middle of a field.
  package func next() throws(ToolFailure) -> [String?]? {
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
