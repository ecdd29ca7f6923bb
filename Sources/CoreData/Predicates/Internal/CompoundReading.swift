import Foundation
import CoreDataPredicateLanguage

/// Reads compounds made by Foundation's own initialisers, however deep they nest.
///
/// Up to `_plainDepth` levels a compound becomes a tree of the same form. Beyond it the form is given up for
/// one that means the same and nests less: members of an AND within an AND stand side by side, two NOTs cancel
/// out.
struct CompoundReading {
  private static let _plainDepth = 100
  /// Foundation frees a chain of compounds by recursion, which takes the stack of a thread beyond this.
  private static let _freedDepth = 4000
  /// Parts that may still be read: compounds that share members unfold to far more than they take in memory.
  private var _budget = NestingLimit.count
  private var _isTooDeepToFree = false

  /// The tree of a predicate.
  /// - Throws: `PredicateEvaluationError.unsupported` for one that nests deeper than trees may.
  static func tree(of predicate: NSPredicate) throws -> PredicateTree {
    guard _compound(predicate) != nil else { return PredicateTree(single: predicate) }
    var plain = CompoundReading()
    if let tree = plain._tree(of: predicate, levels: _plainDepth) { return tree }
    var reading = CompoundReading()
    let tree = reading._flatTree(of: predicate, levels: NestingLimit.depth)
    // Kept for good: there is no way to take such a chain apart without changing predicates of the caller's.
    // One that could not be read to its end may be as deep.
    if reading._isTooDeepToFree || tree == nil { _ = Unmanaged.passRetained(predicate) }
    guard let tree else { throw PredicateEvaluationError.unsupported(NestingLimit.problem) }
    return tree
  }

  /// A compound of Foundation's; ours have trees.
  private static func _compound(_ predicate: NSPredicate) -> NSCompoundPredicate? {
    predicate is CompoundPredicate ? nil : predicate as? NSCompoundPredicate
  }

  private mutating func _tree(of predicate: NSPredicate, levels: Int) -> PredicateTree? {
    _budget -= 1
    guard levels > 0, _budget > 0 else { return nil }
    guard let compound = Self._compound(predicate) else { return PredicateTree(single: predicate) }
    var members: [PredicateTree] = []
    for part in compound.subpredicates {
      guard let member = _tree(of: part, levels: levels - 1) else { return nil }
      members.append(member)
    }
    return PredicateTree(compound.compoundPredicateType, members)
  }

  private mutating func _flatTree(of predicate: NSPredicate, levels: Int) -> PredicateTree? {
    guard levels > 0 else { return nil }
    let (core, isNegated) = _core(of: predicate)
    guard let compound = Self._compound(core) else {
      let tree = PredicateTree(single: core)
      return isNegated ? .not(tree) : tree
    }
    let type = compound.compoundPredicateType
    var members: [PredicateTree] = []
    var rest: [(predicate: NSPredicate, depth: Int)] = [(compound, 0)]
    while let (next, depth) = rest.popLast() {
      _budget -= 1
      guard _budget > 0 else { return nil }
      if depth > Self._freedDepth { _isTooDeepToFree = true }
      if let inner = Self._compound(next), inner.compoundPredicateType == type, type != .not || depth == 0 {
        rest.append(contentsOf: inner.subpredicates.reversed().map { ($0, depth + 1) })
      } else if let member = _flatTree(of: next, levels: levels - 1) {
        members.append(member)
      } else {
        return nil
      }
    }
    let tree = PredicateTree(type, members)
    return isNegated ? .not(tree) : tree
  }

  /// What is left of a predicate without NOTs and compounds of one member around it.
  private mutating func _core(of predicate: NSPredicate) -> (NSPredicate, isNegated: Bool) {
    var (core, isNegated) = (predicate, false)
    var depth = 0
    while let compound = Self._compound(core), compound.subpredicates.count == 1 {
      if compound.compoundPredicateType == .not { isNegated.toggle() }
      core = compound.subpredicates[0]
      depth += 1
    }
    _budget -= depth
    if depth > Self._freedDepth { _isTooDeepToFree = true }
    return (core, isNegated)
  }
}
