import CoreDataPredicateLanguage

/// The default expressions of a mapping without explicit ones: objects, values and members of the same name.
package enum MappingExpressionTree {
  private static let _manager = ExpressionTree.variable("manager")
  private static let _source = ExpressionTree.variable("source")

  /// All objects of an entity that satisfy a predicate, excluding subentities.
  package static func objects(of entity: String, where filter: String = "TRUEPREDICATE") -> ExpressionTree {
    let request = ExpressionTree.customFunction(
      _manager, "fetchRequestForSourceEntityNamed:predicateString:",
      [.constant(.string(entity)), .constant(.string(filter))])
    let context = ExpressionTree.keyPathOf(_manager, ["sourceContext"])
    return .function(.fetch, [request, context, .constant(.bool(false))])
  }

  /// The value of an attribute of the source object.
  package static func value(of attribute: String) -> ExpressionTree { .keyPathOf(_source, [attribute]) }

  /// The destination objects of the source object's related objects.
  package static func members(of relationship: String) -> ExpressionTree {
    .customFunction(
      _manager, "destinationInstancesForSourceRelationshipNamed:sourceInstances:",
      [.constant(.string(relationship)), .keyPathOf(_source, [relationship])])
  }

  /// The destination objects that one entity mapping created for the objects of a relationship.
  package static func members(of relationship: String, mappedBy mapping: String) -> ExpressionTree {
    .customFunction(
      _manager, "destinationInstancesForEntityMappingNamed:sourceInstances:",
      [.constant(.string(mapping)), .keyPathOf(_source, [relationship])])
  }

  /// The value at a key path from the source object; the object itself for an empty path.
  package static func value(at path: [String]) -> ExpressionTree {
    path.isEmpty ? _source : .keyPathOf(_source, path)
  }

  /// The destination objects of the objects at a key path from the source object: those that one entity
  /// mapping created, or without its name, any.
  package static func members(at path: [String], mappedBy mapping: String?) -> ExpressionTree {
    guard let mapping else {
      return .customFunction(
        _manager, "destinationInstancesForSourceRelationshipNamed:sourceInstances:",
        [.constant(.string(path.last ?? "")), value(at: path)])
    }
    return .customFunction(
      _manager, "destinationInstancesForEntityMappingNamed:sourceInstances:",
      [.constant(.string(mapping)), value(at: path)])
  }
}
