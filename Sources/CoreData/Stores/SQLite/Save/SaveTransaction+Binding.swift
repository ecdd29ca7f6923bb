import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation

/// Binds values of Rows to parameters.
extension SaveTransaction {
  /// Binds the cells of a row in order and returns the index of the next parameter.
  func bind(
    _ row: Row, _ cells: [WriteCell], entity: Int, to statement: Statement, from first: Int32
  ) throws -> Int32 {
    if row.isPacked { return try _bindPacked(row, cells, entity, statement, first) }
    var index = first
    for cell in cells {
      switch cell {
      case .attribute(let slot, let content):
        try _bind(slot < row.count ? row[slot] : .null, content, entity, slot, statement, index)
        index += 1
      case .toOne(let slot, let hasEntity):
        try _bindToOne(slot < row.count ? row[slot] : .null, hasEntity, entity, slot, statement, index)
        index += hasEntity ? 2 : 1
      case .element(let slot, let path, let content):
        try _bind(_element(path, of: row, slot), content, entity, slot, statement, index)
        index += 1
      }
    }
    return index
  }

  private func _element(_ path: [Int], of row: Row, _ slot: Int) -> Value {
    var value = slot < row.count ? row[slot] : .null
    for step in path {
      guard case .composite(let box) = value, step < box.values.count else { return .null }
      value = box.values[step]
    }
    return value
  }

  /// Binds the cells of a packed row, texts in place: the save retains the row until the statement is reset.
  private func _bindPacked(
    _ row: Row, _ cells: [WriteCell], _ entity: Int, _ statement: Statement, _ first: Int32
  ) throws -> Int32 {
    var index = first
    for cell in cells {
      switch cell {
      case .attribute(let slot, let content):
        switch row.packed(slot) {
        case .null: statement.bindNull(at: index)
        case .int(let number): statement.bind(number, at: index)
        case .double(let number): statement.bind(number, at: index)
        case .text(let text): statement.bind(borrowing: text, at: index)
        case .uuid(let bytes): statement.bind(blob: UnsafeRawBufferPointer(bytes), at: index)
        case .other: try _bindOther(row, slot, content, entity, statement, index)
        }
        index += 1
      case .toOne(let slot, let hasEntity):
        try _bindToOne(row[slot], hasEntity, entity, slot, statement, index)
        index += hasEntity ? 2 : 1
      case .element(let slot, let path, let content):
        try _bind(_element(path, of: row, slot), content, entity, slot, statement, index)
        index += 1
      }
    }
    return index
  }

  @inline(never)
  private func _bindOther(
    _ row: Row, _ slot: Int, _ content: ColumnContent, _ entity: Int, _ statement: Statement, _ index: Int32
  ) throws {
    if let decimal = row.decimal(at: slot) {
      statement.bind(StoredDecimal.binding(decimal), at: index)
    } else {
      try _bindBoxed(row[slot], content, entity, slot, statement, index)
    }
  }

  @inline(__always)
  private func _bind(
    _ value: Value, _ content: ColumnContent, _ entity: Int, _ slot: Int, _ statement: Statement,
    _ index: Int32
  ) throws {
    switch value {
    case .null: statement.bindNull(at: index)
    case .int(let number): statement.bind(number, at: index)
    case .double(let number): statement.bind(number, at: index)
    case .string(let text): statement.bind(text, at: index)
    default: try _bindBoxed(value, content, entity, slot, statement, index)
    }
  }

  private func _bindBoxed(
    _ value: Value, _ content: ColumnContent, _ entity: Int, _ slot: Int, _ statement: Statement,
    _ index: Int32
  ) throws {
    switch value {
    case .data(let data): try _bind(data, isPrefixed: content == .externalData, statement, index)
    case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { statement.bind(blob: $0, at: index) }
    case .decimal(let box): statement.bind(StoredDecimal.binding(box.decimal), at: index)
    case .transformable(let box):
      guard let data = box.data else {
        throw _unstorable(entity, slot, "the transformable value was not encoded before the save")
      }
      try _bind(data, isPrefixed: content == .externalData, statement, index)
    case .composite:
      throw _unstorable(entity, slot, "an attribute that is no composite holds several elements")
    case .reference, .pending, .toMany: throw _unstorable(entity, slot, "an attribute holds an object")
    case .null, .int, .double, .string: break
    }
  }

  private func _bind(_ data: Data, isPrefixed: Bool, _ statement: Statement, _ index: Int32) throws {
    guard isPrefixed else { return data.withUnsafeBytes { statement.bind(blob: $0, at: index) } }
    if let name = try engine.context.externalData.write(data) {
      // The file must exist before the row that references it is committed.
      writtenFiles.append(name)
      return ExternalDataDirectory.cell(naming: name).withUnsafeBytes { statement.bind(blob: $0, at: index) }
    }
    var bytes = Data(capacity: data.count + 1)
    bytes.append(ExternalDataDirectory.inline)
    bytes.append(data)
    bytes.withUnsafeBytes { statement.bind(blob: $0, at: index) }
  }

  private func _bindToOne(
    _ value: Value, _ hasEntity: Bool, _ entity: Int, _ slot: Int, _ statement: Statement, _ index: Int32
  ) throws {
    let key: Int64
    let destination: Int
    switch value {
    case .null:
      statement.bindNull(at: index)
      if hasEntity { statement.bindNull(at: index + 1) }
      return
    case .reference(let reference):
      key = try self.key(of: reference, entity: entity, slot: slot)
      destination = reference.space.layout.entityNumber
    case .pending(let id):
      key = try self.key(of: id, entity: entity, slot: slot)
      destination = id.canonical.space.layout.entityNumber
    default: throw _unstorable(entity, slot, "a to-one relationship holds a value that is no object")
    }
    statement.bind(key, at: index)
    if hasEntity { statement.bind(Int64(mapping.numbers.stored(for: destination)), at: index + 1) }
  }

  private func _unstorable(_ entity: Int, _ slot: Int, _ reason: String) -> SQLiteStoreError {
    let layout = mapping.layout.layout(numbered: entity)
    return .unstorable(entity: layout.entityName, property: layout.slots[slot].name, reason: reason)
  }
}
