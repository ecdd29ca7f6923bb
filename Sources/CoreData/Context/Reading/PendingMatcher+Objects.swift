import CoreDataPredicateLanguage

extension PendingMatcher {
  func matches(_ object: NSManagedObject) throws -> Bool {
    guard let row = object._current, !object.isFault else { return try _evaluate(object) }
    if let verdict = test.verdict(row) { return verdict }
    return try _evaluate(object)
  }

  /// - Parameter object: Returns the row's object; called only if the values alone do not decide.
  func matches(_ row: Row, object: () -> NSManagedObject) throws -> Bool {
    if let verdict = test.verdict(row) { return verdict }
    return try _evaluate(object())
  }

  private func _evaluate(_ object: NSManagedObject) throws -> Bool {
    guard let tree = plan.predicate else { return true }
    var evaluator = PredicateEvaluator(ManagedObjectSubject(object: object))
    return try evaluator.matches(tree)
  }
}
