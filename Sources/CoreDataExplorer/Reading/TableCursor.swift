import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation

/// A position in a sorted table: between the row with these values and its neighbour. Pages start at such
/// positions, so that a late page costs as much as the first.
struct TableCursor: Sendable, Hashable {
  let key: Int64
  /// The row's stored value in the sort column; null without an order.
  let value: Binding

  /// Maximum length of a text in an address.
  private static let _longestText = 1500

  /// The form in addresses: key, a letter for the kind of value, the value.
  var text: String {
    switch value {
    case .null: "\(key)"
    case .int(let number): "\(key).i\(number)"
    case .double(let number): "\(key).d\(String(number.bitPattern, radix: 16))"
    case .text(let text): "\(key).t\(Self._cut(text))"
    case .blob(let bytes): "\(key).b\(Data(bytes.prefix(64)).base64EncodedString())"
    }
  }

  init(key: Int64, value: Binding) {
    self.key = key
    self.value = value
  }

  /// Nil for an invalid text.
  init?(_ text: String) {
    guard let dot = text.firstIndex(of: ".") else {
      guard let key = Int64(text) else { return nil }
      self.init(key: key, value: .null)
      return
    }
    let rest = text[text.index(after: dot)...]
    guard let key = Int64(text[..<dot]), let letter = rest.first else { return nil }
    let value = String(rest.dropFirst())
    switch letter {
    case "i":
      guard let number = Int64(value) else { return nil }
      self.init(key: key, value: .int(number))
    case "d":
      guard let bits = UInt64(value, radix: 16) else { return nil }
      self.init(key: key, value: .double(Double(bitPattern: bits)))
    case "t": self.init(key: key, value: .text(value))
    case "b":
      guard let data = Data(base64Encoded: value) else { return nil }
      self.init(key: key, value: .blob([UInt8](data)))
    default: return nil
    }
  }

  /// A prefix of a long text: the page then starts with rows of the same prefix, some of which may appear
  /// twice.
  private static func _cut(_ text: String) -> String {
    text.utf8.count <= _longestText ? text : String(text.prefix(_longestText / 4))
  }

  /// The value for comparisons in predicates; nil for null, and for one without an order among attributes of
  /// this type.
  func constant(for type: AttributeType) -> Any? {
    switch value {
    case .null: nil
    case .int(let number):
      type.form == .date ? Date(timeIntervalSinceReferenceDate: Double(number)) : NSNumber(value: number)
    case .double(let number):
      type.form == .date ? Date(timeIntervalSinceReferenceDate: number) : NSNumber(value: number)
    case .text(let text): text
    case .blob(let bytes):
      bytes.count == 16 ? bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) } : nil
    }
  }
}
