import CoreDataModelSchema

/// The classes of a model's entities by name.
struct ClassNames {
  private let _entities: [String: EntitySchema]
  /// Access levels of the classes written by hand.
  private let _accesses: [String: SwiftAccess]

  /// - Parameter handWritten: Types that the module's sources declare, if they were scanned.
  init(_ schema: ModelSchema, handWritten: [ScannedType] = []) throws {
    var entities: [String: EntitySchema] = [:]
    for entity in schema.entities {
      guard entities.updateValue(entity, forKey: entity.name) == nil else {
        throw ModelCodegenError(
          entity: entity.name, reason: "two entities have this name; rename one of them")
      }
    }
    _entities = entities
    _accesses = Dictionary(
      handWritten.filter { $0.path.count == 1 }.map { ($0.path[0], $0.access) }, uniquingKeysWith: min)
    var owners: [String: String] = [:]
    for entity in schema.entities.sorted(by: { $0.name < $1.name }) where entity.codeGeneration == .class {
      guard let name = className(of: entity) else { continue }
      if let other = owners.updateValue(entity.name, forKey: name) {
        throw ModelCodegenError(
          entity: entity.name,
          reason:
            "its class '\(name)' is to be written for entity '\(other)' too; set the code generation of one of "
            + "them to manual, or give it another class")
      }
    }
  }

  /// The entity's class name within the module; nil for plain managed objects.
  func className(of entity: EntitySchema) -> String? {
    guard var name = entity.className, !name.isEmpty else { return nil }
    if name.hasPrefix(".") { name.removeFirst() }
    // "Module.Class", as Xcode writes it for a module that was chosen in the editor.
    if let dot = name.lastIndex(of: ".") { name = String(name[name.index(after: dot)...]) }
    return name == "NSManagedObject" || name.isEmpty ? nil : name
  }

  func className(ofEntity name: String) -> String? {
    guard let found = _entities[name].flatMap(className), SwiftName.isIdentifier(found) else { return nil }
    return SwiftName.escaped(found)
  }

  /// Whether a public declaration may name the class: the class and its superclasses are public.
  func isPublic(_ entity: EntitySchema) -> Bool {
    var seen: Set<String> = []
    var next: EntitySchema? = entity
    while let current = next, seen.insert(current.name).inserted {
      if current.codeGeneration != .class, let name = className(of: current), let access = _accesses[name],
        access < .public
      {
        return false
      }
      next = current.parent.flatMap { _entities[$0] }
    }
    return true
  }

  /// Whether a public declaration may name the class of the entity of this name.
  func isPublic(entityNamed name: String) -> Bool { _entities[name].map(isPublic) ?? true }

  func checkedClass(of entity: EntitySchema) throws -> String {
    guard let name = className(of: entity) else {
      throw ModelCodegenError(entity: entity.name, reason: "it has no class of its own to be written")
    }
    guard SwiftName.isIdentifier(name) else {
      throw ModelCodegenError(
        entity: entity.name, reason: "its class name '\(name)' is no Swift identifier; change it in the model"
      )
    }
    return SwiftName.escaped(name)
  }

  /// Class of the nearest ancestor that has one.
  func superclass(of entity: EntitySchema) throws -> String {
    var seen: Set<String> = [entity.name]
    var next = entity.parent
    while let name = next {
      guard let parent = _entities[name] else {
        throw ModelCodegenError(
          entity: entity.name, reason: "its parent entity '\(name)' is not in the model")
      }
      guard seen.insert(name).inserted else {
        throw ModelCodegenError(entity: entity.name, reason: "its line of parents is a circle")
      }
      if let found = className(of: parent), found != className(of: entity) {
        return try checkedClass(of: parent)
      }
      next = parent.parent
    }
    return "NSManagedObject"
  }

  func destination(_ relationship: RelationshipSchema, in entity: EntitySchema) throws -> String {
    guard let destination = _entities[relationship.destination] else {
      throw ModelCodegenError(
        entity: entity.name, property: relationship.name,
        reason: "its destination entity '\(relationship.destination)' is not in the model")
    }
    return className(of: destination) == nil ? "NSManagedObject" : try checkedClass(of: destination)
  }
}
