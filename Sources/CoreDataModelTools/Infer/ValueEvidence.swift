import CoreDataModelSchema
import CoreDataToolKit
import Foundation

/// What the values of one property have in common, from which its type follows.
struct ValueEvidence {
  /// From the narrowest type to the widest, which takes any value.
  private enum Kind: CaseIterable {
    case boolean, integer, double, uuid, date, uri, string
  }

  /// Values that are not null.
  private(set) var count = 0
  /// Whether a value was null or missing.
  var hasNull = false
  /// What all values so far may be; empty if they have nothing in common.
  private var _kinds = Set(Kind.allCases)

  /// A field of CSV; an empty one is null.
  mutating func add(text: String?) {
    guard let text else {
      hasNull = true
      return
    }
    var kinds = Self._kinds(of: text)
    if ["true", "false"].contains(text.lowercased()) { kinds.insert(.boolean) }
    if Self._isWhole(text) { kinds.formUnion([.integer, .double]) }
    if Self._isNumber(text) { kinds.insert(.double) }
    _add(kinds)
  }

  /// A value of JSON other than an object or an array.
  mutating func add(json value: JSONValue) {
    switch value {
    case .null: hasNull = true
    case .boolean: _add([.boolean])
    case .number(let digits): _add(Int64(digits) == nil ? [.double] : [.integer, .double])
    case .string(let text): _add(Self._kinds(of: text))
    case .array, .object: _add([])
    }
  }

  private mutating func _add(_ kinds: Set<Kind>) {
    count += 1
    _kinds.formIntersection(kinds)
  }

  /// The narrowest type that all values have; nil without a value.
  var type: AttributeType? {
    guard count > 0 else { return nil }
    return switch Kind.allCases.first(where: _kinds.contains) {
    case .boolean: .boolean
    case .integer: .integer64
    case .double: .double
    case .uuid: .uuid
    case .date: .date
    case .uri: .uri
    case .string, nil: .string
    }
  }

  /// Whether the values are of kinds that have no type in common.
  var isMixed: Bool { count > 0 && _kinds.isEmpty }

  private static func _kinds(of text: String) -> Set<Kind> {
    var kinds: Set<Kind> = [.string]
    if text.utf8.count == 36, UUID(uuidString: text) != nil { kinds.insert(.uuid) }
    if text.utf8.count >= 10, text.utf8.contains(UInt8(ascii: "-")), Double(text) == nil,
      ISODate.seconds(text) != nil
    {
      kinds.insert(.date)
    }
    if ["http://", "https://", "file://"].contains(where: text.hasPrefix), !text.contains(" "),
      URL(string: text) != nil
    {
      kinds.insert(.uri)
    }
    return kinds
  }

  /// A number with leading zeros is a code, such as a postal code.
  private static func _isWhole(_ text: String) -> Bool {
    let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
    return Int64(text) != nil && digits.utf8.allSatisfy { (48...57).contains($0) }
      && (digits.count == 1 || digits.first != "0")
  }

  private static func _isNumber(_ text: String) -> Bool {
    guard text.utf8.allSatisfy({ "+-.eE0123456789".utf8.contains($0) }), Double(text) != nil else {
      return false
    }
    let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
    return digits.first != "0" || digits.count == 1 || digits.dropFirst().first == "."
  }
}
