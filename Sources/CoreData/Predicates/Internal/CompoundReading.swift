import Foundation
import CoreDataPredicateLanguage

/// Reads compounds created by Foundation's own initializers, at any nesting depth.
///
/// Up to `_plainDepth` levels, a compound becomes a tree of the same form. Beyond that, it becomes an
/// equivalent form with less nesting: an AND within an AND is flattened, and double negations cancel out.
struct CompoundReading {
  private static let _plainDepth = 100
  /// Foundation frees a chain of compounds recursively, which overflows a thread's stack beyond this depth.
  private static let _freedDepth = 4000
  /// Remaining number of nodes to read: compounds that share members expand to far more nodes than they
  /// occupy in memory.
  private var _budget = NestingLimit.count
  private var _isTooDeepToFree = false

  /// Returns the tree of a predicate.
  /// - Throws: `PredicateEvaluationError.unsupported` for one that nests deeper than trees may.
  static func tree(of predicate: NSPredicate) throws -> PredicateTree {
    guard _compound(predicate) != nil else { return PredicateTree(single: predicate) }
    var plain = CompoundReading()
    if let tree = plain._tree(of: predicate, levels: _plainDepth) { return tree }
    var reading = CompoundReading()
    let tree = reading._flatTree(of: predicate, levels: NestingLimit.depth)
    // Leaked deliberately: dismantling such a chain would modify the caller's predicates. A chain that could
    // not be read completely may be just as deep.
    if reading._isTooDeepToFree || tree == nil { _ = Unmanaged.passRetained(predicate) }
    guard let tree else { throw PredicateEvaluationError.unsupported(NestingLimit.problem) }
    return tree
  }

  /// Returns a compound of Foundation's; those of this module have trees.
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

  /// Strips NOTs and single-member compounds from a predicate.
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
