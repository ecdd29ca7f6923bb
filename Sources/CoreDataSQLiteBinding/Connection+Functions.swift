import CoreDataCSQLite

/// A call of a registered SQL function: its arguments and its result.
///
/// Valid only inside the function's body.
package struct FunctionCall {
  private let _context: OpaquePointer
  private let _values: UnsafeMutablePointer<OpaquePointer?>
  package let count: Int

  init(context: OpaquePointer, values: UnsafeMutablePointer<OpaquePointer?>, count: Int) {
    _context = context
    _values = values
    self.count = count
  }

  package func isNull(_ index: Int) -> Bool { sqlite3_value_type(_values[index]) == SQLITE_NULL }

  /// Whether an argument is an integer, or text that is one.
  package func isInteger(_ index: Int) -> Bool {
    sqlite3_value_numeric_type(_values[index]) == SQLITE_INTEGER
  }

  package func int64(_ index: Int) -> Int64 { sqlite3_value_int64(_values[index]) }

  package func double(_ index: Int) -> Double { sqlite3_value_double(_values[index]) }

  /// Text of an argument, converted from its storage class; nil for NULL.
  package func text(_ index: Int) -> String? {
    utf8(index).map { String(decoding: $0, as: UTF8.self) }
  }

  /// UTF-8 of an argument, converted from its storage class and valid until the function returns; nil for
  /// NULL.
  package func utf8(_ index: Int) -> UnsafeBufferPointer<UInt8>? {
    guard let text = sqlite3_value_text(_values[index]) else { return nil }
    return UnsafeBufferPointer(start: text, count: Int(sqlite3_value_bytes(_values[index])))
  }

  package func answerNull() { sqlite3_result_null(_context) }
  package func answer(_ value: Bool) { sqlite3_result_int(_context, value ? 1 : 0) }
  package func answer(_ value: Int64) { sqlite3_result_int64(_context, value) }
  package func answer(_ value: Double) { sqlite3_result_double(_context, value) }

  package func answer(_ value: String) {
    var text = value
    text.withUTF8 { buffer in
      buffer.withMemoryRebound(to: CChar.self) {
        coredata_result_text_copying(_context, $0.baseAddress, Int32(clamping: $0.count))
      }
    }
  }

  func fail(_ error: any Error) { sqlite3_result_error(_context, "\(error)", -1) }
}

extension Connection {
  private final class Function {
    let body: (FunctionCall) throws -> Void
    init(_ body: @escaping (FunctionCall) throws -> Void) { self.body = body }
  }

  private final class Collation {
    let compare: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> Int
    init(_ compare: @escaping (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> Int) {
      self.compare = compare
    }
  }

  /// Makes `body` callable from SQL as `name`.
  ///
  /// - Parameters:
  ///   - argumentCount: number of arguments, or -1 for any.
  ///   - isDeterministic: the same arguments always give the same result.
  /// - body: returns the result through the given call; an error that it throws fails the statement.
  package func register(
    function name: String, argumentCount: Int, isDeterministic: Bool = true,
    _ body: @escaping @Sendable (FunctionCall) throws -> Void
  ) throws {
    var flags = SQLITE_UTF8 | SQLITE_INNOCUOUS
    if isDeterministic { flags |= SQLITE_DETERMINISTIC }
    let result = sqlite3_create_function_v2(
      handle, name, Int32(argumentCount), flags, Unmanaged.passRetained(Function(body)).toOpaque(),
      { context, count, values in
        guard let context, let box = sqlite3_user_data(context) else { return }
        var none: OpaquePointer?
        withUnsafeMutablePointer(to: &none) { empty in
          let call = FunctionCall(context: context, values: values ?? empty, count: Int(count))
          do {
            try Unmanaged<Function>.fromOpaque(box).takeUnretainedValue().body(call)
          } catch {
            call.fail(error)
          }
        }
      }, nil, nil, { $0.map { Unmanaged<Function>.fromOpaque($0).release() } })
    guard result == SQLITE_OK else { throw SQLiteError(result, on: handle, sql: name) }
  }

  /// Makes `compare` usable as `COLLATE name`. It receives both texts as UTF-8 and returns a number below,
  /// equal to or above zero; it must be a total order.
  package func register(
    collation name: String,
    _ compare: @escaping @Sendable (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> Int
  ) throws {
    let result = sqlite3_create_collation_v2(
      handle, name, SQLITE_UTF8, Unmanaged.passRetained(Collation(compare)).toOpaque(),
      { box, leftCount, left, rightCount, right in
        guard let box else { return 0 }
        let order = Unmanaged<Collation>.fromOpaque(box).takeUnretainedValue().compare(
          UnsafeBufferPointer(start: left?.assumingMemoryBound(to: UInt8.self), count: Int(leftCount)),
          UnsafeBufferPointer(start: right?.assumingMemoryBound(to: UInt8.self), count: Int(rightCount)))
        return Int32(order.signum())
      }, { $0.map { Unmanaged<Collation>.fromOpaque($0).release() } })
    guard result == SQLITE_OK else { throw SQLiteError(result, on: handle, sql: name) }
  }
}
