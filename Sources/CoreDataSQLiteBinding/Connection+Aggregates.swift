import CoreDataCSQLite

/// The state of an SQL aggregate function for one group of rows.
package protocol Aggregate: AnyObject {
  /// Processes the arguments of one row. An error fails the statement.
  func step(_ call: FunctionCall) throws
  /// Returns the result after the last row.
  func finish(_ call: FunctionCall) throws
}

extension Connection {
  private final class Maker {
    let make: () -> any Aggregate
    init(_ make: @escaping () -> any Aggregate) { self.make = make }

    /// Returns the aggregate of the current group, created at its first row.
    static func running(_ context: OpaquePointer) -> (any Aggregate)? {
      guard let slot = _slot(context, makes: true), let box = sqlite3_user_data(context) else { return nil }
      if let known = slot.pointee {
        return Unmanaged<Running>.fromOpaque(known).takeUnretainedValue().aggregate
      }
      let made = Running(Unmanaged<Maker>.fromOpaque(box).takeUnretainedValue().make())
      slot.pointee = Unmanaged.passRetained(made).toOpaque()
      return made.aggregate
    }

    /// Returns the aggregate of the group that ends; a new one for an empty group.
    static func ended(_ context: OpaquePointer) -> (any Aggregate)? {
      if let slot = _slot(context, makes: false), let known = slot.pointee {
        slot.pointee = nil
        return Unmanaged<Running>.fromOpaque(known).takeRetainedValue().aggregate
      }
      return sqlite3_user_data(context).map { Unmanaged<Maker>.fromOpaque($0).takeUnretainedValue().make() }
    }

    /// Returns SQLite's memory for the group, initially zeroed.
    private static func _slot(
      _ context: OpaquePointer, makes: Bool
    ) -> UnsafeMutablePointer<UnsafeMutableRawPointer?>? {
      sqlite3_aggregate_context(context, makes ? Int32(MemoryLayout<UnsafeMutableRawPointer?>.size) : 0)?
        .assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
    }
  }

  private final class Running {
    let aggregate: any Aggregate
    init(_ aggregate: any Aggregate) { self.aggregate = aggregate }
  }

  /// Makes aggregates callable from SQL as `name`.
  ///
  /// - Parameters:
  ///   - argumentCount: number of arguments.
  /// - make: creates an aggregate for each group of rows.
  package func register(
    aggregate name: String, argumentCount: Int, _ make: @escaping @Sendable () -> any Aggregate
  ) throws {
    let result = sqlite3_create_function_v2(
      handle, name, Int32(argumentCount), SQLITE_UTF8 | SQLITE_INNOCUOUS | SQLITE_DETERMINISTIC,
      Unmanaged.passRetained(Maker(make)).toOpaque(), nil,
      { context, count, values in
        guard let context, let values else { return }
        FunctionCall._run(context, values, Int(count)) { try Maker.running(context)?.step($0) }
      },
      { context in
        guard let context else { return }
        var none: OpaquePointer?
        withUnsafeMutablePointer(to: &none) { empty in
          FunctionCall._run(context, empty, 0) { try Maker.ended(context)?.finish($0) }
        }
      }, { $0.map { Unmanaged<Maker>.fromOpaque($0).release() } })
    guard result == SQLITE_OK else { throw SQLiteError(result, on: handle, sql: name) }
  }
}

extension FunctionCall {
  fileprivate static func _run(
    _ context: OpaquePointer, _ values: UnsafeMutablePointer<OpaquePointer?>, _ count: Int,
    _ body: (FunctionCall) throws -> Void
  ) {
    let call = FunctionCall(context: context, values: values, count: count)
    do {
      try body(call)
    } catch {
      call.fail(error)
    }
  }
}
