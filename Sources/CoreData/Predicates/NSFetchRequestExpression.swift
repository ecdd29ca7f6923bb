import CoreDataPredicateLanguage
import Foundation

/// An expression with what a fetch finds: objects, IDs, dictionaries, or how many there are.
///
/// Evaluated by executing the request in its context, on that context's queue. In the predicate of another
/// fetch it is executed first, and stands for what it has found; its offset is ignored there. In a format:
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
  /// An expression with the result of a fetch.
  ///
  /// - Parameters:
  ///   - fetch: Expression with an `NSFetchRequest`.
  ///   - context: Expression with the `NSManagedObjectContext` to execute it in.
  ///   - countFlag: Whether only the number of results is wanted.
  open class func expression(
    forFetch fetch: NSExpression, context: NSExpression, countOnly countFlag: Bool
  ) -> NSExpression {
    NSFetchRequestExpression(
      tree: .function(.fetch, [fetch.tree, context.tree, .constant(.bool(countFlag))]))
  }

  /// Expression with the request.
  open var requestExpression: NSExpression { NSExpression.face(of: _arguments[0]) }

  /// Expression with the context.
  open var contextExpression: NSExpression { NSExpression.face(of: _arguments[1]) }

  /// Whether only the number of results is wanted.
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

/// Kind of an ``NSFetchRequestExpression``.
public let NSFetchRequestExpressionType = NSExpression.ExpressionType.fetchRequest
