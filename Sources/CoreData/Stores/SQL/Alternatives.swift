import CoreDataPredicateLanguage

/// The members of a long OR that test the same key path for equality with constants, grouped by key path.
package struct Alternatives {
  /// Minimum number of members for grouping to pay off.
  package static let worthwhileCount = 16

  /// The common part of all members of a group.
  package struct Group: Hashable {
    fileprivate let path: [String]
    /// Texts, numbers and objects are bound differently.
    fileprivate let kind: UInt8
  }

  /// Numbers of the constants of a group.
  package private(set) var constants: [Group: [Int]] = [:]
  /// One comparison of each group.
  package private(set) var examples: [Group: PredicateTree.Comparison] = [:]
  /// Position of a group among the members of the OR.
  package var places: [Group: Int] = [:]

  /// Finds the groups with enough members.
  package init(_ members: [PredicateTree]) {
    var counts: [Group: Int] = [:]
    for case .comparison(let comparison) in members {
      guard let group = Self._group(of: comparison) else { continue }
      counts[group, default: 0] += 1
      if counts[group] == Self.worthwhileCount { examples[group] = comparison }
    }
  }

  /// Returns the group of a comparison; nil if it is not grouped.
  package func group(of comparison: PredicateTree.Comparison) -> Group? {
    guard let group = Self._group(of: comparison), examples[group] != nil else { return nil }
    return group
  }

  /// Adds a constant. Returns whether the group already had one.
  package mutating func add(_ constant: Int, to group: Group) -> Bool {
    constants[group, default: []].append(constant)
    return places[group] != nil
  }

  private static func _group(of comparison: PredicateTree.Comparison) -> Group? {
    guard comparison.op == .equal, comparison.modifier == .direct, comparison.options.isEmpty,
      case .keyPath(let path) = comparison.left, case .constant(let value) = comparison.right
    else { return nil }
    switch value {
    case .null, .collection, .dictionary: return nil
    case .object: return Group(path: path, kind: 0)
    default: return PredicateShape.kind(of: value).map { Group(path: path, kind: $0) }
    }
  }
}

extension PredicateTree {
  /// The members of an AND or OR in order, with nested compounds of the same kind flattened.
  package var sideBySide: [PredicateTree] {
    switch self {
    case .and(let members):
      guard members.contains(where: { if case .and = $0 { true } else { false } }) else { return members }
      return members.flatMap { member -> [PredicateTree] in
        if case .and = member { member.sideBySide } else { [member] }
      }
    case .or(let members):
      guard members.contains(where: { if case .or = $0 { true } else { false } }) else { return members }
      return members.flatMap { member -> [PredicateTree] in
        if case .or = member { member.sideBySide } else { [member] }
      }
    default: return [self]
    }
  }
}
