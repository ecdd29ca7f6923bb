import CoreDataPredicateLanguage
import Foundation

/// One side of a comparison: a constant, a key path, a function of other expressions.
///
/// Immutable. Replaces Foundation's class of the same name, which cannot be instantiated on this platform; in
/// a file that imports Foundation as well, disambiguate with `import class CoreData.NSExpression`.
///
/// ```swift
/// let average = NSExpression(forFunction: "average:", arguments: [NSExpression(forKeyPath: "rating")])
/// ```
open class NSExpression: NSObject, NSCopying {
  /// The kind of an expression.
  public enum ExpressionType: UInt, Sendable {
    /// A constant.
    case constantValue = 0
    /// The object itself: `SELF`.
    case evaluatedObject = 1
    /// A variable to be substituted: `$name`.
    case variable = 2
    /// A value of the object or of a related one.
    case keyPath = 3
    /// A function of other expressions.
    case function = 4
    /// The union of two collections.
    case unionSet = 5
    /// The intersection of two collections.
    case intersectSet = 6
    /// The difference of two collections.
    case minusSet = 7
    /// The members of a collection that satisfy a predicate: `SUBQUERY`.
    case subquery = 13
    /// Several expressions as a collection: `{a, b}`.
    case aggregate = 14
    /// Any key of the object: `ANYKEY`.
    case anyKey = 15
    /// A closure.
    case block = 19
    /// One of two expressions, depending on a predicate: `TERNARY`.
    case conditional = 20
    /// `NSFetchRequestExpressionType`.
    case fetchRequest = 50
  }

  /// The expression's tree.
  let tree: ExpressionTree
  private let _type: ExpressionType
  /// Depth and size of the tree, if known.
  private let _extent: TreeExtent?

  init(tree: ExpressionTree, type: ExpressionType? = nil) {
    self.tree = tree
    _type = type ?? tree.type
    _extent = nil
  }

  /// Creates an expression from parts. If it is too deep to traverse, its evaluation fails.
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

  // MARK: Creating expressions

  /// Creates an expression from a format string and its arguments. Traps for an invalid format, where Core
  /// Data raises.
  ///
  /// ```swift
  /// let expression = NSExpression(format: "pages * %d", 2)
  /// ```
  public convenience init(format: String, _ arguments: any CVarArg...) {
    self.init(format: format, argumentArray: arguments)
  }

  /// Creates an expression from a format string and an array of arguments. Traps for an invalid format.
  public convenience init(format: String, argumentArray arguments: [Any]) {
    do {
      try self.init(parsing: format, arguments: arguments)
    } catch {
      programmerError("NSInvalidArgumentException: \(error)")
    }
  }

  /// Creates an expression from text that may be invalid. Not in Core Data, which raises.
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

  /// Creates a constant expression.
  public convenience init(forConstantValue value: Any?) {
    self.init(tree: .constant(PredicateValue(any: value)), type: .constantValue)
  }

  /// The object that is evaluated: SELF.
  open class func expressionForEvaluatedObject() -> NSExpression { NSExpression(tree: .evaluatedObject) }

  /// Any key of the evaluated dictionary.
  open class func expressionForAnyKey() -> NSExpression { NSExpression(tree: .anyKey) }

  /// Creates an expression for the value of a variable, named without its dollar.
  public convenience init(forVariable name: String) { self.init(tree: .variable(name)) }

  /// Creates an expression for the value at a key path. Traps if the path has an empty component.
  public convenience init(forKeyPath path: String) {
    guard let components = KeyPathText.components(path) else {
      programmerError("NSInvalidArgumentException: “\(path)” is not a key path.")
    }
    self.init(tree: path == "self" || path == "SELF" ? .evaluatedObject : .keyPath(components))
  }

  /// Creates an expression for a predefined function such as `sum:` or `add:to:`.
  ///
  /// Arguments that are not expressions count as constants. Traps for an unknown function.
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

  /// Creates an expression for the result of a selector on `target` (``SelectorPerforming``).
  public convenience init(forFunction target: NSExpression, selectorName name: String, arguments: [Any]?) {
    let arguments = arguments ?? []
    self.init(
      .customFunction(target.tree, name, arguments.map { Self.tree(of: $0) }),
      of: [target.extent] + arguments.map(Self._extent))
  }

  /// Creates an expression for a collection of other expressions' values; elements that are not expressions
  /// count as constants.
  public convenience init(forAggregate elements: [Any]) {
    self.init(
      .aggregate(of: elements.map { Self.tree(of: $0) }), of: elements.map(Self._extent), type: .aggregate)
  }

  /// Creates an expression for the union of two collections.
  public convenience init(forUnionSet left: NSExpression, with right: NSExpression) {
    self.init(.set(.union, left.tree, right.tree), of: [left.extent, right.extent])
  }

  /// Creates an expression for the intersection of two collections.
  public convenience init(forIntersectSet left: NSExpression, with right: NSExpression) {
    self.init(.set(.intersect, left.tree, right.tree), of: [left.extent, right.extent])
  }

  /// Creates an expression for the elements of the left collection that are not in the right one.
  public convenience init(forMinusSet left: NSExpression, with right: NSExpression) {
    self.init(.set(.minus, left.tree, right.tree), of: [left.extent, right.extent])
  }

  /// Creates an expression for the elements of a collection that satisfy `predicate`, with the element as
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

  /// Creates an expression whose value depends on a predicate.
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

  /// Creates an expression for the result of a closure, which receives the evaluated object, the values of
  /// `arguments` and the variables. No store can translate it.
  public convenience init(
    block: @escaping (Any?, [Any], NSMutableDictionary?) -> Any, arguments: [NSExpression]?
  ) {
    let object = PredicateObject(AnyHashable(ExpressionBlock(block)))
    self.init(.block(object, (arguments ?? []).map(\.tree)), of: (arguments ?? []).map(\.extent))
  }

  /// Returns the tree of a predicate; evaluation fails for one beyond the size limit.
  private static func _tree(of predicate: NSPredicate) -> PredicateTree {
    (try? PredicateTree(predicate)) ?? .beyondLimit
  }

  private static func _extent(of argument: Any) -> TreeExtent { (argument as? NSExpression)?.extent ?? .leaf }

  /// Returns the tree of an expression, or of a constant.
  static func tree(of argument: Any) -> ExpressionTree {
    (argument as? NSExpression)?.tree ?? .constant(PredicateValue(any: argument))
  }

  /// Returns an expression object for a tree.
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
