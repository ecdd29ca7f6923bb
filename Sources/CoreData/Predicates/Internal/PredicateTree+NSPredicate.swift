import CoreDataPredicateLanguage
import Foundation

/// Between predicate objects and the trees they are faces of.
extension PredicateTree {
  /// The tree of any predicate: the one it was made of, if it is one of ours; otherwise a constant, a
  /// closure, or a compound of those. Costs nothing for ours.
  /// - Throws: `PredicateEvaluationError.unsupported` for compounds nested too deeply.
  init(_ predicate: NSPredicate) throws {
    self = try CompoundReading.tree(of: predicate)
  }

  /// The tree of a predicate that is no compound of Foundation's.
  init(single predicate: NSPredicate) {
    if let comparison = predicate as? NSComparisonPredicate {
      self = comparison.tree
    } else if let compound = predicate as? CompoundPredicate {
      self = compound.tree
    } else if type(of: predicate) == NSPredicate.self, predicate.isEqual(NSPredicate(value: true)) {
      // Foundation keeps to itself whether a predicate is a constant, but compares constants as such.
      self = .constant(true)
    } else if type(of: predicate) == NSPredicate.self, predicate.isEqual(NSPredicate(value: false)) {
      self = .constant(false)
    } else {
      self = .block(PredicateObject(AnyHashable(predicate)))
    }
  }

  /// A compound of members, of which NOT has one.
  init(_ type: NSCompoundPredicate.LogicalType, _ members: [PredicateTree]) {
    switch type {
    case .and: self = .and(members)
    case .or: self = .or(members)
    case .not: self = .not(members.first ?? .constant(true))
    }
  }

  /// A predicate object for the tree: a comparison, a compound, or one of Foundation's own.
  var predicate: NSPredicate {
    switch self {
    case .constant(let value): NSPredicate(value: value)
    case .comparison: NSComparisonPredicate(tree: self)
    case .and, .or, .not: CompoundPredicate(tree: self)
    case .block(let block): block.base.base as? NSPredicate ?? NSPredicate { _, _ in false }
    }
  }

  /// Whether `object` fulfils the tree.
  /// - Throws: `PredicateEvaluationError`.
  func evaluate(with object: Any?, _ bindings: [String: Any]?) throws -> Bool {
    let variables = bindings?.mapValues { PredicateValue(any: $0) } ?? [:]
    return try matches(ObjectSubject(object), variables: variables)
  }

  /// The same where a failure can only trap, as it raises in Core Data.
  func evaluateOrTrap(with object: Any?, _ bindings: [String: Any]?) -> Bool {
    do {
      return try evaluate(with: object, bindings)
    } catch {
      programmerError(
        "NSInvalidArgumentException: “\(PredicatePrinter.text(of: self))” cannot be evaluated: \(error)")
    }
  }
}
