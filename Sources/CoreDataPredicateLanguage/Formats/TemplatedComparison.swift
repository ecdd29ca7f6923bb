import Synchronization

/// A comparison of a key with a plain value, from a format whose predicates differ only in this value.
///
/// Its tree is created on demand: a store that has cached the format needs only the value.
package final class TemplatedComparison: Sendable {
  private final class Tree: Sendable {
    let tree: PredicateTree
    init(_ tree: PredicateTree) { self.tree = tree }
  }

  package let template: PredicateTemplate
  package let value: PredicateValue
  /// The value's part of the shape.
  package let kind: UInt8
  private let _tree = AtomicLazyReference<Tree>()

  /// Nil for an object or a collection, whose shape is more than that of a value.
  init?(_ template: PredicateTemplate, _ value: PredicateValue) {
    guard let kind = PredicateShape.kind(of: value) else { return nil }
    self.template = template
    self.value = value
    self.kind = kind
  }

  /// The predicate. May be called on any thread.
  package var tree: PredicateTree {
    if let made = _tree.load() { return made.tree }
    return _tree.storeIfNil(Tree(template.tree(comparingWith: value))).tree
  }
}
