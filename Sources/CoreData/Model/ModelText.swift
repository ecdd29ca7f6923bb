import Foundation

/// The one place where text from a model file becomes a predicate or an expression. It is hostile until parsed, so this
/// throws where `NSPredicate(format:)` traps.
enum ModelText {
  struct Unreadable: Error {
    let text: String
    let reason: String
  }

  static func predicate(_ text: String) throws -> NSPredicate {
    throw Unreadable(text: text, reason: "predicates can't be parsed before the predicate language is in")
  }

  static func substituting(_ variables: [String: Any], in predicate: NSPredicate) -> NSPredicate {
    preconditionFailure("variables can't be replaced before the predicate language is in")
  }

  static func expression(_ text: String) throws -> NSExpression {
    throw Unreadable(text: text, reason: "expressions can't be parsed before the predicate language is in")
  }
}

extension NSPredicate {
  /// The predicate as a model file spells it.
  var predicateText: String { description }
}

extension NSAttributeDescription {
  /// The limits as predicates, each with the number of the Cocoa error for a value that fails it.
  final var limitPredicates: [(predicate: NSPredicate, code: Int)] {
    precondition(limits.isEmpty, "limits can't become predicates before the predicate language is in")
    return []
  }
}
