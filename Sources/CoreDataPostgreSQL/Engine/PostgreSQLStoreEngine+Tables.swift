import CoreData
import CoreDataModelSchema
import CoreDataPostgreSQLBinding
import CoreDataPredicateLanguage
import Foundation

// Dictionary fetches: the server computes columns, groups and aggregates.

extension PostgreSQLStoreEngine {
  /// PostgreSQL refuses some queries that SQLite answers, such as distinct dictionaries sorted by a key they
  /// do not contain. These are computed in memory from the rows, with the same result.
  func table(_ plan: DictionaryPlan) throws -> [[Value]] {
    try readingObjects("dictionaries of \(plan.rows.layout.entityName)") { connection in
      do {
        return try table(plan, on: connection)
      } catch let error as PostgreSQLError where error.isUngrouped {
        return try PostgreSQLView(self, connection).table(plan)
      }
    }
  }

  /// Computes the columns of a dictionary fetch on the given connection.
  ///
  /// - Throws: `PostgreSQLError`, with `isUngrouped` for queries that the server refuses and that can be
  ///   computed from rows.
  func table(_ plan: DictionaryPlan, on connection: PostgreSQLConnection) throws -> [[Value]] {
    let (shape, constants) = TableShape.taking(plan)
    let query = try tableQueries.query(PostgreSQLTableKey(shape, constants)) {
      let (fragment, cells) = try QueryCompiler.compile(plan, constants, mapping: mapping, spaces: spaces)
      return PostgreSQLTableQuery(
        query: PostgreSQLQuery(fragment, constants, reader: nil), cells: cells)
    }
    let binder = PostgreSQLBinder(
      spaces: spaces, numbers: mapping.numbers, entityName: plan.rows.layout.entityName)
    let parameters = try binder.parameters(for: query.query, plan.rows, constants)
    let found = try connection.run(query.query.sql, parameters)
    let reader = PostgreSQLCellReader(found, spaces, mapping.numbers, table: plan.rows.layout.entityName)
    return try (0..<found.rowCount).map { row in
      try query.cells.map { cell in
        switch cell {
        case .declared(let decoder): try reader.value(decoder, row)
        case .natural(let column): try reader.value(row, Int(column))
        }
      }
    }
  }
}

/// A dictionary fetch as PostgreSQL runs it.
struct PostgreSQLTableQuery: Sendable {
  let query: PostgreSQLQuery
  let cells: [SelectedCell]
}

/// Cache key of dictionary fetches; see `PostgreSQLQueryKey`.
struct PostgreSQLTableKey: Hashable, Sendable {
  private let _shape: TableShape
  private let _kinds: [UInt32]

  init(_ shape: TableShape, _ constants: [PredicateValue]) {
    _shape = shape
    _kinds = PostgreSQLQueryKey.lists(in: constants)
  }
}

/// Cells of a result with computed columns, whose types may differ from the model's.
struct PostgreSQLCellReader {
  private let _result: PostgreSQLResult
  private let _spaces: [ObjectIDSpace]
  private let _numbers: EntityNumbers
  private let _table: String
  private let _types: [PostgreSQLType?]

  init(_ result: PostgreSQLResult, _ spaces: [ObjectIDSpace], _ numbers: EntityNumbers, table: String) {
    _result = result
    _numbers = numbers
    _spaces = spaces
    _table = table
    _types = (0..<result.columnCount).map(result.type)
  }

  /// Returns the value in the server's type.
  func value(_ row: Int, _ column: Int) throws -> Value {
    if _result.isNull(row, column) { return .null }
    switch _types[column] {
    case .int2, .int4, .int8: return .int(_result.int64(row, column))
    case .bool: return .int(_result.int64(row, column) == 0 ? 0 : 1)
    case .float8: return .double(_result.double(row, column))
    case .numeric:
      let number = try _decimal(row, column)
      // The server returns sums of integers as numeric.
      var whole = Decimal(), source = number
      NSDecimalRound(&whole, &source, 0, .plain)
      if whole == number, let small = Int64(exactly: NSDecimalNumber(decimal: number)) { return .int(small) }
      return .double(NSDecimalNumber(decimal: number).doubleValue)
    case .text: return .string(_result.string(row, column))
    case .uuid: return try _uuid(row, column)
    default: return .data(Data(_result.bytes(row, column)))
    }
  }

  /// Returns the value in the model's type.
  func value(_ decoder: CellDecoder, _ row: Int) throws -> Value {
    let column = Int(decoder.column)
    if _result.isNull(row, column) { return .null }
    switch decoder.content {
    case .int:
      switch try value(row, column) {
      case .double(let number): return .int(Int64(exactly: number.rounded(.towardZero)) ?? 0)
      case let other: return other
      }
    case .bool: return .int(try value(row, column)._isZero ? 0 : 1)
    case .double:
      switch try value(row, column) {
      case .int(let number): return .double(Double(number))
      case let other: return other
      }
    case .decimal:
      switch _types[column] {
      case .numeric: return .decimal(DecimalBox(try _decimal(row, column)))
      case .float8:
        let number = _result.double(row, column)
        return .decimal(
          DecimalBox(number.isFinite ? Decimal(string: "\(number)", locale: nil) ?? .nan : .nan))
      default: return .decimal(DecimalBox(Decimal(_result.int64(row, column))))
      }
    case .string, .uuid, .data, .externalData: return try value(row, column)
    case .transformable:
      return .transformable(TransformableBox(object: nil, data: Data(_result.bytes(row, column))))
    case .reference(let space):
      return .reference(ObjectKey(space: space, reference: _result.int64(row, column)))
    case .polymorphicReference(let space, let entityColumn):
      let reference = _result.int64(row, column)
      guard !_result.isNull(row, Int(entityColumn)) else {
        return .reference(ObjectKey(space: space, reference: reference))
      }
      let stored = _result.int64(row, Int(entityColumn))
      guard let number = _numbers.number(forStored: stored) else {
        throw PostgreSQLStoreError.unknownEntity(stored, table: _table, key: reference)
      }
      return .reference(ObjectKey(space: _spaces[number - 1], reference: reference))
    }
  }

  private func _decimal(_ row: Int, _ column: Int) throws -> Decimal {
    guard let decimal = _result.decimal(row, column) else {
      throw PostgreSQLStoreError.corruptRow(
        table: _table, key: Int64(row), reason: "a number of the result is more than a decimal can hold")
    }
    return decimal
  }

  private func _uuid(_ row: Int, _ column: Int) throws -> Value {
    let bytes = UnsafeRawBufferPointer(_result.bytes(row, column))
    guard bytes.count == 16 else {
      throw PostgreSQLStoreError.corruptRow(
        table: _table, key: Int64(row), reason: "a UUID attribute holds no UUID")
    }
    return .uuid(UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)))
  }
}

extension Value {
  fileprivate var _isZero: Bool {
    switch self {
    case .int(let number): number == 0
    case .double(let number): number == 0
    default: false
    }
  }
}
