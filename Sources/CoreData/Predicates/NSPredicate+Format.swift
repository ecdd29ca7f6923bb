import CoreDataPredicateLanguage
import Foundation

extension ClassCluster where Self: NSPredicate {
  /// Makes a predicate that every object meets. Core Data's `NSPredicate()` cannot be evaluated at all.
  public init() { self = Self.answer(PredicateTree.constant(true).predicate, "NSPredicate()") }

  /// Makes a predicate of a format string, such as `"name BEGINSWITH[c] %@ AND age > %d"`, and its arguments.
  ///
  /// Answers an `NSComparisonPredicate`, an `NSCompoundPredicate` or, for TRUEPREDICATE, a constant. A format
  /// is parsed once and remembered; different arguments to the same text cost next to nothing. So pass values
  /// as arguments and never paste them into the text. May be called on any thread.
  ///
  /// Traps if the text cannot be understood or an argument is missing or of the wrong kind, as Core Data
  /// raises. For text that comes from outside use ``Foundation/NSPredicate/init(parsing:arguments:)``.
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

  /// Makes a predicate of a format string and an array of arguments; nil inside the array is `NSNull()`.
  ///
  /// The way to pass arguments on: `init(format:arguments:)` stays Foundation's, unavailable, because a C
  /// argument list holds no Swift values here.
  ///
  /// Traps if the text cannot be understood or an argument is missing or of the wrong kind, as Core Data
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

  /// Makes a predicate of text that may turn out wrong: typed by a user, read from a file or a network.
  ///
  /// Core Data only has initialisers that raise. A label of its own, because an overload that differs in
  /// throwing alone would make `try` decide between a trap and an error.
  ///
  /// ```swift
  /// do {
  ///   request.predicate = try NSPredicate(parsing: "title CONTAINS %@ AND pages <", arguments: ["Waves"])
  /// } catch let error as NSPredicate.FormatError {
  ///   print(error)  // with the line and a caret under the place
  /// }
  /// ```
  ///
  /// - Throws: ``Foundation/NSPredicate/FormatError``, which says what stands where and what was expected.
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
  /// The tree of a format and its arguments.
  /// - Throws: `PredicateFormatError`; `PredicateEvaluationError` for an argument that cannot be one.
  init(format: String, count: Int, _ argument: (Int) -> Any) throws {
    self = try PredicateTemplate.cached(format).predicate(count: count) {
      try FormatArgument(any: argument($0))
    }
  }
}

extension NSPredicate {
  /// Why a format string could not be understood. Not in Core Data, which raises.
  public struct FormatError: LocalizedError, CustomStringConvertible, Sendable {
    /// The whole format.
    public let format: String
    /// Where the trouble starts, in UTF-8 bytes from the start of the format; nil if it is not in the text.
    public let offset: Int?
    /// What is wrong.
    public let problem: String
    /// What would have been accepted there.
    public let expected: [String]
    /// All of it, with the line in question and a caret under the place.
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

  /// Why a predicate or an expression could not be evaluated. Not in Core Data, which raises.
  public struct EvaluationError: LocalizedError, CustomStringConvertible, Sendable {
    /// What was asked, what was found and what to do.
    public let description: String

    public var errorDescription: String? { description }

    init(_ error: any Error) { description = String(describing: error) }
  }
}
