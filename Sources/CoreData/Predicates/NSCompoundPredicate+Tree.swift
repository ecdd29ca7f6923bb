import CoreDataPredicateLanguage
import Foundation

/// AND, OR or NOT of predicates, as a format gives it.
///
/// Those made by Foundation's own initialisers, such as
/// `NSCompoundPredicate(andPredicateWithSubpredicates:)`, evaluate as well and are understood everywhere
/// here. But Foundation copies and prints them as FALSEPREDICATE and takes any two of them for equal, and no
/// extension can change that: nothing in this module copies a predicate, `==` between predicates and
/// `canonicalFormat` look at the trees.
final class CompoundPredicate: NSCompoundPredicate {
  private(set) var tree: PredicateTree
  /// What holds it back from being evaluated, if anything does.
  var gate: EvaluationGate?

  /// `tree` is a compound.
  init(tree: PredicateTree) {
    self.tree = tree
    // Members are made when asked for; Foundation's storage stays empty.
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
