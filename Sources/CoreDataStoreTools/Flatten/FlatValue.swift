import CoreData
import CoreDataModelSchema
import CoreDataToolKit
import Foundation

/// A value of a plain table.
enum FlatValue: Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case bytes(Data)
}

/// Makes plain values of stored ones.
struct FlatValues {
  private let _text: ValueText

  /// - Parameter text: Writes moments, decimals and UUIDs.
  init(_ text: ValueText) { _text = text }

  func value(_ row: StoredRow, _ source: FlatSchema.Source) -> FlatValue {
    var value = row.values[source.slot]
    for element in source.elements {
      guard case .composite(let values) = value, values.indices.contains(element) else { return .null }
      value = values[element]
    }
    switch value {
    case .null: return .null
    case .integer(let number): return .integer(number)
    case .boolean(let flag): return .integer(flag ? 1 : 0)
    // SQLite makes null of a NaN.
    case .double(let number): return number.isNaN ? .text("NaN") : .real(number)
    case .reference(let reference): return .integer(reference.key)
    case .data(let data), .transformable(let data): return Self._content(data)
    case .date, .decimal, .string, .uri, .uuid, .composite:
      return _text.plain(value, of: source.attribute).map { .text($0) } ?? .null
    }
  }

  /// Bytes as JSON if that is what they are or can become.
  private static func _content(_ data: Data) -> FlatValue {
    switch data.first {
    case UInt8(ascii: "b"): return ArchiveJSON.text(Array(data)).map { .text($0) } ?? .bytes(data)
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      guard let text = String(validating: data, as: UTF8.self), (try? JSONValue(parsing: Array(data))) != nil
      else {
        return .bytes(data)
      }
      return .text(text)
    default: return .bytes(data)
    }
  }
}
