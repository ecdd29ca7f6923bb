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
