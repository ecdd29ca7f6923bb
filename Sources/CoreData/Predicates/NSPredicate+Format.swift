import CoreDataPredicateLanguage
import Foundation

extension ClassCluster where Self: NSPredicate {
  /// Creates a predicate that all objects satisfy. Core Data's `NSPredicate()` cannot be evaluated.
  public init() { self = Self.answer(PredicateTree.constant(true).predicate, "NSPredicate()") }

  /// Creates a predicate from a format string, such as `"name BEGINSWITH[c] %@ AND age > %d"`, and its
  /// arguments.
  ///
  /// Returns an `NSComparisonPredicate`, an `NSCompoundPredicate` or, for TRUEPREDICATE, a constant. A format
  /// is parsed once and cached; other arguments for the same format cost next to nothing. Therefore, always
  /// pass values as arguments and never insert them into the text. May be called on any thread.
  ///
  /// Traps for an invalid format, and for a missing argument or one of the wrong kind, where Core Data
  /// raises. For untrusted text use ``Foundation/NSPredicate/init(parsing:arguments:)``.
  ///
  /// ```swift
  /// request.predicate = NSPredicate(format: "author == %@ AND pages > %d", author, 300)
  /// request.predicate = NSPredicate(format: "%K CONTAINS[cd] %@", "title", "waves")
  /// request.predicate = NSPredicate(format: "isbn IN %@", records.map(\.isbn))
  /// request.predicate = NSPredicate(format: "ANY tags.name == %@", "novel")
  /// ```
  public init(format: String, _ arguments: any CVarArg...) {
    self = Self._made(format, arguments.count) { arguments[$0] }
  }

  /// Creates a predicate from a format string and an array of arguments; use `NSNull()` for nil.
  ///
  /// Use it to forward arguments: `init(format:arguments:)` remains Foundation's, unavailable, because a C
  /// argument list cannot hold Swift values on this platform.
  ///
  /// Traps for an invalid format, and for a missing argument or one of the wrong kind, where Core Data
  /// raises.
  ///
  /// ```swift
  /// let values: [Any] = ["Orlando", NSNull()]
  /// let predicate = NSPredicate(format: "title == %@ AND author == %@", argumentArray: values)
  /// ```
  public init(format: String, argumentArray arguments: [Any]?) {
    let arguments = arguments ?? []
    self = Self._made(format, arguments.count) { arguments[$0] }
  }

  /// Creates a predicate from text that may be invalid: typed by a user, read from a file or a network.
  ///
  /// Core Data has only initializers that raise. Has a label of its own, because with an overload that
  /// differs only in throwing, `try` would decide between a trap and an error.
  ///
  /// ```swift
  /// do {
  ///   request.predicate = try NSPredicate(parsing: "title CONTAINS %@ AND pages <", arguments: ["Waves"])
  /// } catch let error as NSPredicate.FormatError {
  ///   print(error)  // with the line and a caret under the place
  /// }
  /// ```
  ///
  /// - Throws: ``Foundation/NSPredicate/FormatError`` with the location of the problem and the expected
  ///   input.
  public init(parsing format: String, arguments: [Any] = []) throws {
    let predicate: NSPredicate
    do {
      predicate = try PredicateTree(format: format, count: arguments.count) { arguments[$0] }.predicate
    } catch {
      throw NSPredicate.FormatError(error, format: format)
    }
    guard let answer = predicate as? Self else {
      throw NSPredicate.FormatError(
        PredicateFormatError(format: format, offset: 0, problem: "this is no \(Self.self)"), format: format)
    }
    self = answer
  }

  /// Creates the predicate of a tree that `reading` makes of the one that a format denotes.
  ///
  /// - Throws: ``Foundation/NSPredicate/FormatError``, also for an error of `reading`.
  package static func parsing(
    _ format: String, reading: (PredicateTree) throws(PredicateFormatError) -> PredicateTree
  ) throws -> NSPredicate {
    do {
      let tree = try PredicateTree(format: format, count: 0) { _ in NSNull() }
      return try reading(tree).predicate
    } catch {
      throw NSPredicate.FormatError(error, format: format)
    }
  }

  private static func _made(_ format: String, _ count: Int, _ argument: (Int) -> Any) -> Self {
    do {
      let template = try PredicateTemplate.cached(format)
      let source = { (number: Int) in try FormatArgument(any: argument(number)) }
      let predicate =
        if let comparison = try template.comparison(count: count, argument: source) {
          NSComparisonPredicate(comparison)
        } else {
          try template.predicate(count: count, argument: source).predicate
        }
      if Self.self == NSPredicate.self { return unsafeDowncast(predicate, to: Self.self) }
      return answer(predicate, "The format “\(format)”")
    } catch {
      programmerError("NSInvalidArgumentException: \(error)")
    }
  }
}

extension PredicateTree {
  /// Creates the tree of a format and its arguments.
  /// - Throws: `PredicateFormatError`; `PredicateEvaluationError` for an unsupported argument.
  init(format: String, count: Int, _ argument: (Int) -> Any) throws {
    self = try PredicateTemplate.cached(format).predicate(count: count) {
      try FormatArgument(any: argument($0))
    }
  }
}

extension NSPredicate {
  /// The reason why a format string is invalid. Not in Core Data, which raises.
  public struct FormatError: LocalizedError, CustomStringConvertible, Sendable {
    /// The whole format.
    public let format: String
    /// Offset of the problem in UTF-8 bytes; nil if it is not in the text.
    public let offset: Int?
    /// The problem.
    public let problem: String
    /// The input expected there.
    public let expected: [String]
    /// The whole message, with the line in question and a caret below the position.
    public let description: String

    public var errorDescription: String? { description }

    init(_ error: any Error, format: String) {
      let detail = error as? PredicateFormatError
      self.format = format
      offset = detail?.offset
      problem = detail?.problem ?? String(describing: error)
      expected = detail?.expected ?? []
      description = detail?.description ?? "\(error)\n  \(format)"
    }
  }

  /// The reason why a predicate or expression could not be evaluated. Not in Core Data, which raises.
  public struct EvaluationError: LocalizedError, CustomStringConvertible, Sendable {
    /// The request, the finding, and a remedy.
    public let description: String

    public var errorDescription: String? { description }

    init(_ error: any Error) { description = String(describing: error) }
  }
}
