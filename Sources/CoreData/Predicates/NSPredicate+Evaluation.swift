import CoreDataPredicateLanguage
import Foundation

extension NSPredicate {
  /// Returns a copy in which variables such as `$NAME` are replaced by values, or by `NSExpression` objects.
  ///
  /// Use `NSNull()` for nil. Variables without a value remain; values without a variable are ignored. A
  /// closure predicate is unchanged.
  ///
  /// ```swift
  /// let byAuthor = NSPredicate(format: "author.name == $NAME")
  /// request.predicate = byAuthor.withSubstitutionVariables(["NAME": "Virginia Woolf"])
  /// ```
  public func withSubstitutionVariables(_ variables: [String: Any]) -> Self {
    guard let tree = try? PredicateTree(self), !tree.freeVariables.isEmpty else { return self }
    let values = variables.mapValues { NSExpression.tree(of: $0) }
    // Only expressions change, so the class stays the same.
    return tree.substituting(values).predicate as? Self ?? self
  }

  /// Whether `object` satisfies the predicate. Throws where `evaluate(with:)` would trap.
  ///
  /// Call it on the thread that may read the object. Not in Core Data, which raises.
  ///
  /// ```swift
  /// let predicate = try NSPredicate(parsing: "title BEGINSWITH 'The'")
  /// let isMatch = try predicate.matches(book)
  /// ```
  ///
  /// - Throws: ``Foundation/NSPredicate/EvaluationError``: a variable without a value, an unknown key, an
  ///   invalid comparison, or a predicate from a compiled model whose evaluation was not allowed.
  public func matches(_ object: Any?, substitutionVariables bindings: [String: Any]? = nil) throws -> Bool {
    if let gate = (self as? any GatedPredicate)?.gate, !gate.isOpen {
      throw EvaluationError(
        PredicateEvaluationError.unsupported(
          "This predicate has evaluation disabled: it comes from a compiled model. Call allowEvaluation() on it first."
        ))
    }
    do {
      return try PredicateTree(self).evaluate(with: object, bindings)
    } catch {
      throw EvaluationError(error)
    }
  }

  /// Allows the evaluation of a predicate from a compiled model, such as that of a fetch request template.
  /// Until then `evaluate(with:)` traps, where Core Data raises; fetching with it needs no permission. Does
  /// nothing for other predicates.
  ///
  /// ```swift
  /// let template = model.fetchRequestTemplate(forName: "LongBooks")?.predicate
  /// template?.allowEvaluation()
  /// let isLong = template?.evaluate(with: book) ?? false
  /// ```
  public func allowEvaluation() { (self as? any GatedPredicate)?.gate?.open() }
}

extension NSPredicate {
  /// The predicate as text that parses to an equal one, unless it contains a closure or an object.
  ///
  /// Replaces `predicateFormat`, which Foundation on this platform deprecates and gets wrong for its own
  /// compounds. Not in Core Data.
  ///
  /// ```swift
  /// UserDefaults.standard.set(request.predicate?.canonicalFormat, forKey: "lastFilter")
  /// ```
  public var canonicalFormat: String {
    do {
      return PredicatePrinter.text(of: try PredicateTree(self))
    } catch {
      return "<\(error)>"
    }
  }

  /// Whether two predicates have equal trees. Predicates with different closures are never equal.
  public static func == (left: NSPredicate, right: NSPredicate) -> Bool {
    if left === right { return true }
    guard let tree = try? PredicateTree(left), let other = try? PredicateTree(right) else { return false }
    return tree == other
  }

  /// Whether two predicates differ.
  public static func != (left: NSPredicate, right: NSPredicate) -> Bool { !(left == right) }
}
