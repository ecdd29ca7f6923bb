import Foundation
import PredicateLanguage

/// The one place where text from a model file becomes a predicate or an expression. It is hostile until
/// parsed, so this throws where `NSPredicate(format:)` traps.
enum ModelText {
  static func predicate(_ text: String) throws -> NSPredicate { try NSPredicate(parsing: text) }

  static func expression(_ text: String) throws -> NSExpression { try NSExpression(parsing: text) }

  static func substituting(_ variables: [String: Any], in predicate: NSPredicate) -> NSPredicate {
    predicate.withSubstitutionVariables(variables)
  }
}

extension NSPredicate {
  /// The predicate as a model file spells it.
  var predicateText: String {
    (try? PredicateTree(self)).map { PredicatePrinter.text(of: $0) } ?? description
  }
}
