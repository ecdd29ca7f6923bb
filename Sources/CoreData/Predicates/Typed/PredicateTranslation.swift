import CoreDataPredicateLanguage
import Foundation

/// The reason why a `Predicate` cannot be translated into the predicate language. Not in Core Data.
public struct PredicateTranslationError: LocalizedError, CustomStringConvertible, Sendable {
  /// The untranslatable part: an operation, and its key paths if known.
  public let subexpression: String
  /// The problem and a remedy.
  public let reason: String

  public var description: String { "The predicate cannot be translated: \(subexpression): \(reason)." }
  public var errorDescription: String? { description }

  init(_ subexpression: String, _ reason: String) {
    self.subexpression = subexpression
    self.reason = reason
  }
}

/// The translation of a part of a `Predicate`.
enum TranslatedPart {
  case predicate(PredicateTree)
  case expression(ExpressionTree)

  var predicate: PredicateTree {
    switch self {
    case .predicate(let tree): tree
    case .expression(.constant(.bool(let flag))): .constant(flag)
    case .expression(let tree): .comparison(.init(tree, .equal, .constant(.bool(true))))
    }
  }

  var expression: ExpressionTree {
    switch self {
    case .expression(let tree): tree
    case .predicate(let tree): .conditional(tree, .constant(.bool(true)), .constant(.bool(false)))
    }
  }
}

/// A translatable kind of expression.
protocol TranslatablePart {
  func translated(_ translator: inout PredicateTranslator) throws -> TranslatedPart
}

/// Translates the expression of a `Predicate` to a tree.
struct PredicateTranslator {
  /// The meanings of variables.
  var variables: [PredicateExpressions.VariableID: ExpressionTree] = [:]
  /// Translates key paths and values of objects other than managed objects.
  var vocabulary: (any PredicateVocabulary)?
  private var _names = 0

  static func tree<Object>(of predicate: Predicate<Object>) throws -> PredicateTree {
    var translator = PredicateTranslator()
    translator.variables[predicate.variable.key] = .evaluatedObject
    return try translator.part(predicate.expression).predicate
  }

  mutating func part(_ expression: any PredicateExpression) throws -> TranslatedPart {
    if let wrapping = expression as? any WrappingPart { return try part(wrapping.wrapped) }
    guard let part = expression as? any TranslatablePart else {
      throw PredicateTranslationError(
        Self.name(of: expression), "no store knows this operation; fetch without it and filter the result")
    }
    return try part.translated(&self)
  }

  mutating func predicate(_ expression: any PredicateExpression) throws -> PredicateTree {
    try part(expression).predicate
  }

  mutating func expression(_ expression: any PredicateExpression) throws -> ExpressionTree {
    try part(expression).expression
  }

  mutating func comparison(
    _ left: any PredicateExpression, _ op: PredicateTree.Comparison.Operator,
    _ right: any PredicateExpression,
    _ options: PredicateTree.Comparison.Options = []
  ) throws -> TranslatedPart {
    .predicate(.comparison(.init(try expression(left), op, try expression(right), options: options)))
  }

  mutating func function(
    _ function: PredicateFunction, _ arguments: any PredicateExpression...
  ) throws -> TranslatedPart {
    .expression(.function(function, try arguments.map { try expression($0) }))
  }

  /// Translates the members of a collection that satisfy a test.
  mutating func members(
    _ sequence: any PredicateExpression, _ variable: PredicateExpressions.VariableID,
    _ test: any PredicateExpression,
    negated: Bool = false
  ) throws -> ExpressionTree {
    let collection = try expression(sequence)
    _names += 1
    let name = "member\(_names)"
    variables[variable] = .variable(name)
    let condition = try predicate(test)
    return .subquery(collection, variable: name, negated ? .not(condition) : condition)
  }

  /// Returns the operation of an expression, without type parameters.
  static func name(of expression: any PredicateExpression) -> String {
    let text = String(describing: type(of: expression))
    return String(text.prefix { $0 != "<" })
  }
}

extension ExpressionTree {
  /// Returns the value at a path from here.
  func followed(by path: [String]) -> ExpressionTree {
    switch self {
    case .evaluatedObject: .keyPath(path)
    case .keyPath(let start): .keyPath(start + path)
    case .keyPathOf(let base, let start): .keyPathOf(base, start + path)
    default: .keyPathOf(self, path)
    }
  }
}

extension ClassCluster where Self: NSPredicate {
  /// Creates a predicate from a typed one, such as `#Predicate<Book> { $0.title == "x" }`; nil if a part of
  /// it has no translation. ``Foundation/NSPredicate/init(translating:)`` throws the reason.
  ///
  /// The model of the class must be in use: property names are found through its entities.
  ///
  /// ```swift
  /// request.predicate = NSPredicate(#Predicate<Book> { $0.pages > 300 && $0.isRead == false })
  /// ```
  public init?<Object: NSManagedObject>(_ predicate: Predicate<Object>) {
    do {
      try self.init(translating: predicate)
    } catch {
      return nil
    }
  }

  /// Creates a predicate from a typed one. Not in Core Data, which returns nil.
  ///
  /// ```swift
  /// let typed = #Predicate<Book> { $0.title?.contains("Waves") == true }
  /// do {
  ///   request.predicate = try NSPredicate(translating: typed)
  /// } catch let error as PredicateTranslationError {
  ///   print(error.subexpression, error.reason)
  /// }
  /// ```
  ///
  /// - Throws: ``PredicateTranslationError`` with the untranslatable part and the reason.
  public init<Object: NSManagedObject>(translating predicate: Predicate<Object>) throws {
    let tree = try PredicateTranslator.tree(of: predicate)
    self = Self.answer(tree.predicate, "A typed predicate")
  }
}

extension ClassCluster where Self: NSSortDescriptor {
  /// Creates a sort descriptor from a typed one over managed objects, such as `SortDescriptor(\Book.title)`.
  ///
  /// Strings are compared by their bytes, as the descriptor itself compares them on this platform, unless its
  /// comparator is localized. Traps for a key path that matches no property of a model in use.
  ///
  /// ```swift
  /// request.sortDescriptors = [NSSortDescriptor(SortDescriptor(\Book.pages, order: .reverse))]
  /// ```
  public init<Compared: NSManagedObject>(_ sortDescriptor: SortDescriptor<Compared>) {
    guard let keyPath = sortDescriptor.keyPath else {
      programmerError("NSInvalidArgumentException: the sort descriptor has no key path: \(sortDescriptor)")
    }
    do {
      let path = try KeyRecorder.path(of: keyPath)
      // Foundation does not expose whether a comparator is localized; its description does.
      let isLocalized = sortDescriptor.stringComparator.map { "\($0)".contains("isLocalized: true") } ?? false
      let comparison: FetchPlan.SortTerm.Comparison = isLocalized ? .localizedStandard : .binary
      let descriptor = KeyedSortDescriptor(
        path.joined(separator: "."), ascending: sortDescriptor.order == .forward, comparison: comparison)
      self = Self.answer(descriptor, "A typed sort descriptor")
    } catch {
      programmerError("NSInvalidArgumentException: \(error)")
    }
  }
}
