import CoreDataPredicateLanguage
import CoreDataSQLiteBinding

/// Aggregates that SQLite lacks: median, mode and standard deviation, computed by the same code as in memory.
enum SQLStatistics {
  /// Returns the SQL name of a predefined function; nil for any other function.
  static func name(of function: PredicateFunction) -> String? { _names[function] }

  private static let _names: [PredicateFunction: String] = [
    .median: "NSCoreDataMedian", .mode: "NSCoreDataMode", .standardDeviation: "NSCoreDataStandardDeviation",
  ]

  static func register(on connection: Connection) throws {
    for (function, name) in _names {
      try connection.register(aggregate: name, argumentCount: 1) { Numbers(function) }
    }
  }

  /// The numbers of one group.
  private final class Numbers: Aggregate {
    private let _function: PredicateFunction
    private var _values: [PredicateValue] = []

    init(_ function: PredicateFunction) { _function = function }

    func step(_ call: FunctionCall) throws {
      if call.isNull(0) { return }
      _values.append(call.isInteger(0) ? .int(call.int64(0)) : .double(call.double(0)))
    }

    func finish(_ call: FunctionCall) throws {
      switch try RowAggregate.value(_function, of: _values) {
      case .int(let number): call.answer(number)
      case let other: other.double.map { call.answer($0) } ?? call.answerNull()
      }
    }
  }
}
