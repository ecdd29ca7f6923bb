import CoreDataPredicateLanguage
import Foundation

/// Evaluates FETCH(request, context, countOnly).
enum FetchCall {
  /// Returns the result of a fetch in the form that predicates compare.
  ///
  /// - Parameter isNested: Whether the result is part of another fetch. Offsets are then ignored, objects are
  ///   represented by their IDs, and dictionaries of one property by their values.
  static func result(
    _ request: PredicateValue, in context: PredicateValue, countOnly: Bool, isNested: Bool = false
  ) throws -> PredicateValue {
    guard case .object(let object) = request, let request = object.wrapped as? AnyFetchRequest else {
      throw PredicateEvaluationError.unsupported(
        "FETCH needs a fetch request as its first argument, and found \(request.kindName).")
    }
    guard case .object(let object) = context, let context = object.wrapped as? NSManagedObjectContext else {
      throw PredicateEvaluationError.unsupported(
        "FETCH needs a managed object context as its second argument, and found \(context.kindName).")
    }
    let copy = NSFetchRequest<Any>()
    copy.copySettings(from: request)
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
