/// Replaces a part of a tree that is nested too deeply or has too many parts.
///
/// Trees are traversed, compared, printed and freed recursively, so every tree built in code must be bounded.
/// Building cannot fail: the part that exceeds the limit is replaced by this marker, and evaluating or
/// translating it is the error.
package struct NestingLimit: Hashable, Sendable, CustomStringConvertible {
  /// Maximum nesting of expressions and predicates.
  package static let depth = 500
  /// Maximum number of parts.
  package static let count = 1 << 20

  private init() {}

  package var description: String { "nested more than \(Self.depth) levels deep" }

  /// The error message for such a part.
  package static let problem = """
    The predicate nests deeper than \(depth) levels, or has more than \(count) parts; combine its parts \
    side by side with one AND or OR, or use IN with a collection.
    """

  fileprivate static let _object = PredicateObject(AnyHashable(NestingLimit()))
}

extension PredicateObject {
  /// Whether it marks a part beyond the limit.
  package var isNestingLimit: Bool { wrapped is NestingLimit }
}

extension PredicateTree {
  /// The leaf that replaces a predicate beyond the limit.
  package static var beyondLimit: PredicateTree { .block(NestingLimit._object) }
}

extension ExpressionTree {
  /// The leaf that replaces an expression beyond the limit.
  package static var beyondLimit: ExpressionTree { .block(NestingLimit._object, []) }
}

/// The nesting depth and number of parts of a tree.
package struct TreeExtent: Sendable, Hashable {
  package var depth = 1
  package var count = 1

  package static let leaf = TreeExtent()

  /// Returns the extent of a tree with these parts.
  package init(of parts: [TreeExtent] = []) {
    for part in parts { add(part) }
  }

  package mutating func add(_ part: TreeExtent) {
    depth = max(depth, part.depth + 1)
    count = min(count + part.count, NestingLimit.count + 1)
  }

  /// Whether a tree of this extent exceeds the limit.
  package var isBeyondLimit: Bool { depth > NestingLimit.depth || count > NestingLimit.count }
}

extension PredicateTree {
  /// Depth and size. The tree is within the limit, and so is the recursion.
  package var extent: TreeExtent {
    switch self {
    case .constant, .block: return .leaf
    case .not(let operand): return TreeExtent(of: [operand.extent])
    case .and(let members), .or(let members): return TreeExtent(of: members.map(\.extent))
    case .comparison(let comparison):
      return TreeExtent(of: [comparison.left.extent, comparison.right.extent])
    }
  }
}

extension ExpressionTree {
  /// Depth and size. The tree is within the limit, and so is the recursion.
  package var extent: TreeExtent {
    switch self {
    case .constant, .evaluatedObject, .variable, .keyPath, .anyKey: .leaf
    case .keyPathOf(let base, _): TreeExtent(of: [base.extent])
    case .function(_, let parts), .aggregate(let parts), .block(_, let parts):
      TreeExtent(of: parts.map(\.extent))
    case .customFunction(let target, _, let parts): TreeExtent(of: [target.extent] + parts.map(\.extent))
    case .subquery(let collection, _, let predicate): TreeExtent(of: [collection.extent, predicate.extent])
    case .set(_, let left, let right): TreeExtent(of: [left.extent, right.extent])
    case .conditional(let predicate, let then, let otherwise):
      TreeExtent(of: [predicate.extent, then.extent, otherwise.extent])
    case .assignment(_, let value): TreeExtent(of: [value.extent])
    }
  }
}
