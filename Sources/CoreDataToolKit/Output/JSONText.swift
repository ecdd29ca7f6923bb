import Foundation

/// A JSON document whose members keep their order, for human readers.
package indirect enum JSONText: Sendable {
  case object([(String, JSONText)])
  case array([JSONText])
  case string(String)
  case integer(Int)
  /// A number rounded to a number of decimals; infinities and NaN become null.
  case number(Double, decimals: Int)
  case boolean(Bool)
  case null

  /// The document, indented by two spaces per level, without a line end.
  package func text(indent: Int = 0) -> String {
    let inner = String(repeating: " ", count: indent + 2)
    let outer = String(repeating: " ", count: indent)
    switch self {
    case .object(let members):
      if members.isEmpty { return "{}" }
      let lines = members.map { inner + Self.quoted($0.0) + ": " + $0.1.text(indent: indent + 2) }
      return "{\n" + lines.joined(separator: ",\n") + "\n" + outer + "}"
    case .array(let elements):
      if elements.isEmpty { return "[]" }
      let lines = elements.map { inner + $0.text(indent: indent + 2) }
      return "[\n" + lines.joined(separator: ",\n") + "\n" + outer + "]"
    case .string(let string): return Self.quoted(string)
    case .integer(let integer): return String(integer)
    case .number(let number, let decimals): return Self._rounded(number, decimals)
    case .boolean(let boolean): return boolean ? "true" : "false"
    case .null: return "null"
    }
  }

  /// The document on one line.
  package var line: String {
    switch self {
    case .object(let members):
      "{" + members.map { Self.quoted($0.0) + ": " + $0.1.line }.joined(separator: ", ") + "}"
    case .array(let elements): "[" + elements.map(\.line).joined(separator: ", ") + "]"
    default: text()
    }
  }

  /// A string between quotes, everything escaped that must be.
  package static func quoted(_ string: String) -> String { JSONValue.quoted(string) }

  private static func _rounded(_ number: Double, _ decimals: Int) -> String {
    number.isFinite ? String(format: "%.\(decimals)f", number) : "null"
  }
}
