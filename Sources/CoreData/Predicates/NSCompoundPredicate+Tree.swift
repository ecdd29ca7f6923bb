import CoreDataPredicateLanguage
import Foundation

/// AND, OR or NOT of predicates, as created from a format.
///
/// Compounds created by Foundation's own initializers, such as
/// `NSCompoundPredicate(andPredicateWithSubpredicates:)`, are also evaluated and understood by all of this
/// module. However, Foundation copies and prints them as FALSEPREDICATE and considers any two of them equal,
/// which no extension can change. This module therefore never copies a predicate, and `==` between predicates
/// and `canonicalFormat` work on the trees.
final class CompoundPredicate: NSCompoundPredicate {
  private(set) var tree: PredicateTree
  /// Blocks evaluation, if set.
  var gate: EvaluationGate?

  /// Creates a predicate from a tree, which must be a compound.
  init(tree: PredicateTree) {
    self.tree = tree
    // Members are created on demand; Foundation's storage stays empty.
    super.init(type: .and, subpredicates: [])
  }

  override var compoundPredicateType: NSCompoundPredicate.LogicalType {
    get {
      switch tree {
      case .not: .not
      case .or: .or
      default: .and
      }
    }
    set { tree = PredicateTree(newValue, _members) }
  }

  override var subpredicates: [NSPredicate] {
    get { _members.map(\.predicate) }
    set {
      tree = PredicateTree(
        compoundPredicateType, newValue.map { (try? PredicateTree($0)) ?? .beyondLimit })
    }
  }

  private var _members: [PredicateTree] {
    switch tree {
    case .and(let members), .or(let members): members
    case .not(let operand): [operand]
    default: []
    }
  }

  override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
    gate?.check(self)
    return tree.evaluateOrTrap(with: object, bindings)
  }

  override var predicateFormat: String { PredicatePrinter.text(of: tree) }

  override var description: String { PredicatePrinter.text(of: tree) }

  override func copy(with zone: NSZone? = nil) -> Any {
    let copy = CompoundPredicate(tree: tree)
    copy.gate = gate
    return copy
  }

  override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSCompoundPredicate else { return false }
    if self === other { return true }
    return (try? PredicateTree(other)) == tree
  }

  override var hash: Int { tree.hashValue }
}
