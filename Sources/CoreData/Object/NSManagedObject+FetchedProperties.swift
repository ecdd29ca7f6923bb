import Foundation

extension NSManagedObject {
  /// Results of a fetched property: evaluated when first asked for, kept until the object becomes a fault again.
  ///
  /// The property's predicate may use `$FETCH_SOURCE`, this object, and `$FETCHED_PROPERTY`, the description.
  final func valueOfFetchedProperty(_ property: NSFetchedPropertyDescription) -> Any? {
    if isFault { fireFault() }
    if let kept = relations.fetched[property.name] { return kept }
    guard let template = property.fetchRequest, let context = _context else { return [NSManagedObject]() }
    let request = NSFetchRequest<NSManagedObject>()
    request.take(from: template)
    request.predicate = template.predicate?.withSubstitutionVariables([
      "FETCH_SOURCE": self, "FETCHED_PROPERTY": property,
    ])
    do {
      let results = try context.fetchObjects(request)
      relations.fetched[property.name] = results
      return results
    } catch {
      programmerError("the fetched property '\(_layout.entityName).\(property.name)' cannot be evaluated: \(error)")
    }
  }
}
