import CoreDataPredicateLanguage

// Predicates in the form that stores accept: nested fetches evaluated, objects replaced by their IDs.

extension PredicateTree {
  /// The tree in the form that stores accept: nested fetches evaluated, managed objects replaced by their
  /// IDs.
  var forStores: PredicateTree {
    get throws { (try rewritten { try $0._fetched() } ?? self).referringByID }
  }
}

extension ExpressionTree {
  /// The expression in the form that stores accept: nested fetches evaluated, managed objects replaced by
  /// their IDs.
  var forStores: ExpressionTree {
    get throws { (try rewritten { try $0._fetched() } ?? self).referringByID }
  }

  /// The result of a nested fetch; nil for any other expression.
  fileprivate func _fetched() throws -> ExpressionTree? {
    guard case .function(.fetch, let arguments) = self else { return nil }
    let values = try arguments.map { try $0.value(for: ObjectSubject(nil)) }
    guard values.count == 3 else {
      throw PredicateEvaluationError.wrongOperand("FETCH", "\(values.count) arguments")
    }
    return .constant(
      try FetchCall.result(values[0], in: values[1], countOnly: values[2].isTrue, isNested: true))
  }
}

extension PredicateTree {
  /// The tree with managed objects replaced by their IDs, which stores understand and which may leave the
  /// queue.
  var referringByID: PredicateTree {
    // Common case: a comparison of a key with a plain value contains no objects.
    if case .comparison(let comparison) = self, case .keyPath = comparison.left,
      case .constant(let value) = comparison.right, !value._holdsManagedObject
    {
      return self
    }
    return rewritten { (expression: ExpressionTree) throws(Never) -> ExpressionTree? in
      guard case .constant(let value) = expression, value._holdsManagedObject else { return nil }
      return .constant(value._referringByID)
    } ?? self
  }
}

extension ExpressionTree {
  /// The expression with managed objects replaced by their IDs.
  var referringByID: ExpressionTree {
    rewritten { (expression: ExpressionTree) throws(Never) -> ExpressionTree? in
      guard case .constant(let value) = expression, value._holdsManagedObject else { return nil }
      return .constant(value._referringByID)
    } ?? self
  }
}

extension PredicateValue {
  fileprivate var _holdsManagedObject: Bool {
    switch self {
    case .object(let object): object.wrapped is NSManagedObject
    case .collection(let elements): elements.contains { $0._holdsManagedObject }
    case .dictionary(let entries): entries.values.contains { $0._holdsManagedObject }
    default: false
    }
  }

  fileprivate var _referringByID: PredicateValue {
    switch self {
    case .object(let object):
      (object.wrapped as? NSManagedObject).map { .object(PredicateObject($0.objectID)) } ?? self
    case .collection(let elements): .collection(elements.map(\._referringByID))
    case .dictionary(let entries): .dictionary(entries.mapValues(\._referringByID))
    default: self
    }
  }
}
