import CoreDataPredicateLanguage
import Foundation

/// A fetch that cannot be expressed in SQL. The store never falls back to filtering in memory.
package struct UntranslatableQueryError: StoreFailure, CustomStringConvertible {
  package let entity: String
  /// The part that cannot be translated.
  package let expression: String
  package let reason: String

  package init(entity: String, expression: String, reason: String) {
    self.entity = entity
    self.expression = expression
    self.reason = reason
  }

  package var cocoaCode: Int { NSCoreDataError }

  package func describe(in info: inout [String: Any]) { info[NSUnderlyingErrorKey] = self }

  /// Whether a fetch threw an error because of its query: the query has no translation, or SQLite refuses to
  /// compute it, such as a pattern of many thousands of characters. False for errors of stores, contexts and
  /// tasks.
  package static func isReason(of error: any Error) -> Bool {
    guard let info = (error as? CocoaError)?.userInfo else { return false }
    return info[NSUnderlyingErrorKey] is UntranslatableQueryError || info[NSSQLiteErrorDomain] as? Int == 1
  }

  package var description: String {
    "the fetch of '\(entity)' cannot be translated to SQL: \(expression): \(reason)"
  }
}

extension ExpressionTree {
  /// The expression for error messages, without constants, which may be private data.
  package var outline: String {
    switch self {
    case .constant: "a constant"
    case .evaluatedObject: "SELF"
    case .variable(let name): "$\(name)"
    case .keyPath(let path): path.joined(separator: ".")
    case .keyPathOf(let base, let path): base.outline + "." + path.joined(separator: ".")
    case .function(let function, let arguments):
      "\(function.rawValue)(\(arguments.map(\.outline).joined(separator: ", ")))"
    case .customFunction(_, let selector, _): "FUNCTION(…, '\(selector)')"
    case .subquery(let collection, let variable, _): "SUBQUERY(\(collection.outline), $\(variable), …)"
    case .aggregate: "{…}"
    case .set(let operation, let left, let right): "\(left.outline) \(operation) \(right.outline)"
    case .conditional: "TERNARY(…)"
    case .assignment(let name, _): "$\(name) := …"
    case .anyKey: "ANYKEY"
    case .block: "a block expression"
    }
  }
}
