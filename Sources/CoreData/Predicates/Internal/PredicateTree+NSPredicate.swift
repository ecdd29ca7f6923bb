import CoreDataPredicateLanguage
import Foundation

/// Converts between predicate objects and trees.
extension PredicateTree {
  /// Creates the tree of any predicate: its own tree if it is one of this module's; otherwise a constant, a
  /// closure, or a compound of those. Free for this module's predicates.
  /// - Throws: `PredicateEvaluationError.unsupported` for compounds nested too deeply.
  init(_ predicate: NSPredicate) throws {
    self = try CompoundReading.tree(of: predicate)
  }

  /// Creates the tree of a predicate that is not a Foundation compound.
  init(single predicate: NSPredicate) {
    if let comparison = predicate as? NSComparisonPredicate {
      self = comparison.tree
    } else if let compound = predicate as? CompoundPredicate {
      self = compound.tree
    } else if type(of: predicate) == NSPredicate.self, predicate.isEqual(NSPredicate(value: true)) {
      // Foundation does not expose whether a predicate is a constant, but compares constants by value.
      self = .constant(true)
    } else if type(of: predicate) == NSPredicate.self, predicate.isEqual(NSPredicate(value: false)) {
      self = .constant(false)
    } else {
      self = .block(PredicateObject(AnyHashable(predicate)))
    }
  }

  /// Creates a compound of members; NOT has one.
  init(_ type: NSCompoundPredicate.LogicalType, _ members: [PredicateTree]) {
    switch type {
    case .and: self = .and(members)
    case .or: self = .or(members)
    case .not: self = .not(members.first ?? .constant(true))
    }
  }

  /// A predicate object for the tree: a comparison, a compound, or a Foundation predicate.
  var predicate: NSPredicate {
    switch self {
    case .constant(let value): NSPredicate(value: value)
    case .comparison: NSComparisonPredicate(tree: self)
    case .and, .or, .not: CompoundPredicate(tree: self)
    case .block(let block): block.wrapped as? NSPredicate ?? NSPredicate { _, _ in false }
    }
  }

  /// Whether `object` satisfies the tree.
  /// - Throws: `PredicateEvaluationError`.
  func evaluate(with object: Any?, _ bindings: [String: Any]?) throws -> Bool {
    let variables = bindings?.mapValues { PredicateValue(any: $0) } ?? [:]
    return try matches(ObjectSubject(object), variables: variables)
  }

  /// Like `evaluate`, but traps on failure, where Core Data raises.
  func evaluateOrTrap(with object: Any?, _ bindings: [String: Any]?) -> Bool {
    do {
      return try evaluate(with: object, bindings)
    } catch {
      programmerError(
        "NSInvalidArgumentException: “\(PredicatePrinter.text(of: self))” cannot be evaluated: \(error)")
    }
  }
}
