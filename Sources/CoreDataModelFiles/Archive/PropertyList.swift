import Foundation

/// Reads property lists with the types that Foundation uses for them.
///
/// Binary ones are read by `BinaryPlistReader`, which does not trust its input and takes a fraction of the time of
/// `PropertyListSerialization`.
package enum PropertyList {
  /// Returns the top value of the property list in `data`; nil if there is none.
  package static func object(in data: Data) -> Any? {
    if data.starts(with: "bplist".utf8) { return (try? BinaryPlistReader.read(data)).flatMap(_object) }
    return try? PropertyListSerialization.propertyList(from: data, options: [], format: nil)
  }

  /// Nil for what only keyed archives contain.
  private static func _object(_ value: PlistValue) -> Any? {
    switch value {
    case .null, .uid: return nil
    case .boolean(let flag): return flag
    case .integer(let number): return NSNumber(value: number)
    case .real(let number): return NSNumber(value: number)
    case .date(let seconds): return Date(timeIntervalSinceReferenceDate: seconds)
    case .data(let bytes): return Data(bytes)
    case .string(let text): return text
    case .array(let members):
      var objects: [Any] = []
      for member in members {
        guard let object = _object(member) else { return nil }
        objects.append(object)
      }
      return objects
    case .dictionary(let fields):
      var objects: [String: Any] = [:]
      for (key, field) in fields {
        guard let object = _object(field) else { return nil }
        objects[key] = object
      }
      return objects
    }
  }
}
