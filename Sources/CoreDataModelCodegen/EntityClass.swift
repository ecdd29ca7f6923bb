import CoreDataModelSchema

/// The plan for an entity's class, with checked names and chosen types.
struct EntityClass {
  struct Property {
    let name: String
    let type: TypeSyntax
    let documentation: String?
    var isPublic = true
  }

  struct ToMany {
    let name: String
    let isPublic: Bool
    /// Class of the members.
    let member: String
    let isOrdered: Bool
  }

  let entity: String
  let name: String
  let superclass: String
  let isPublic: Bool
  let generation: EntitySchema.CodeGeneration
  let documentation: String?
  let properties: [Property]
  let toManys: [ToMany]
  /// Whether the class itself declares the conformance to Identifiable; subclasses inherit it.
  let isIdentifiable: Bool

  /// - Throws: `ModelCodegenError` for a name or a type that cannot be written in Swift.
  init(_ entity: EntitySchema, in classes: ClassNames) throws {
    self.entity = entity.name
    name = try classes.checkedClass(of: entity)
    superclass = try classes.superclass(of: entity)
    isPublic = classes.isPublic(entity)
    generation = entity.codeGeneration
    documentation = Self._documentation(entity.userInfo)
    var properties: [Property] = []
    for attribute in entity.attributes {
      properties.append(
        try Self._property(attribute.traits, try PropertyTypes.type(of: attribute, in: entity.name), entity))
    }
    var toManys: [ToMany] = []
    for relationship in entity.relationships {
      let member = try classes.destination(relationship, in: entity)
      let type: TypeSyntax =
        relationship.isToMany ? .name(relationship.isOrdered ? "NSOrderedSet" : "NSSet") : .name(member)
      let isPublic = self.isPublic && classes.isPublic(entityNamed: relationship.destination)
      var property = try Self._property(relationship.traits, .optional(type), entity)
      // A set type does not mention the class of its members.
      property.isPublic = self.isPublic && (isPublic || relationship.isToMany)
      properties.append(property)
      if relationship.isToMany {
        toManys.append(
          ToMany(
            name: relationship.name, isPublic: isPublic, member: member, isOrdered: relationship.isOrdered))
      }
    }
    for fetched in entity.fetchedProperties {
      let member = classes.className(ofEntity: fetched.request.entity) ?? "NSManagedObject"
      var property = try Self._property(fetched.traits, .optional(.array(.name(member))), entity)
      property.isPublic = isPublic && classes.isPublic(entityNamed: fetched.request.entity)
      properties.append(property)
    }
    self.properties = properties.sorted { $0.name < $1.name }
    self.toManys = toManys.sorted { $0.name < $1.name }
    // An `id` that is not hashable cannot serve for Identifiable.
    let id = self.properties.first { $0.name == "id" }
    isIdentifiable = entity.parent == nil && id.map { Self._isHashable($0.type) } ?? true
  }

  private static func _property(
    _ traits: PropertyTraits, _ type: TypeSyntax, _ entity: EntitySchema
  ) throws -> Property {
    guard SwiftName.isIdentifier(traits.name) else {
      throw ModelCodegenError(
        entity: entity.name, property: traits.name,
        reason: "the name is no Swift identifier; rename it in the model")
    }
    guard !ReservedNames.members.contains(traits.name) else {
      throw ModelCodegenError(
        entity: entity.name, property: traits.name,
        reason: "NSManagedObject has a member of this name already; rename it in the model")
    }
    return Property(name: traits.name, type: type, documentation: _documentation(traits.userInfo))
  }

  /// The documentation in the user info of an entity or a property.
  private static func _documentation(_ userInfo: [String: String]) -> String? {
    ["documentation", "doc", "comment"].lazy.compactMap { userInfo[$0] }.first
  }

  private static func _isHashable(_ type: TypeSyntax) -> Bool {
    switch type {
    case .optional(let wrapped), .array(let wrapped): _isHashable(wrapped)
    case .dictionary(_, let value): _isHashable(value)
    case .named(let components): components.last?.name != "Any"
    case .tuple, .existential: false
    }
  }
}

/// Names that a property cannot have, because managed objects already have a member of that name.
package enum ReservedNames {
  package static let members: Set<String> = [
    "description", "debugDescription", "hash", "hashValue", "entity", "objectID", "managedObjectContext",
    "isInserted",
    "isUpdated", "isDeleted", "hasChanges", "hasPersistentChangedValues", "isFault", "faultingState",
    "superclass",
    "self", "copy", "mutableCopy", "init", "deinit", "Type", "Self",
  ]
}
