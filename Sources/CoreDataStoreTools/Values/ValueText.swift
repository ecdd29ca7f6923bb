import CoreData
import CoreDataModelSchema
import CoreDataToolKit
import Foundation

/// Stored values as text: in JSON, in a field of CSV, in a table.
package struct ValueText: Sendable {
  private let _layout: ModelLayout

  private let _zone: TimeZoneText

  /// - Parameter zone: The zone of moments.
  package init(_ layout: ModelLayout, _ zone: TimeZoneText = .utc) {
    _layout = layout
    _zone = zone
  }

  /// The identity of a row that exports and tables show: `Book/p17`.
  package func identifier(_ reference: StoredReference) -> String {
    "\(_layout.layout(numbered: reference.entity).entityName)/p\(reference.key)"
  }

  /// The value without quotes; nil for null.
  package func plain(_ value: StoredValue, of attribute: AttributeSchema?) -> String? {
    switch value {
    case .null: nil
    case .integer(let number): String(number)
    case .boolean(let flag): flag ? "true" : "false"
    case .double(let number): Self._number(number)
    case .date(let seconds): _zone.text(seconds)
    case .decimal(let decimal): decimal.isNaN ? "NaN" : decimal.description
    case .string(let text), .uri(let text): text
    case .uuid(let uuid): uuid.uuidString
    case .data(let data), .transformable(let data): data.base64EncodedString()
    case .composite: json(value, of: attribute)
    case .reference(let reference): identifier(reference)
    }
  }

  /// The value as JSON, on one line.
  package func json(_ value: StoredValue, of attribute: AttributeSchema?) -> String {
    switch value {
    case .null: return "null"
    case .integer(let number): return String(number)
    case .boolean(let flag): return flag ? "true" : "false"
    case .double(let number) where number.isFinite: return Self._number(number)
    case .composite(let values):
      let elements = attribute?.elements ?? []
      let members = zip(elements, values).sorted { $0.0.name < $1.0.name }.map { element, value in
        "\(JSONText.quoted(element.name)):\(json(value, of: element))"
      }
      return "{\(members.joined(separator: ","))}"
    default: return JSONText.quoted(plain(value, of: attribute) ?? "")
    }
  }

  /// A list of references as JSON, on one line.
  package func json(_ references: [StoredReference]) -> String {
    "[\(references.map { JSONText.quoted(identifier($0)) }.joined(separator: ","))]"
  }

  /// The value in a table on a terminal: on one line, bytes as their number, moments to the second.
  package func shown(_ value: StoredValue, of attribute: AttributeSchema?) -> String {
    switch value {
    case .data(let data), .transformable(let data): counted(data.count, "byte")
    case .date(let seconds): _zone.shown(seconds)
    default: Self.onOneLine(plain(value, of: attribute) ?? "")
    }
  }

  /// Text with line ends and other controls made visible, so that it stays in its table cell.
  package static func onOneLine(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
      return text
    }
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n": result += "⏎"
      case "\r": break
      case "\t": result += " "
      case _ where scalar.properties.generalCategory == .control: result += "·"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// Omits the ".0" of integral doubles of moderate size; the property's type is known anyway.
  private static func _number(_ number: Double) -> String {
    if number.isNaN { return "NaN" }
    if number.isInfinite { return number < 0 ? "-Infinity" : "Infinity" }
    if number == number.rounded(), abs(number) < 1e15, !(number == 0 && number.sign == .minus) {
      return String(Int64(number))
    }
    return "\(number)"
  }
}
