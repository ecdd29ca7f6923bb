import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation

extension CellDecoder {
  /// Decodes the cell; nil for NULL.
  @inline(__always)
  func value(_ statement: Statement, _ context: RowReader.Context) throws -> Value? {
    if statement.isNull(column) { return nil }
    switch content {
    case .int: return .int(statement.int64(column))
    case .bool: return .int(statement.int64(column) == 0 ? 0 : 1)
    case .double: return .double(statement.double(column))
    case .string: return .string(statement.string(column))
    case .reference(let space):
      return .reference(ObjectKey(space: space, reference: statement.int64(column)))
    case .polymorphicReference(let space, let entityColumn):
      let reference = statement.int64(column)
      if statement.isNull(entityColumn) { return .reference(ObjectKey(space: space, reference: reference)) }
      let stored = statement.int64(entityColumn)
      guard let number = context.numbers.number(forStored: stored) else {
        throw CellError(reason: "the model has no entity number \(stored), which a to-one points at")
      }
      return .reference(ObjectKey(space: context.spaces[number - 1], reference: reference))
    case .decimal, .uuid, .transformable, .data, .externalData:
      return try _boxed(statement, context)
    }
  }

  /// The less frequent types, outside the loop's code.
  @inline(never)
  private func _boxed(_ statement: Statement, _ context: RowReader.Context) throws -> Value? {
    switch content {
    case .decimal: return _decimal(statement).map { .decimal(DecimalBox($0)) }
    case .uuid: return try _uuid(statement)
    case .transformable:
      return .transformable(TransformableBox(object: nil, data: statement.withBytes(column) { Data($0) }))
    case .data: return .data(statement.withBytes(column) { Data($0) })
    default: return try statement.withBytes(column) { try context.externalData.read($0) }.map { .data($0) }
    }
  }

  private func _decimal(_ statement: Statement) -> Decimal? {
    switch statement.storageClass(column) {
    case .int: return Decimal(statement.int64(column))
    case .double:
      // Through the shortest text that reads back as the same number, so that 10.11 stays 10.11.
      let number = statement.double(column)
      return number.isFinite ? Decimal(string: "\(number)", locale: nil) : Decimal.nan
    default: return Decimal(string: statement.string(column), locale: nil)
    }
  }

  private func _uuid(_ statement: Statement) throws -> Value {
    let bytes: UUID? = statement.withBytes(column) { bytes in
      guard bytes.count == 16 else { return nil }
      return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }
    if let bytes { return .uuid(bytes) }
    if let text = UUID(uuidString: statement.string(column)) { return .uuid(text) }
    throw CellError(reason: "a UUID attribute holds neither 16 bytes nor the text of a UUID")
  }
}

/// A cell with a value that its column cannot contain; the reader adds table and key.
struct CellError: Error {
  let reason: String
}
