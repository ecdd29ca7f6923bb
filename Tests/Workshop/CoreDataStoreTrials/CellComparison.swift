import CoreData
import CoreDataSQLiteBinding
import Foundation

/// Compares an attribute's value with the cell that it was read from, independently of the engine's decoding.
struct CellComparison {
  private let _attribute: NSAttributeDescription

  init(_ attribute: NSAttributeDescription) { _attribute = attribute }

  /// Whether the value equals the first column of the statement's row.
  func isEqual(_ value: Any?, _ statement: Statement) -> Bool {
    guard !statement.isNull(0) else { return value == nil }
    guard let value else { return _isMissingFile(statement) }
    switch _attribute.attributeType {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
      return (value as? NSNumber)?.int64Value == statement.int64(0)
    case .booleanAttributeType: return (value as? NSNumber)?.boolValue == (statement.int64(0) != 0)
    case .doubleAttributeType: return (value as? NSNumber)?.doubleValue == statement.double(0)
    case .floatAttributeType: return (value as? NSNumber)?.floatValue == Float(statement.double(0))
    case .dateAttributeType: return (value as? Date)?.timeIntervalSinceReferenceDate == statement.double(0)
    case .stringAttributeType:
      return (value as? String).map { Array($0.utf8) } == Array(statement.string(0).utf8)
    case .URIAttributeType:
      return ((value as? URL)?.absoluteString ?? value as? String) == statement.string(0)
    case .UUIDAttributeType:
      guard let uuid = value as? UUID else { return false }
      return withUnsafeBytes(of: uuid.uuid) { Array($0) } == _bytes(statement)
    case .decimalAttributeType:
      // A floating-point cell as the shortest text that reads back as the same number; SQL's own has 15
      // digits.
      if case .double(let number) = statement.value(0) {
        return (value as? NSDecimalNumber)?.decimalValue == Decimal(string: "\(number)", locale: nil)
      }
      return (value as? NSDecimalNumber)?.decimalValue == Decimal(string: statement.string(0), locale: nil)
    case .binaryDataAttributeType:
      guard let data = value as? Data else { return false }
      let bytes = _bytes(statement)
      let isInline = _attribute.allowsExternalBinaryDataStorage && bytes.first == 1
      return Array(data) == (isInline ? Array(bytes.dropFirst()) : bytes) || bytes.first == 2
    case .transformableAttributeType:
      // An object that could be decoded has no bytes to compare.
      return (value as? Data).map { Array($0) == _bytes(statement) } ?? true
    default: return true
    }
  }

  private func _bytes(_ statement: Statement) -> [UInt8] { statement.withBytes(0) { Array($0) } }

  /// A value whose external file is missing reads as nil.
  private func _isMissingFile(_ statement: Statement) -> Bool {
    _attribute.allowsExternalBinaryDataStorage && _bytes(statement).first == 2
  }
}
