import CoreData
import CoreDataModelSchema
import CoreDataSQLiteBinding
import CoreDataStoreTools
import Foundation

/// Reads some columns of rows by key; reads no more of long texts and blobs than is shown.
struct CellQuery {
  /// A row as a table shows it.
  struct Row: Sendable {
    let key: Int64
    /// Number of the row's own entity; nil for a number that the model does not have.
    let entity: Int?
    let cells: [Cell]
    /// The stored value of the cell by which the table is sorted.
    let sortValue: Binding
  }

  private let _store: ExploredStore
  private let _reader: StoreReader
  private let _entity: PropertyLayout
  private let _paths: [PropertyPath]
  private let _textLimit: Int
  private let _blobLimit: Int
  private let _memberLimit: Int
  private let _sql: String

  /// - Parameters:
  ///   - sort: Path whose stored value is also returned.
  ///   - textLimit: Maximum number of characters of a text.
  ///   - blobLimit: Maximum number of bytes of a blob.
  init(
    _ store: ExploredStore, _ reader: StoreReader, _ entity: PropertyLayout, _ paths: [PropertyPath],
    sort: PropertyPath? = nil, textLimit: Int, blobLimit: Int = 64, memberLimit: Int = 1000
  ) {
    (_store, _reader, _entity, _paths) = (store, reader, entity, paths)
    (_textLimit, _blobLimit, _memberLimit) = (textLimit, max(64, blobLimit), memberLimit)
    let number = entity.entityNumber
    let expression = CellExpression(reader.anatomy)
    var columns = ["t.Z_PK", "t.Z_ENT"]
    columns.append(
      sort.flatMap { expression.attribute($0.names[...], of: number, alias: "t")?.sql } ?? "NULL")
    for path in paths {
      columns += Self._columns(path, store, number, expression, _textLimit, _blobLimit, memberLimit)
    }
    _sql = "SELECT \(columns.joined(separator: ", ")) FROM \(reader.anatomy.table(of: number).name) t"
  }

  /// The statement's columns for one path; always `_width` columns.
  private static func _columns(
    _ path: PropertyPath, _ store: ExploredStore, _ entity: Int, _ expression: CellExpression,
    _ textLimit: Int, _ blobLimit: Int, _ memberLimit: Int
  ) -> [String] {
    let names = path.names[...]
    switch path.kind {
    case .identity: return []
    case .attribute(let attribute):
      guard let sql = expression.attribute(names, of: entity, alias: "t")?.sql else {
        return ["NULL", "NULL"]
      }
      switch attribute.type.form {
      case .string, .uri, .undefined, .objectID, .composite:
        return ["substr(\(sql), 1, \(textLimit))", "length(\(sql))"]
      case .binaryData, .transformable:
        return ["substr(CAST(\(sql) AS BLOB), 1, \(blobLimit))", "length(CAST(\(sql) AS BLOB))"]
      default:
        // A number or a UUID; other values, in a malicious store, are truncated.
        return [
          "CASE WHEN typeof(\(sql)) IN ('text', 'blob') THEN substr(\(sql), 1, 64) ELSE \(sql) END", "NULL",
        ]
      }
    case .toOne:
      guard let (sql, destination) = expression.toOne(names, of: entity, alias: "t") else {
        return ["NULL", "NULL", "NULL"]
      }
      let label = store.labels.attribute(of: store.layout.layout(numbered: destination))
        .flatMap { expression.attribute($0, ofRow: sql, in: destination) }
      return [
        sql, expression.entity(of: sql, in: destination), label.map { "substr(\($0), 1, 80)" } ?? "NULL",
      ]
    case .toMany(_, let owner, let slot):
      let sql = expression.count(
        names, of: entity, alias: "t", owner: owner, slot: slot, limit: memberLimit + 1)
      return [sql ?? "NULL"]
    }
  }

  private func _width(_ path: PropertyPath) -> Int32 {
    switch path.kind {
    case .identity: 0
    case .attribute: 2
    case .toOne: 3
    case .toMany: 1
    }
  }

  /// Returns the rows with these keys, in order; skips missing ones.
  func rows(_ keys: [Int64]) throws -> [Row] {
    guard !keys.isEmpty else { return [] }
    let list = keys.map(String.init).joined(separator: ", ")
    var found: [Int64: Row] = [:]
    try _reader.connection.query("\(_sql) WHERE t.Z_PK IN (\(list))") { statement in
      let row = _row(statement)
      found[row.key] = row
    }
    return keys.compactMap { found[$0] }
  }

  private func _row(_ statement: Statement) -> Row {
    var column: Int32 = 3
    let cells = _paths.map { path -> Cell in
      defer { column += _width(path) }
      return _cell(path, statement, column)
    }
    let entity =
      _reader.anatomy.table(of: _entity.entityNumber).hasSubentities
      ? _reader.anatomy.entity(stored: statement.int64(1)) : _entity.entityNumber
    return Row(key: statement.int64(0), entity: entity, cells: cells, sortValue: statement.value(2))
  }

  // MARK: Cells

  private func _cell(_ path: PropertyPath, _ statement: Statement, _ column: Int32) -> Cell {
    switch path.kind {
    case .identity:
      return .object(ObjectLink(entity: _entity.entityName, key: statement.int64(0), label: nil))
    case .attribute(let attribute):
      return statement.isNull(column) ? .null : _value(attribute, path, statement, column)
    case .toOne(let destination):
      guard !statement.isNull(column) else { return .null }
      let key = statement.int64(column)
      let layout = _store.layout.layout(numbered: destination)
      guard !statement.isNull(column + 1) else { return .dangling(entity: layout.entityName, key: key) }
      let stored = statement.int64(column + 1)
      let own = layout.family.count == 1 ? destination : _reader.anatomy.entity(stored: stored) ?? destination
      let label = statement.isNull(column + 2) ? nil : statement.string(column + 2)
      return .object(
        ObjectLink(
          entity: _store.layout.layout(numbered: own).entityName, key: key,
          label: label.flatMap { $0.isEmpty ? nil : $0 }))
    case .toMany:
      guard !statement.isNull(column) else { return .null }
      let count = Int(clamping: statement.int64(column))
      return .members(min(count, _memberLimit), isMore: count > _memberLimit)
    }
  }

  private func _value(
    _ attribute: AttributeSchema, _ path: PropertyPath, _ statement: Statement, _ column: Int32
  ) -> Cell {
    switch attribute.type.form {
    case .binaryData, .transformable:
      let head = statement.withBytes(column) { [UInt8]($0) }
      let count = Int(clamping: statement.int64(column + 1))
      var blob = Blob(head: head, count: count)
      if _isExternal(path) {
        blob = ExternalCell(storePath: _store.path).blob(head: head, count: count, limit: _blobLimit)
      }
      blob.isTransformable = attribute.type == .transformable
      return .bytes(blob)
    case .string, .uri, .undefined, .objectID, .composite:
      return .text(statement.string(column), length: Int(clamping: statement.int64(column + 1)))
    default:
      let value = statement.value(column)
      return Cell(value, of: attribute) ?? .misfit(Self.shown(value))
    }
  }

  private func _isExternal(_ path: PropertyPath) -> Bool {
    CellExpression(_reader.anatomy).attribute(path.names[...], of: _entity.entityNumber, alias: "t")?
      .isExternal
      ?? false
  }

  /// A cell as an SQL literal.
  static func shown(_ value: Binding) -> String {
    switch value {
    case .null: "NULL"
    case .int(let number): String(number)
    case .double(let number): "\(number)"
    case .text(let text): "'\(text)'"
    case .blob(let bytes): "x'\(bytes.map { String(format: "%02x", $0) }.joined())'"
    }
  }
}
