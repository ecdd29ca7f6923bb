import Foundation

/// The values of attributes in snapshots.
enum SnapshotValue {
  /// The text of a value on one line. A value of a class of the program is described by itself.
  static func text(_ value: Any?) -> String {
    switch value {
    case nil: "nil"
    case let text as String: _quoted(text)
    case let date as Date: TextDate.text(date)
    case let data as Data: _bytes(data)
    case let identifier as UUID: identifier.uuidString
    case let url as URL: url.absoluteString
    case let number as NSNumber: "\(number)"
    case let values as [Any]: "[" + values.map { text($0) }.joined(separator: ", ") + "]"
    case let values as [String: Any]:
      "{" + values.sorted { $0.key < $1.key }.map { "\($0.key): \(text($0.value))" }.joined(separator: ", ")
        + "}"
    case let value?: _quoted("\(value)")
    }
  }

  /// The text as in JSON, so that it has no line breaks.
  private static func _quoted(_ text: String) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    return (try? encoder.encode(text)).map { String(decoding: $0, as: UTF8.self) }
      ?? "\(text.debugDescription)"
  }

  /// Few bytes as they are, of many the number and a hash (FNV-1a, 64 bits).
  private static func _bytes(_ data: Data) -> String {
    let count = "\(data.count) \(data.count == 1 ? "byte" : "bytes")"
    if data.isEmpty { return count }
    if data.count <= 32 { return "\(count), " + data.map { String(format: "%02x", $0) }.joined() }
    let hash = data.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
    return "\(count), hash \(String(format: "%016llx", hash))"
  }
}
