import Foundation

/// An address within the explorer: a path of this program, and fields with arbitrary contents.
struct Place: Sendable {
  let path: StaticString
  private(set) var fields: [(name: String, value: String)]

  init(_ path: StaticString, _ fields: KeyValuePairs<String, String?> = [:]) {
    self.path = path
    self.fields = fields.compactMap { field in field.value.map { (field.key, $0) } }
  }

  /// Returns the place with a field set or removed.
  func with(_ name: String, _ value: String?) -> Place {
    var copy = self
    copy.fields.removeAll { $0.name == name }
    if let value { copy.fields.append((name, value)) }
    return copy
  }

  /// The same fields at another path.
  func at(_ path: StaticString) -> Place { Place(path, fields) }

  private init(_ path: StaticString, _ fields: [(name: String, value: String)]) {
    (self.path, self.fields) = (path, fields)
  }

  /// The address for links.
  var address: String {
    guard !fields.isEmpty else { return path.description }
    let query = fields.map { "\(Self._encoded($0.name))=\(Self._encoded($0.value))" }
    return path.description + "?" + query.joined(separator: "&")
  }

  private static func _encoded(_ text: String) -> String {
    var result = ""
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
        UInt8(ascii: "~"), UInt8(ascii: "/"), UInt8(ascii: ","):
        result.unicodeScalars.append(Unicode.Scalar(byte))
      default: result += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }
    return result
  }
}

extension HTML {
  /// A link within the explorer.
  static func link(_ place: Place, class kind: String? = nil, title: String? = nil, _ content: HTML...)
    -> HTML
  {
    tag("a", ["href": place.address, "class": kind, "title": title], content)
  }
}
