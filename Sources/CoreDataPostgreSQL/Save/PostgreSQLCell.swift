import CoreDataPostgreSQLBinding
import Foundation

/// A column of a result, whose values are decoded by the type that the server reports.
struct PostgreSQLCell {
  private enum Kind {
    case bool, integer, float, double, text, json, uuid, data, moment, numeric
  }

  let name: String
  private let _kind: Kind
  private let _result: PostgreSQLResult
  private let _column: Int

  /// - Throws: `PostgreSQLStoreError.work` for a type that has no Swift type here.
  init(_ result: PostgreSQLResult, _ column: Int) throws {
    name = result.columnName(column)
    _result = result
    _column = column
    switch result.typeNumber(column) {
    case 16: _kind = .bool
    case 20, 21, 23: _kind = .integer
    case 700: _kind = .float
    case 701: _kind = .double
    case 18, 19, 25, 114, 705, 1042, 1043: _kind = .text
    case 3802: _kind = .json
    case 2950: _kind = .uuid
    case 17: _kind = .data
    case 1114, 1184: _kind = .moment
    case 1700: _kind = .numeric
    // A function's result that is nothing.
    case 2278: _kind = .text
    case let number:
      throw PostgreSQLStoreError.work(
        "the column '\(name)' has the type \(number), which has no Swift type here; cast it to text")
    }
  }

  /// - Throws: `PostgreSQLStoreError.work` for a number that no `Decimal` holds.
  func value(_ row: Int) throws -> Any {
    let bytes = _result.bytes(row, _column)
    switch _kind {
    case .bool: return _result.int64(row, _column) != 0
    case .integer: return _result.int64(row, _column)
    case .float:
      return Double(Float(bitPattern: UInt32(truncatingIfNeeded: _result.int64(row, _column))))
    case .double: return _result.double(row, _column)
    case .text: return _result.string(row, _column)
    // Behind the number of its format.
    case .json: return String(decoding: bytes.dropFirst(), as: UTF8.self)
    case .uuid: return UUID(uuid: UnsafeRawBufferPointer(bytes).loadUnaligned(as: uuid_t.self))
    case .data: return Data(bytes)
    case .moment: return Self.date(_result.int64(row, _column))
    case .numeric:
      guard let number = _result.decimal(row, _column) else {
        throw PostgreSQLStoreError.work("a number in the column '\(name)' is more than a Decimal holds")
      }
      return number
    }
  }

  // MARK: Moments

  /// Seconds from 2000-01-01, the server's origin, to 2001-01-01, Foundation's.
  private static let _origin = 31_622_400.0

  /// Returns a date, in seconds since 2001, as the server counts, in microseconds; nil if it is beyond the server's range.
  static func moment(_ seconds: Double) -> Int64? {
    Int64(exactly: ((seconds + _origin) * 1_000_000).rounded())
  }

  static func date(_ moment: Int64) -> Date {
    Date(timeIntervalSinceReferenceDate: Double(moment) / 1_000_000 - _origin)
  }
}
