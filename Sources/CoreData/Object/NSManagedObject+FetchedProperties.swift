import CoreDataPredicateLanguage
import Foundation

extension NSManagedObject {
  /// Returns the results of a fetched property. Runs the fetch on first access, then caches the results until
  /// the object becomes a fault or the predicate's inputs from the description change.
  ///
  /// The predicate may refer to this object as `$FETCH_SOURCE` and to the description as `$FETCHED_PROPERTY`.
  final func valueOfFetchedProperty(_ property: NSFetchedPropertyDescription) -> Any? {
    if isFault { fireFault() }
    if let kept = relations.fetched[property.name],
      kept.inputs.allSatisfy({ PredicateValue(any: property._value(along: $0)) == $1 })
    {
      return kept.objects
    }
    guard let template = property.fetchRequest, let context = _context else { return [NSManagedObject]() }
    let request = NSFetchRequest<NSManagedObject>()
    request.copySettings(from: template)
    do {
      var inputs: [[String]: PredicateValue] = [:]
      request.predicate = try template.predicate.map { try _bound($0, property, recording: &inputs) }
      let objects = try FetchPass(context).objects(request)
      relations.fetched[property.name] = FetchedPropertyResults(objects: objects, inputs: inputs)
      return objects
    } catch let error
      where error is PredicateEvaluationError || (error as? CocoaError)?.code.rawValue == NSCoreDataError
    {
      // The request is at fault, not the store.
      programmerError(
        "the fetched property '\(_layout.entityName).\(property.name)' cannot be evaluated: \(error)")
    } catch {
      context.failedReads.fail(
        self, "evaluate the fetched property '\(_layout.entityName).\(property.name)'", error)
      return [NSManagedObject]()
    }
  }

  /// Returns the predicate with both variables, and key paths on them, replaced by values, since stores
  /// support neither.
  ///
  /// - Parameter inputs: Receives the values read from the description, by path.
  private final func _bound(
    _ predicate: NSPredicate, _ property: NSFetchedPropertyDescription,
    recording inputs: inout [[String]: PredicateValue]
  ) throws -> NSPredicate {
    let tree = try PredicateTree(predicate)
    func record(_ path: [String]) -> PredicateValue {
      let value = PredicateValue(any: property._value(along: path))
      inputs[path] = value
      return value
    }
    let bound = tree.rewritten { (expression: ExpressionTree) throws(Never) -> ExpressionTree? in
      switch expression {
      case .variable("FETCH_SOURCE"): .constant(PredicateValue(any: self))
      case .keyPathOf(.variable("FETCH_SOURCE"), let path):
        .constant(PredicateValue(any: self.value(forKeyPath: path.joined(separator: "."))))
      case .keyPathOf(.variable("FETCHED_PROPERTY"), let path):
        .constant(record(path))
      default: nil
      }
    }
    return bound?.predicate ?? predicate
  }
}

/// The cached results of a fetched property, and the inputs that they depend on.
struct FetchedPropertyResults {
  let objects: [NSManagedObject]
  /// Values that the predicate read from the description, by key path.
  let inputs: [[String]: PredicateValue]
}

extension NSFetchedPropertyDescription {
  /// Returns a value that a predicate can read from the description: its name, its entity's name, or an entry
  /// of its user info.
  fileprivate final func _value(along path: [String]) -> Any? {
    switch path.first {
    case "name"?: return name
    case "entity"? where path.dropFirst().first == "name": return owner?.name
    case "userInfo"?:
      var value: Any? = userInfo
      for step in path.dropFirst() { value = (value as? [AnyHashable: Any])?[step] }
      return value
    default: return nil
    }
  }
}
