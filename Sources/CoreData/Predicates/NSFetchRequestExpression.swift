import CoreDataPredicateLanguage
import Foundation

/// An expression for the result of a fetch: objects, IDs, dictionaries, or their count.
///
/// Evaluation executes the request in its context, on that context's queue. In the predicate of another
/// fetch, it is executed first and replaced by its result; its offset is ignored there. In a format:
/// `FETCH(request, context, NO)`.
///
/// ```swift
/// let prolific = NSFetchRequest<any NSFetchRequestResult>(entityName: "Author")
/// prolific.predicate = NSPredicate(format: "books.@count > 10")
/// let authors = NSFetchRequestExpression.expression(
///   forFetch: NSExpression(forConstantValue: prolific), context: NSExpression(forConstantValue: context),
///   countOnly: false)
/// let request = Book.fetchRequest()
/// request.predicate = NSComparisonPredicate(
///   leftExpression: NSExpression(forKeyPath: "author"), rightExpression: authors, modifier: .direct,
///   type: .in)
/// ```
open class NSFetchRequestExpression: NSExpression {
  /// Creates an expression for the result of a fetch.
  ///
  /// - Parameters:
  ///   - fetch: Expression for an `NSFetchRequest`.
  ///   - context: Expression for the `NSManagedObjectContext` in which to execute it.
  ///   - countFlag: Whether to return only the number of results.
  open class func expression(
    forFetch fetch: NSExpression, context: NSExpression, countOnly countFlag: Bool
  ) -> NSExpression {
    NSFetchRequestExpression(
      tree: .function(.fetch, [fetch.tree, context.tree, .constant(.bool(countFlag))]))
  }

  /// Expression for the request.
  open var requestExpression: NSExpression { NSExpression.face(of: _arguments[0]) }

  /// Expression for the context.
  open var contextExpression: NSExpression { NSExpression.face(of: _arguments[1]) }

  /// Whether only the number of results is returned.
  open var isCountOnlyRequest: Bool {
    guard case .constant(let flag) = _arguments[2] else { return false }
    return flag.isTrue
  }

  private var _arguments: [ExpressionTree] {
    guard case .function(_, let arguments) = tree, arguments.count == 3 else {
      preconditionFailure("a fetch request expression is made of a request, a context and a flag")
    }
    return arguments
  }
}

/// The type of an ``NSFetchRequestExpression``.
public let NSFetchRequestExpressionType = NSExpression.ExpressionType.fetchRequest
