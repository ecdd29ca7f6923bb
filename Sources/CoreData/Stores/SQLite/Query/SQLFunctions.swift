import CoreDataPredicateLanguage
import CoreDataSQLiteBinding
import Foundation

/// SQL functions for operations that SQLite lacks.
enum SQLFunctions {
  static func register(on connection: Connection) throws {
    try _registerText(connection)
    try _registerMath(connection)
    try SQLStatistics.register(on: connection)
    try _registerNumbers(connection)
    try _registerTriggerCalls(connection)
    try SQLCollations.register(on: connection)
  }

  private static func _registerText(_ connection: Connection) throws {
    try connection.register(function: StringFunction.test, argumentCount: 4) { call in
      guard let text = call.utf8(0), let pattern = call.utf8(1),
        let operation = StringOperation(rawValue: call.int64(2))
      else { return call.answerNull() }
      let options = PredicateTree.Comparison.Options(rawValue: UInt(truncatingIfNeeded: call.int64(3)))
      call.answer(try operation._holds(for: text, pattern, options))
    }
    try connection.register(function: StringFunction.compare, argumentCount: 3) { call in
      guard let left = call.utf8(0), let right = call.utf8(1) else { return call.answerNull() }
      let options = PredicateTree.Comparison.Options(rawValue: UInt(truncatingIfNeeded: call.int64(2)))
      call.answer(Int64(StringComparison.compare(left, right, options: options).rawValue))
    }
    try connection.register(function: StringFunction.key, argumentCount: 2) { call in
      guard let text = call.text(0) else { return call.answerNull() }
      let options = PredicateTree.Comparison.Options(rawValue: UInt(truncatingIfNeeded: call.int64(1)))
      call.answer(StringComparison.folded(text, options: options))
    }
    let transforms: [(String, @Sendable (String) -> String)] = [
      ("NSCoreDataUppercase", { Derivation.TextFunction.uppercase($0) }),
      ("NSCoreDataLowercase", { Derivation.TextFunction.lowercase($0) }),
      ("NSCoreDataCanonical", { Derivation.TextFunction.canonical($0) }),
    ]
    try connection.register(function: "NSCoreDataLength", argumentCount: 1) { call in
      guard let text = call.utf8(0) else { return call.answerNull() }
      // In UTF-16 units, like NSString: two for each scalar of four bytes, one for any other.
      call.answer(
        text.reduce(into: Int64(0)) { count, byte in
          if byte & 0xC0 != 0x80 { count += byte >= 0xF0 ? 2 : 1 }
        })
    }
    for (name, transform) in transforms {
      try connection.register(function: name, argumentCount: 1) { call in
        guard let text = call.text(0) else { return call.answerNull() }
        call.answer(transform(text))
      }
    }
  }

  private static func _registerMath(_ connection: Connection) throws {
    let functions: [(String, @Sendable (Double) -> Double)] = [
      ("NSCoreDataSqrt", { $0.squareRoot() }),
      ("NSCoreDataExp", { exp($0) }),
      ("NSCoreDataLn", { log($0) }),
      ("NSCoreDataLog", { log10($0) }),
      ("NSCoreDataFloor", { $0.rounded(.down) }),
      ("NSCoreDataCeiling", { $0.rounded(.up) }),
      ("NSCoreDataTrunc", { $0.rounded(.towardZero) }),
    ]
    for (name, function) in functions {
      try connection.register(function: name, argumentCount: 1) { call in
        call.isNull(0) ? call.answerNull() : call.answer(function(call.double(0)))
      }
    }
    try connection.register(function: "NSCoreDataPow", argumentCount: 2) { call in
      call.isNull(0) || call.isNull(1) ? call.answerNull() : call.answer(pow(call.double(0), call.double(1)))
    }
    try connection.register(function: "NSCoreDataBitwiseXor", argumentCount: 2) { call in
      call.isNull(0) || call.isNull(1) ? call.answerNull() : call.answer(call.int64(0) ^ call.int64(1))
    }
  }

  /// Functions whose arguments may be integers or not, and those with random results.
  private static func _registerNumbers(_ connection: Connection) throws {
    try connection.register(function: "NSCoreDataModulus", argumentCount: 2) { call in
      if call.isNull(0) || call.isNull(1) { return call.answerNull() }
      guard call.isInteger(0), call.isInteger(1) else {
        return call.answer(call.double(0).truncatingRemainder(dividingBy: call.double(1)))
      }
      let (left, right) = (call.int64(0), call.int64(1))
      if right == 0 { return call.answerNull() }
      call.answer(right == -1 ? 0 : left % right)
    }
    try connection.register(function: "NSCoreDataText", argumentCount: 1) { call in
      if call.isNull(0) { return call.answerNull() }
      let number = call.isInteger(0) ? PredicateValue.int(call.int64(0)) : .double(call.double(0))
      call.answer(number.plainText)
    }
    // Number conversions for migrations: the nearest Float, and a Float's shortest decimal.
    try connection.register(function: "NSCoreDataFloat", argumentCount: 1) { call in
      call.isNull(0) ? call.answerNull() : call.answer(Double(Float(call.double(0))))
    }
    try connection.register(function: "NSCoreDataFloatDecimal", argumentCount: 1) { call in
      guard !call.isNull(0) else { return call.answerNull() }
      let number = Float(call.double(0))
      call.answer(Double(number.description) ?? Double(number))
    }
    try connection.register(function: "NSCoreDataRandom", argumentCount: 0, isDeterministic: false) { call in
      call.answer(Int64.random(in: 0...Int64(Int32.max)))
    }
    try connection.register(function: "NSCoreDataRandomBelow", argumentCount: 1, isDeterministic: false) {
      call in
      let limit = call.int64(0)
      limit > 0 ? call.answer(Int64.random(in: 0..<limit)) : call.answerNull()
    }
  }

  /// Functions called by the triggers of derived attributes in Core Data's files. They report which derived
  /// values changed; the triggers themselves update the columns.
  private static func _registerTriggerCalls(_ connection: Connection) throws {
    for name in [
      "NSCoreDataDATriggerUpdatedAffectedObjectValue", "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue",
    ] {
      try connection.register(function: name, argumentCount: -1, isDeterministic: false) { $0.answerNull() }
    }
    try connection.register(function: "NSCoreDataNow", argumentCount: 0, isDeterministic: false) {
      $0.answer(Date().timeIntervalSinceReferenceDate)
    }
  }
}

extension StringOperation {
  /// Evaluates the string comparison, with the code that in-memory predicates use.
  fileprivate func _holds(
    for text: StringComparison.Bytes, _ pattern: StringComparison.Bytes, _ options: StringComparison.Options
  ) throws -> Bool {
    switch self {
    case .equal: return StringComparison.equal(text, pattern, options: options)
    case .contains: return StringComparison.contains(text, pattern, options: options)
    case .beginsWith: return StringComparison.begins(text, with: pattern, options: options)
    case .endsWith: return StringComparison.ends(text, with: pattern, options: options)
    case .like: return try StringComparison.like(text, pattern, options: options)
    case .matches:
      return try StringComparison.matches(
        String(decoding: text, as: UTF8.self), String(decoding: pattern, as: UTF8.self), options: options)
    }
  }
}
