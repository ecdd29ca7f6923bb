import CoreDataPredicateLanguage
import Foundation

/// Between predicate objects and the trees they are faces of.
extension PredicateTree {
  /// Deepest nesting of compound predicates accepted: trees are walked by recursion.
  private static let _maximumDepth = 1000

  /// The tree of any predicate: the one it was made of, if it is one of ours; otherwise a constant, a
  /// closure, or a compound of those. Costs nothing for ours.
  /// - Throws: `PredicateEvaluationError.unsupported` for compounds nested too deeply.
  init(_ predicate: NSPredicate) throws {
    self = try Self._tree(of: predicate, depth: 0)
  }

  private static func _tree(of predicate: NSPredicate, depth: Int) throws -> PredicateTree {
    if let comparison = predicate as? NSComparisonPredicate { return comparison.tree }
    if let compound = predicate as? CompoundPredicate { return compound.tree }
    if let compound = predicate as? NSCompoundPredicate {
      guard depth < _maximumDepth else {
        throw PredicateEvaluationError.unsupported("The predicate nests deeper than \(_maximumDepth) levels.")
      }
      let members = try compound.subpredicates.map { try _tree(of: $0, depth: depth + 1) }
      return PredicateTree(compound.compoundPredicateType, members)
    }
    // Foundation keeps to itself whether a predicate is a constant, but compares constants as such.
    if type(of: predicate) == NSPredicate.self {
      if predicate.isEqual(NSPredicate(value: true)) { return .constant(true) }
      if predicate.isEqual(NSPredicate(value: false)) { return .constant(false) }
    }
    return .block(PredicateObject(AnyHashable(predicate)))
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

extension PredicateTree {
  /// The tree with managed objects replaced by their IDs: what a store knows them by, and what may leave the
  /// queue.
  var referringByID: PredicateTree {
    // The usual comparison of a key with a plain value has nothing to be replaced.
    if case .comparison(let comparison) = self, case .keyPath = comparison.left,
      case .constant(let value) = comparison.right, !value.holdsManagedObject
    {
      return self
    }
    return rewritten { (expression: ExpressionTree) throws(Never) -> ExpressionTree? in
      guard case .constant(let value) = expression, value.holdsManagedObject else { return nil }
      return .constant(value.referringByID)
    } ?? self
  }
}

extension ExpressionTree {
  /// The expression with managed objects replaced by their IDs.
  var referringByID: ExpressionTree {
    rewritten { (expression: ExpressionTree) throws(Never) -> ExpressionTree? in
      guard case .constant(let value) = expression, value.holdsManagedObject else { return nil }
      return .constant(value.referringByID)
    } ?? self
  }
}

extension PredicateValue {
  fileprivate var holdsManagedObject: Bool {
    switch self {
    case .object(let object): object.base.base is NSManagedObject
    case .collection(let elements): elements.contains { $0.holdsManagedObject }
    case .dictionary(let entries): entries.values.contains { $0.holdsManagedObject }
    default: false
    }
  }

  fileprivate var referringByID: PredicateValue {
    switch self {
    case .object(let object):
      (object.base.base as? NSManagedObject).map { .object(PredicateObject($0.objectID)) } ?? self
    case .collection(let elements): .collection(elements.map(\.referringByID))
    case .dictionary(let entries): .dictionary(entries.mapValues(\.referringByID))
    default: self
    }
  }
}
