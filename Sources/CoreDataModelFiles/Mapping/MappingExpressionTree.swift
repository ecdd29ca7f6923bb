import CoreDataPredicateLanguage

/// The default expressions of a mapping without explicit ones: objects, values and members of the same name.
package enum MappingExpressionTree {
  private static let _manager = ExpressionTree.variable("manager")
  private static let _source = ExpressionTree.variable("source")

  /// All objects of an entity, excluding subentities.
  package static func objects(of entity: String) -> ExpressionTree {
    let request = ExpressionTree.customFunction(
      _manager, "fetchRequestForSourceEntityNamed:predicateString:",
      [.constant(.string(entity)), .constant(.string("TRUEPREDICATE"))])
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
}
