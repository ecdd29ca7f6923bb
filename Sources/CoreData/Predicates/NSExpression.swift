import CoreDataPredicateLanguage
import Foundation

/// One side of a comparison: a constant, a key path, a function of other expressions.
///
/// Immutable. Takes the place of Foundation's class of the same name, which cannot be instantiated here; in a
/// file that imports Foundation as well, `import class CoreData.NSExpression` says which of the two is meant.
///
/// ```swift
/// let average = NSExpression(forFunction: "average:", arguments: [NSExpression(forKeyPath: "rating")])
/// ```
open class NSExpression: NSObject, NSCopying {
  /// What kind of expression it is.
  public enum ExpressionType: UInt, Sendable {
    /// A value.
    case constantValue = 0
    /// The object itself: `SELF`.
    case evaluatedObject = 1
    /// A value put in later: `$name`.
    case variable = 2
    /// A value of the object, or of one it leads to.
    case keyPath = 3
    /// A function of other expressions.
    case function = 4
    /// What is in either of two collections.
    case unionSet = 5
    /// What is in both of two collections.
    case intersectSet = 6
    /// What is in the first of two collections and not in the second.
    case minusSet = 7
    /// The members of a collection that meet a predicate: `SUBQUERY`.
    case subquery = 13
    /// Several expressions as a collection: `{a, b}`.
    case aggregate = 14
    /// Any key of the object: `ANYKEY`.
    case anyKey = 15
    /// A closure.
    case block = 19
    /// One of two expressions, as a predicate says: `TERNARY`.
    case conditional = 20
    /// `NSFetchRequestExpressionType`.
    case fetchRequest = 50
  }

  /// What the expression says.
  let tree: ExpressionTree
  private let _type: ExpressionType
  /// Depth and size of the tree if they are known.
  private let _extent: TreeExtent?

  init(tree: ExpressionTree, type: ExpressionType? = nil) {
    self.tree = tree
    _type = type ?? tree.type
    _extent = nil
  }

  /// An expression of parts; one that is too deep to be walked is an error when it is evaluated.
  private init(_ tree: @autoclosure () -> ExpressionTree, of parts: [TreeExtent], type: ExpressionType? = nil)
  {
    let extent = TreeExtent(of: parts)
    self.tree = extent.isBeyondLimit ? .beyondLimit : tree()
    _extent = extent.isBeyondLimit ? .leaf : extent
    _type = type ?? self.tree.type
  }

  final var extent: TreeExtent { _extent ?? tree.extent }

  /// Kind of the expression.
  open var expressionType: ExpressionType { _type }

  // MARK: Making expressions

  /// Makes an expression of a format string and its arguments. Traps if it cannot be understood, as Core Data
  /// raises.
  ///
  /// ```swift
  /// let expression = NSExpression(format: "pages * %d", 2)
  /// ```
  public convenience init(format: String, _ arguments: any CVarArg...) {
    self.init(format: format, argumentArray: arguments)
  }

  /// Makes an expression of a format string and an array of arguments. Traps if it cannot be understood.
  public convenience init(format: String, argumentArray arguments: [Any]) {
    do {
      try self.init(parsing: format, arguments: arguments)
    } catch {
      programmerError("NSInvalidArgumentException: \(error)")
    }
  }

  /// Makes an expression of text that may turn out wrong. Not in Core Data, which raises.
  ///
  /// ```swift
  /// do {
  ///   let expression = try NSExpression(parsing: UserDefaults.standard.string(forKey: "formula") ?? "pages")
  /// } catch {
  ///   print("The formula cannot be read: \(error)")
  /// }
  /// ```
  ///
  /// - Throws: ``Foundation/NSPredicate/FormatError``.
  public convenience init(parsing format: String, arguments: [Any] = []) throws {
    do {
      let template = try ExpressionTemplate.cached(format)
      self.init(
        tree: try template.expression(count: arguments.count) { try FormatArgument(any: arguments[$0]) })
    } catch {
      throw NSPredicate.FormatError(error, format: format)
    }
  }

  /// Makes an expression with a value that is always the same.
  public convenience init(forConstantValue value: Any?) {
    self.init(tree: .constant(PredicateValue(any: value)), type: .constantValue)
  }

  /// The object that is evaluated: SELF.
  open class func expressionForEvaluatedObject() -> NSExpression { NSExpression(tree: .evaluatedObject) }

  /// Any key of the evaluated dictionary.
  open class func expressionForAnyKey() -> NSExpression { NSExpression(tree: .anyKey) }

  /// Makes an expression with the value given to a variable, named without its dollar.
  public convenience init(forVariable name: String) { self.init(tree: .variable(name)) }

  /// Makes an expression with the value at a key path. Traps if the path has an empty component.
  public convenience init(forKeyPath path: String) {
    guard let components = KeyPathText.components(path) else {
      programmerError("NSInvalidArgumentException: “\(path)” is not a key path.")
    }
    self.init(tree: path == "self" || path == "SELF" ? .evaluatedObject : .keyPath(components))
  }

  /// Makes an expression with the result of a predefined function such as `sum:` or `add:to:`.
  ///
  /// Arguments are expressions; anything else is taken for a constant. Traps if there is no such function.
  ///
  /// ```swift
  /// let newest = NSExpression(forFunction: "max:", arguments: [NSExpression(forKeyPath: "published")])
  /// ```
  public convenience init(forFunction name: String, arguments: [Any]) {
    guard let function = PredicateFunction(named: name) else {
      let known = PredicateFunction.called.map(\.rawValue).sorted().joined(separator: ", ")
      programmerError("NSInvalidArgumentException: there is no function named “\(name)”; known are \(known).")
    }
    self.init(.function(function, arguments.map { Self.tree(of: $0) }), of: arguments.map(Self._extent))
  }

  /// Makes an expression with what `target` answers to a selector (``SelectorPerforming``).
  public convenience init(forFunction target: NSExpression, selectorName name: String, arguments: [Any]?) {
    let arguments = arguments ?? []
    self.init(
      .customFunction(target.tree, name, arguments.map { Self.tree(of: $0) }),
      of: [target.extent] + arguments.map(Self._extent))
  }

  /// Makes an expression with a collection of the values of others; what is no expression is taken for a
  /// constant.
  public convenience init(forAggregate elements: [Any]) {
    self.init(
      .aggregate(of: elements.map { Self.tree(of: $0) }), of: elements.map(Self._extent), type: .aggregate)
  }

  /// Makes an expression with the elements of both collections.
  public convenience init(forUnionSet left: NSExpression, with right: NSExpression) {
    self.init(.set(.union, left.tree, right.tree), of: [left.extent, right.extent])
  }

  /// Makes an expression with the elements that both collections have.
  public convenience init(forIntersectSet left: NSExpression, with right: NSExpression) {
    self.init(.set(.intersect, left.tree, right.tree), of: [left.extent, right.extent])
  }

  /// Makes an expression with the elements of the left collection that the right one lacks.
  public convenience init(forMinusSet left: NSExpression, with right: NSExpression) {
    self.init(.set(.minus, left.tree, right.tree), of: [left.extent, right.extent])
  }

  /// Makes an expression with the elements of a collection for which `predicate` holds, the element being
  /// `$variable`.
  ///
  /// ```swift
  /// let longBooks = NSExpression(
  ///   forSubquery: NSExpression(forKeyPath: "books"), usingIteratorVariable: "book",
  ///   predicate: NSPredicate(format: "$book.pages > 500"))
  /// ```
  public convenience init(
    forSubquery collection: NSExpression, usingIteratorVariable variable: String, predicate: NSPredicate
  ) {
    let predicate = Self._tree(of: predicate)
    self.init(
      .subquery(collection.tree, variable: variable, predicate), of: [collection.extent, predicate.extent])
  }

  /// Makes an expression whose value depends on a predicate.
  ///
  /// ```swift
  /// let label = NSExpression(
  ///   forConditional: NSPredicate(format: "isRead == YES"),
  ///   trueExpression: NSExpression(forConstantValue: "read"),
  ///   falseExpression: NSExpression(forConstantValue: "unread"))
  /// ```
  public convenience init(
    forConditional predicate: NSPredicate, trueExpression: NSExpression, falseExpression: NSExpression
  ) {
    let predicate = Self._tree(of: predicate)
    self.init(
      .conditional(predicate, trueExpression.tree, falseExpression.tree),
      of: [predicate.extent, trueExpression.extent, falseExpression.extent])
  }

  /// Makes an expression with the result of a closure, which gets the evaluated object, the values of
  /// `arguments` and the variables. No store can translate it.
  public convenience init(
    block: @escaping (Any?, [Any], NSMutableDictionary?) -> Any, arguments: [NSExpression]?
  ) {
    let object = PredicateObject(AnyHashable(ExpressionBlock(block)))
    self.init(.block(object, (arguments ?? []).map(\.tree)), of: (arguments ?? []).map(\.extent))
  }

  /// Tree of a predicate; one beyond the bound is an error when it is evaluated.
  private static func _tree(of predicate: NSPredicate) -> PredicateTree {
    (try? PredicateTree(predicate)) ?? .beyondLimit
  }

  private static func _extent(of argument: Any) -> TreeExtent { (argument as? NSExpression)?.extent ?? .leaf }

  /// Tree of an expression, or of a constant.
  static func tree(of argument: Any) -> ExpressionTree {
    (argument as? NSExpression)?.tree ?? .constant(PredicateValue(any: argument))
  }

  /// An expression object for a tree.
  class func face(of tree: ExpressionTree) -> NSExpression {
    if case .function(.fetch, let arguments) = tree, arguments.count == 3 {
      return NSFetchRequestExpression(tree: tree)
    }
    return NSExpression(tree: tree)
  }

  // MARK: Object

  /// The expression as text that parses to an equal one.
  open override var description: String { PredicatePrinter.text(of: tree) }

  open override func copy() -> Any { copy(with: nil) }

  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSExpression else { return false }
    return self === other || tree == other.tree
  }

  open override var hash: Int { tree.hashValue }
}
