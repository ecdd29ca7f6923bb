import Foundation

/// Creates the objects of one entity mapping during a migration; subclass it for conversions that expressions
/// cannot describe.
///
/// During a migration objects do not have the program's classes: policies read and write them by key. The
/// methods are called on the queues of the manager's two contexts, in the order of their declaration: each
/// pass runs for all mappings before the next pass begins. An error thrown by any of them ends the migration.
///
/// ```swift
/// final class SplitNamePolicy: NSEntityMigrationPolicy {
///   override func createDestinationInstances(
///     forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
///   ) throws {
///     try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
///     let author = manager.destinationInstances(
///       forEntityMappingName: mapping.name, sourceInstances: [source]
///     ).first
///     let words = (source.value(forKey: "name") as? String ?? "").split(separator: " ")
///     author?.setValue(words.last.map(String.init), forKey: "familyName")
///   }
/// }
/// ```
open class NSEntityMigrationPolicy: NSObject {
  /// Creates a policy. The manager creates one per mapping.
  public override init() { super.init() }

  /// Called before any object of the mapping is created.
  open func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {}

  /// Creates the destination object of a source object: one object with all attributes of the mapping,
  /// associated with the source.
  ///
  /// An override may create several objects or none; relationships find only associated objects.
  open func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    let created = try manager.insertDestination(for: mapping)
    let evaluation = MappingEvaluation(manager, mapping, policy: self, source: sInstance)
    for property in mapping.attributeMappings ?? [] {
      try evaluation.setAttribute(property, of: created)
    }
    manager.associate(sourceInstance: sInstance, withDestinationInstance: created, for: mapping)
  }

  /// Called when all objects of the mapping have been created.
  open func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

  /// Sets the relationships of a created object according to the mapping.
  open func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    let sources = manager.sourceInstances(
      forEntityMappingName: mapping.name, destinationInstances: [dInstance])
    for property in mapping.relationshipMappings ?? [] where property.valueExpression != nil {
      let members = try sources.flatMap { source in
        try MappingEvaluation(manager, mapping, policy: self, source: source)
          .members(of: property, for: dInstance)
      }
      try MappingEvaluation.setRelationship(property, of: dInstance, to: members, in: mapping)
    }
  }

  /// Called when all relationships of the mapping's objects have been set.
  open func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
  }

  /// Validates the created objects, in addition to the model's validation on save.
  open func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
  }

  /// Called after the mapping's last pass.
  open func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {}
}

/// Creates policies of the classes named in mappings.
enum PolicyClass {
  /// - Throws: A Cocoa error with code 134170 if the class does not exist.
  static func make(for mapping: NSEntityMapping) throws -> NSEntityMigrationPolicy {
    guard let name = mapping.entityMigrationPolicyClassName, !name.isEmpty, name != "NSEntityMigrationPolicy"
    else { return NSEntityMigrationPolicy() }
    if let policy = NamedClass.instance(of: name, as: NSEntityMigrationPolicy.self) { return policy }
    throw CocoaError.coreData(
      NSEntityMigrationPolicyError,
      "The mapping '\(mapping.name ?? "")' names the policy class '\(name)', which is not in this program or is no subclass of "
        + "NSEntityMigrationPolicy. Write the class, or set entityMigrationPolicyClassName to its name ('Module.Class')."
    )
  }
}
