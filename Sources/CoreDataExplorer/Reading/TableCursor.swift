import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation

/// A place in a sorted table: between the row with these values and its neighbour. Pages begin at such places, so that a
/// late page costs what the first one does.
struct TableCursor: Sendable, Hashable {
  let key: Int64
  /// Value of the row that the table is sorted by, as it is stored; null without an order.
  let value: Binding

  /// Longest text that stands in an address.
  private static let _longestText = 1500

  /// As it stands in an address: key, a letter for the kind of value, the value.
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

  /// Nil for a text that is none.
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

  /// A prefix of a long text: the page then begins with rows of the same prefix, of which a few may come twice.
  private static func _cut(_ text: String) -> String {
    text.utf8.count <= _longestText ? text : String(text.prefix(_longestText / 4))
  }

  /// The value as a predicate compares with it; nil for null, and for one that an attribute of this type has no order
  /// by.
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
