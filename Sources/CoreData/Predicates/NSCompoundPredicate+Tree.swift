import Foundation
import PredicateLanguage

/// AND, OR or NOT of predicates, as parsed or as made by the functions below.
///
/// Foundation's own compounds evaluate as well and are understood everywhere here, but they print and copy as
/// FALSEPREDICATE and compare as equal to one another.
final class CompoundPredicate: NSCompoundPredicate {
  private(set) var tree: PredicateTree

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
      do {
        tree = PredicateTree(compoundPredicateType, try newValue.map { try PredicateTree($0) })
      } catch {
        fatalError("NSInvalidArgumentException: \(error)")
      }
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
    tree.evaluateOrTrap(with: object, bindings)
  }

  override var predicateFormat: String { PredicatePrinter.text(of: tree) }

  override var description: String { PredicatePrinter.text(of: tree) }

  override func copy(with zone: NSZone? = nil) -> Any { CompoundPredicate(tree: tree) }

  override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSCompoundPredicate else { return false }
    if self === other { return true }
    return (try? PredicateTree(other)) == tree
  }

  override var hash: Int { tree.hashValue }
}

// These stand beside Foundation's initialisers and are preferred where this module is imported, so that compounds made in
// the usual way print, copy and compare as they do in Core Data.

/// Makes AND, OR or NOT of predicates; NOT takes one.
public func NSCompoundPredicate(
  type: NSCompoundPredicate.LogicalType, subpredicates: [NSPredicate]
) -> Foundation.NSCompoundPredicate {
  precondition(type != .not || subpredicates.count == 1, "NSInvalidArgumentException: NOT takes one predicate.")
  do {
    return CompoundPredicate(tree: PredicateTree(type, try subpredicates.map { try PredicateTree($0) }))
  } catch {
    fatalError("NSInvalidArgumentException: \(error)")
  }
}

/// Makes a predicate that holds if all of `subpredicates` hold; of none, always.
public func NSCompoundPredicate(
  andPredicateWithSubpredicates subpredicates: [NSPredicate]
) -> Foundation.NSCompoundPredicate {
  NSCompoundPredicate(type: .and, subpredicates: subpredicates)
}

/// Makes a predicate that holds if one of `subpredicates` holds; of none, never.
public func NSCompoundPredicate(
  orPredicateWithSubpredicates subpredicates: [NSPredicate]
) -> Foundation.NSCompoundPredicate {
  NSCompoundPredicate(type: .or, subpredicates: subpredicates)
}

/// Makes a predicate that holds if `predicate` does not.
public func NSCompoundPredicate(
  notPredicateWithSubpredicate predicate: NSPredicate
) -> Foundation.NSCompoundPredicate {
  NSCompoundPredicate(type: .not, subpredicates: [predicate])
}
