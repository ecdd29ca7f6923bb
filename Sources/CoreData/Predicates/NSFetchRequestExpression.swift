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
      tree: .function(PredicateFunction.fetch, [fetch.tree, context.tree, .constant(.bool(countFlag))]))
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

/// Carries out FETCH(request, context, countOnly).
enum FetchCall {
  /// Result of a fetch, as predicates see it.
  ///
  /// - Parameter isNested: Whether the result takes part in another fetch: offsets do not count then, objects
  ///   are their IDs, and dictionaries of one property their values.
  static func result(
    _ request: PredicateValue, in context: PredicateValue, countOnly: Bool, isNested: Bool = false
  ) throws -> PredicateValue {
    guard case .object(let object) = request, let request = object.base.base as? AnyFetchRequest else {
      throw PredicateEvaluationError.unsupported(
        "FETCH needs a fetch request as its first argument, and found \(request.kindName).")
    }
    guard case .object(let object) = context, let context = object.base.base as? NSManagedObjectContext else {
      throw PredicateEvaluationError.unsupported(
        "FETCH needs a managed object context as its second argument, and found \(context.kindName).")
    }
    let copy = NSFetchRequest<Any>()
    copy.take(from: request)
    if isNested { copy.fetchOffset = 0 }
    if countOnly { return .int(Int64(try context.performAndWait { try context.count(for: copy) })) }
    if isNested, copy.resultType == .managedObjectResultType { copy.resultType = .managedObjectIDResultType }
    let found = try context.performAndWait { try PredicateValue(any: context.fetch(copy)) }
    guard case .collection(let members) = found else { return found }
    if copy.resultType == .countResultType { return members.first ?? .null }
    return isNested && copy.resultType == .dictionaryResultType ? .collection(members.map(_onlyValue)) : found
  }

  private static func _onlyValue(_ row: PredicateValue) -> PredicateValue {
    guard case .dictionary(let entries) = row, entries.count <= 1 else { return row }
    return entries.values.first ?? .null
  }
}

extension PredicateTree {
  /// The tree as stores take it: nested fetches carried out, and managed objects replaced by their IDs.
  var forStores: PredicateTree {
    get throws { (try rewritten { try $0.fetched() } ?? self).referringByID }
  }
}

extension ExpressionTree {
  /// The expression as stores take it: nested fetches carried out, and managed objects replaced by their IDs.
  var forStores: ExpressionTree {
    get throws { (try rewritten { try $0.fetched() } ?? self).referringByID }
  }

  /// What a nested fetch has found; nil for any other expression.
  fileprivate func fetched() throws -> ExpressionTree? {
    guard case .function(PredicateFunction.fetch, let arguments) = self else { return nil }
    let values = try arguments.map { try $0.value(for: ObjectSubject(nil)) }
    guard values.count == 3 else {
      throw PredicateEvaluationError.wrongOperand("FETCH", "\(values.count) arguments")
    }
    return .constant(
      try FetchCall.result(values[0], in: values[1], countOnly: values[2].isTrue, isNested: true))
  }
}
