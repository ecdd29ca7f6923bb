import CoreData

/// The entities of a container's model and their classes.
///
/// Immutable; any thread.
final class SchemaBinding: @unchecked Sendable {
  // Unchecked: all members are immutable, and the entities are frozen.

  let model: NSManagedObjectModel
  private let _byEntity: [ObjectIdentifier: EntityBinding]
  private let _byName: [String: EntityBinding]
  private let _byClass: [ObjectIdentifier: EntityBinding]
  /// The optional to-one relationships without inverse.
  let oneWays: [OneWay]
  /// Whether there are relationships without inverse at all.
  let hasOneWays: Bool

  init(_ model: NSManagedObjectModel, _ schema: Schema) {
    self.model = model
    var byEntity: [ObjectIdentifier: EntityBinding] = [:]
    var byName: [String: EntityBinding] = [:]
    for (name, entity) in model.entitiesByName {
      guard let type = schema.entitiesByName[name]?.modelType else { continue }
      let binding = EntityBinding(entity, ModelClass.of(type))
      byEntity[ObjectIdentifier(entity)] = binding
      byName[name] = binding
    }
    _byEntity = byEntity
    _byName = byName
    _byClass = Dictionary(uniqueKeysWithValues: byName.values.map { (ObjectIdentifier($0.modelClass), $0) })
    let single = model.entities.flatMap { entity in
      entity.relationshipsByName.values.filter { $0.inverseRelationship == nil }.map { (entity, $0) }
    }
    hasOneWays = !single.isEmpty
    oneWays = single.compactMap { entity, relationship in
      guard !relationship.isToMany, relationship.isOptional, relationship.entity === entity,
        let name = entity.name, let destination = relationship.destinationEntity,
        let slot = entity.slot(ofPropertyNamed: relationship.name)
      else { return nil }
      return OneWay(entity: name, name: relationship.name, slot: slot, destination: destination)
    }
  }

  /// Returns the binding of an entity of this model.
  func binding(of entity: NSEntityDescription) -> EntityBinding {
    if let known = _byEntity[ObjectIdentifier(entity)] { return known }
    programmerError(
      "no class stands for the entity '\(entity.name ?? "?")'. Make the schema of model classes: Schema([\(entity.name ?? "?").self])."
    )
  }

  /// Returns the binding of a class; nil for a class that isn't in the schema.
  func binding(of type: any PersistentModel.Type) -> EntityBinding? {
    _byClass[ObjectIdentifier(ModelClass.of(type))]
  }

  /// Returns the binding of an entity by name.
  func binding(named name: String) -> EntityBinding? { _byName[name] }

  var all: [EntityBinding] { _byName.values.sorted { $0.modelClass.name < $1.modelClass.name } }
}

/// An entity of a container's model and its class.
final class EntityBinding: @unchecked Sendable {
  // Unchecked: all members are immutable, and the entity is frozen.

  let entity: NSEntityDescription
  let modelClass: ModelClass
  private let _plan: AccessPlan

  init(_ entity: NSEntityDescription, _ modelClass: ModelClass) {
    self.entity = entity
    self.modelClass = modelClass
    _plan = Self._plan(modelClass, entity)
  }

  private static func _plan(_ modelClass: ModelClass, _ entity: NSEntityDescription) -> AccessPlan {
    let slots = modelClass.accessors.map { accessor in
      guard let slot = entity.slot(ofPropertyNamed: accessor.name) else {
        programmerError(
          "the entity '\(modelClass.name)' has no property '\(accessor.name)', which its class has. Make the schema of the "
            + "class itself.")
      }
      return slot
    }
    return modelClass.plan(slots: slots)
  }

  /// Returns the accessors in the order of a class's properties: this class or an ancestor.
  func plan(of other: ModelClass) -> AccessPlan {
    other === modelClass ? _plan : Self._plan(other, entity)
  }

  /// Creates the model of an object.
  func make(_ object: ModelStorage, _ link: ContextLink) -> AnyObject {
    object.showItself(modelClass, _plan, link)
    let model = StorageBeingShown.showing(object) { modelClass.type._instance(showing: object) }
    object.flags = []
    object.setInstance(model)
    return model
  }

}
