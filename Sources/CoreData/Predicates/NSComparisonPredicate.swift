import CoreDataPredicateLanguage
import Foundation

/// A predicate that compares two expressions.
///
/// Immutable. Replaces Foundation's class of the same name, which cannot be instantiated on this platform; in
/// a file that imports Foundation as well, disambiguate with `import class CoreData.NSComparisonPredicate`.
///
/// ```swift
/// let predicate = NSComparisonPredicate(
///   leftExpression: NSExpression(forKeyPath: "title"),
///   rightExpression: NSExpression(forConstantValue: "the"),
///   modifier: .direct, type: .beginsWith, options: [.caseInsensitive, .diacriticInsensitive])
/// ```
open class NSComparisonPredicate: NSPredicate {
  private enum Form {
    case tree(PredicateTree)
    /// A comparison of a key with a plain value, created from a format.
    case templated(TemplatedComparison)
  }

  private let _form: Form
  /// The comparison as a tree.
  final var tree: PredicateTree {
    switch _form {
    case .tree(let tree): tree
    case .templated(let comparison): comparison.tree
    }
  }
  final var comparison: PredicateTree.Comparison {
    guard case .comparison(let comparison) = tree else { preconditionFailure("not a comparison") }
    return comparison
  }
  /// The precomputed form of a comparison of a key with a plain value, created from a format.
  final var templated: TemplatedComparison? {
    if case .templated(let comparison) = _form { comparison } else { nil }
  }
  /// Blocks evaluation, if set.
  final var gate: EvaluationGate?

  /// Creates a predicate from a tree, which must be a comparison.
  init(tree: PredicateTree) {
    guard case .comparison = tree else { preconditionFailure("not a comparison") }
    _form = .tree(tree)
    // A closure for Foundation, which would otherwise compare it as a constant.
    super.init(block: Self._neverCalled)
  }

  init(_ comparison: TemplatedComparison) {
    _form = .templated(comparison)
    super.init(block: Self._neverCalled)
  }

  private static let _neverCalled: @Sendable (Any?, [String: Any]?) -> Bool = { _, _ in false }

  /// Creates a comparison of two expressions with an operator.
  public init(
    leftExpression left: NSExpression, rightExpression right: NSExpression, modifier: Modifier,
    type: Operator, options: Options = []
  ) {
    _form = .tree(
      .comparison(
        .init(
          left.tree, type.operatorInTree, right.tree, modifier: modifier.modifierInTree,
          options: options.optionsInTree)))
    super.init(block: Self._neverCalled)
  }

  /// Creates a comparison by a selector with one colon, which the value of the left expression must implement
  /// (``SelectorPerforming``). The SQLite store cannot translate it.
  public init(
    leftExpression left: NSExpression, rightExpression right: NSExpression, customSelector selector: String
  ) {
    _form = .tree(.comparison(.init(left.tree, .customSelector, right.tree, selector: selector)))
    super.init(block: Self._neverCalled)
  }

  /// The left side.
  ///
  /// ```swift
  /// if let comparison = request.predicate as? NSComparisonPredicate {
  ///   print(comparison.leftExpression, comparison.predicateOperatorType, comparison.rightExpression)
  /// }
  /// ```
  open var leftExpression: NSExpression { NSExpression.face(of: comparison.left) }

  /// The right side.
  open var rightExpression: NSExpression { NSExpression.face(of: comparison.right) }

  /// The comparison operator.
  open var predicateOperatorType: Operator { Operator(comparison.op) }

  /// Whether the left side is a collection of which all or any elements are compared.
  open var comparisonPredicateModifier: Modifier { Modifier(comparison.modifier) }

  /// The string comparison options.
  open var options: Options { Options(rawValue: comparison.options.rawValue) }

  /// The selector of a comparison by selector; nil for any other. A string, since this platform has no
  /// selectors.
  open var customSelector: String? { comparison.selector }

  // MARK: Predicate

  /// Whether `object` satisfies the predicate. Traps if the predicate cannot be evaluated, where Core Data
  /// raises; see `matches(_:substitutionVariables:)`.
  open override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
    gate?.check(self)
    return tree.evaluateOrTrap(with: object, bindings)
  }

  /// The predicate as text that parses to an equal one. Reading it through `NSPredicate` causes Foundation's
  /// deprecation warning; `description` returns the same text.
  open override var predicateFormat: String { PredicatePrinter.text(of: tree) }

  open override var description: String { PredicatePrinter.text(of: tree) }

  open override func copy(with zone: NSZone? = nil) -> Any { self }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSComparisonPredicate else { return false }
    return self === other || tree == other.tree
  }

  open override var hash: Int { tree.hashValue }
}
