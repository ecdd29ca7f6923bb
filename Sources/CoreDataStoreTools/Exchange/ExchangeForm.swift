import CoreDataModelSchema
import CoreDataToolKit
import Foundation

/// Forms of an export.
package enum ExchangeForm: String, CaseIterable, Sendable, Codable {
  /// One object per line.
  case ndjson
  /// One document: an array of objects for each entity.
  case json
  /// A directory with a file for each entity.
  case csv

  /// Returns the format given, or else the one that the path suggests.
  ///
  /// - Throws: `UsageError` for an unknown format.
  static func chosen(_ arguments: ParsedArguments, path: String?) throws(UsageError) -> ExchangeForm {
    if let form: ExchangeForm = try arguments.choice("format") { return form }
    guard let path else { return .ndjson }
    var isDirectory: ObjCBool = false
    if FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue {
      return .csv
    }
    switch (path as NSString).pathExtension.lowercased() {
    case "json": return .json
    case "csv": return .csv
    default: return .ndjson
    }
  }

  /// Returns the form that a file's name suggests, or else its first bytes.
  package static func told(byPath path: String, _ start: some Sequence<UInt8>) -> ExchangeForm {
    switch (path as NSString).pathExtension.lowercased() {
    case "csv": return .csv
    case "json": return .json
    case "ndjson", "jsonl": return .ndjson
    default: break
    }
    let first = start.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
    return first == UInt8(ascii: "[") ? .json : first == UInt8(ascii: "{") ? .ndjson : .csv
  }

  static let option = OptionSyntax.value(
    "format", "FORM", choices: allCases.map(\.rawValue),
    "ndjson (an object a line), json (one document) or csv (a directory with a file for each entity). "
      + "As the path's name suggests if not given, else ndjson.")

  /// The help text on all formats.
  static let discussion = [
    "An object has the members $entity and $id, its attributes, and its relationships as the $id of the others; to-many "
      + "ones as lists, in order where they are ordered. In CSV the entity is the file's name, lists are separated by "
      + "';', an empty field is nil and a quoted empty field an empty string.",
    "Dates are ISO 8601 with as many decimals as they have, UUIDs and URIs and decimals strings, data and "
      + "transformable values base64. The same store always gives the same bytes.",
  ]
}

extension PropertyLayout {
  /// Exported slots in order: attributes by name, then relationships by name.
  var exchangedSlots: [Int] {
    slots.indices.filter { !slots[$0].isHidden && !slots[$0].isTransient }.sorted { left, right in
      let (one, other) = (slots[left], slots[right])
      if (one.attribute == nil) != (other.attribute == nil) { return one.attribute != nil }
      return one.name < other.name
    }
  }
}
