import CoreDataPredicateLanguage
import Foundation

/// Why a `Predicate` has no translation into the language of stores. Not in Core Data.
public struct PredicateTranslationError: LocalizedError, CustomStringConvertible, Sendable {
  /// The part that cannot be translated: an operation, and the key paths in it where they are known.
  public let subexpression: String
  /// Why not, and what to do.
  public let reason: String

  public var description: String { "The predicate cannot be translated: \(subexpression): \(reason)." }
  public var errorDescription: String? { description }

  init(_ subexpression: String, _ reason: String) {
    self.subexpression = subexpression
    self.reason = reason
  }
}

/// What a part of a `Predicate` becomes.
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

/// A kind of part that can be translated.
protocol TranslatablePart {
  func translated(_ translator: inout PredicateTranslator) throws -> TranslatedPart
}

/// Turns the expression of a `Predicate` into a tree.
struct PredicateTranslator {
  /// What variables stand for.
  var variables: [PredicateExpressions.VariableID: ExpressionTree] = [:]
  /// What key paths and values of other objects than managed ones mean.
  var vocabulary: (any PredicateVocabulary)?
  private var _names = 0

  static func tree<Object>(of predicate: Predicate<Object>) throws -> PredicateTree {
    var translator = PredicateTranslator()
    translator.variables[predicate.variable.key] = .evaluatedObject
    return try translator.part(predicate.expression).predicate
  }

  mutating func part(_ expression: any PredicateExpression) throws -> TranslatedPart {
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

  /// The members of a collection for which a test about each holds.
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

  /// The operation that a part stands for, without its types' noise.
  static func name(of expression: any PredicateExpression) -> String {
    let text = String(describing: type(of: expression))
    return String(text.prefix { $0 != "<" })
  }
}

extension ExpressionTree {
  /// The value at a path from here.
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
  /// Makes a predicate of a typed one, such as `#Predicate<Book> { $0.title == "x" }`; nil if a part of it
  /// has no
  /// translation. ``Foundation/NSPredicate/init(translating:)`` says which.
  ///
  /// The model of the class must be in use by then: property names are found by its entities.
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

  /// Makes a predicate of a typed one. Not in Core Data, which gives nil.
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
  /// - Throws: ``PredicateTranslationError``: which part has no translation, and why.
  public init<Object: NSManagedObject>(translating predicate: Predicate<Object>) throws {
    let tree = try PredicateTranslator.tree(of: predicate)
    self = Self.answer(tree.predicate, "A typed predicate")
  }
}

extension ClassCluster where Self: NSSortDescriptor {
  /// Makes a sort descriptor of a typed one over managed objects, such as `SortDescriptor(\Book.title)`.
  ///
  /// Strings are compared by their bytes, as the descriptor itself compares them here, unless its comparator
  /// is localised. Traps for a
  /// key path that stands for no property of a model in use.
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
      // Foundation here keeps to itself whether a comparator is localised; its description tells.
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
