import CoreDataModelSchema
import CoreDataPredicateLanguage
import Foundation

/// The selectors of a migration manager that mapping expressions use.
enum MigrationSelector: String {
  case fetchRequest = "fetchRequestForSourceEntityNamed:predicateString:"
  case members = "destinationInstancesForEntityMappingNamed:sourceInstances:"
  case membersOfRelationship = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
  case origins = "sourceInstancesForEntityMappingNamed:destinationInstances:"
}

/// Evaluates a mapping's expressions for one source object and sets the results.
struct MappingEvaluation {
  private let _manager: NSMigrationManager
  private let _mapping: NSEntityMapping
  private let _policy: NSEntityMigrationPolicy
  private let _source: NSManagedObject?

  init(
    _ manager: NSMigrationManager, _ mapping: NSEntityMapping, policy: NSEntityMigrationPolicy,
    source: NSManagedObject?
  ) {
    _manager = manager
    _mapping = mapping
    _policy = policy
    _source = source
  }

  // MARK: Source objects

  /// Returns the objects to map.
  func sources() throws -> [NSManagedObject] {
    guard let name = _mapping.sourceEntityName, _mapping.mappingType != .removeEntityMappingType else {
      return []
    }
    guard let expression = _mapping.sourceExpression else {
      return try _manager.sourceContext.fetch(
        _manager.sourceRequest(entity: name, predicate: "TRUEPREDICATE"))
    }
    let found = try _explaining("its source expression") {
      // Execute a fetch directly: evaluating it would wrap each result value.
      guard case .function(.fetch, let arguments) = expression.tree, arguments.count == 3,
        case .object(let object) = try _value(of: arguments[0]),
        let request = object.any as? NSFetchRequest<NSManagedObject>
      else { return try _objects(in: _value(of: expression.tree)) }
      return try _manager.sourceContext.fetch(request)
    }
    return found
  }

  // MARK: Attributes

  /// Sets an attribute of a new object according to its mapping; without an expression, keeps the default.
  func setAttribute(_ property: NSPropertyMapping, of destination: NSManagedObject) throws {
    guard let expression = property.valueExpression else { return }
    let slot = try Self._slot(property, of: destination, in: _mapping)
    guard let attribute = destination._layout.slots[slot].attribute,
      let coding = destination._shape.codings[slot]
    else {
      throw Self._error(_mapping, property, "'\(property.name ?? "")' is a relationship, not an attribute.")
    }
    // The engine computes derived attributes.
    if attribute.isDerived { return }
    let value = try _explaining("attribute '\(property.name ?? "")'") {
      if let same = _copied(expression.tree, type: attribute.type) { return same }
      return try coding.value(from: _value(of: expression.tree, property, destination).any)
    }
    // An attribute that has become mandatory keeps its default instead of nil.
    if case .null = value, !attribute.isOptional { return }
    destination.write(value, at: slot)
  }

  /// Returns the cell of an attribute that is only copied, without decoding a transformable.
  private func _copied(_ tree: ExpressionTree, type: AttributeType) -> Value? {
    guard case .keyPathOf(.variable(NSMigrationSourceObjectKey), let path) = tree, path.count == 1,
      let source = _source, let slot = source._layout.slot(named: path[0]),
      let attribute = source._layout.slots[slot].attribute, attribute.type == type, type != .composite
    else { return nil }
    return source.read(slot)
  }

  // MARK: Relationships

  /// Returns the members of a relationship for one source object according to its mapping; only those of the
  /// relationship's entity, since one object may have become several.
  func members(of property: NSPropertyMapping, for destination: NSManagedObject) throws -> [NSManagedObject] {
    guard let expression = property.valueExpression else { return [] }
    let slot = try Self._slot(property, of: destination, in: _mapping)
    guard let relationship = destination._entity.relationshipsByName[property.name ?? ""],
      destination._layout.slots[slot].relationship != nil
    else {
      throw Self._error(_mapping, property, "'\(property.name ?? "")' is an attribute, not a relationship.")
    }
    let found = try _explaining("relationship '\(property.name ?? "")'") {
      try _objects(in: _value(of: expression.tree, property, destination))
    }
    guard let wanted = relationship.destinationEntity else { return found }
    return found.filter { $0._context === _manager.destinationContext && $0._entity.isKindOf(entity: wanted) }
  }

  static func setRelationship(
    _ property: NSPropertyMapping, of destination: NSManagedObject, to members: [NSManagedObject],
    in mapping: NSEntityMapping
  ) throws {
    let slot = try _slot(property, of: destination, in: mapping)
    guard let relationship = destination._layout.slots[slot].relationship else { return }
    if !relationship.isToMany {
      destination.setToOne(slot, members.first)
    } else if relationship.isOrdered {
      destination.setToMany(slot, NSOrderedSet(array: members).array.compactMap { $0 as? NSManagedObject })
    } else {
      destination.setToMany(slot, Array(Set(members)))
    }
  }

  // MARK: Evaluating

  private func _value(
    of tree: ExpressionTree, _ property: NSPropertyMapping? = nil, _ destination: NSManagedObject? = nil
  ) throws -> PredicateValue {
    var variables: [String: PredicateValue] = [
      NSMigrationManagerKey: PredicateValue(any: _manager),
      NSMigrationEntityMappingKey: PredicateValue(any: _mapping),
      NSMigrationEntityPolicyKey: PredicateValue(any: _policy),
      NSMigrationSourceObjectKey: PredicateValue(any: _source),
    ]
    if let property { variables[NSMigrationPropertyMappingKey] = PredicateValue(any: property) }
    if let destination { variables[NSMigrationDestinationObjectKey] = PredicateValue(any: destination) }
    return try tree.value(for: MigrationSubject(manager: _manager, source: _source), variables: variables)
  }

  private func _objects(in value: PredicateValue) throws -> [NSManagedObject] {
    switch value {
    case .null: return []
    case .object(let object):
      if let object = object.any as? NSManagedObject { return [object] }
    case .collection(let elements): return try elements.flatMap(_objects)
    default: break
    }
    throw PredicateEvaluationError.unsupported(
      "managed objects were expected, and \(value.kindName) was found.")
  }

  private func _explaining<T>(_ what: String, _ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error as CocoaError {
      throw error
    } catch {
      throw CocoaError.coreData(
        NSMigrationError,
        "The mapping '\(_mapping.name ?? "")' cannot be carried out: \(what): \(error)",
        [NSUnderlyingErrorKey: error])
    }
  }

  private static func _slot(
    _ property: NSPropertyMapping, of object: NSManagedObject, in mapping: NSEntityMapping
  ) throws -> Int {
    if let slot = property.name.flatMap({ object._layout.slot(named: $0) }) { return slot }
    throw _error(
      mapping, property,
      "'\(object._layout.entityName)' has no property '\(property.name ?? "")' in the destination model.")
  }

  private static func _error(
    _ mapping: NSEntityMapping, _ property: NSPropertyMapping, _ reason: String
  ) -> any Error {
    CocoaError.coreData(NSMigrationError, "The mapping '\(mapping.name ?? "")' does not fit: \(reason)")
  }
}

/// The subject of a mapping's expressions: the source object as SELF, and a manager that evaluates its own
/// methods.
private struct MigrationSubject: ManagedPredicateSubject {
  let manager: NSMigrationManager
  let source: NSManagedObject?

  var predicateValue: PredicateValue { PredicateValue(any: source) }

  func predicateValue(forKey key: String) throws -> PredicateValue {
    guard let source else { throw PredicateEvaluationError.unknownKey(key, of: "a mapping without a source") }
    return try ManagedObjectSubject.value(of: source, key)
  }

  func predicateValue(forKey key: String, of object: PredicateObject) throws -> PredicateValue {
    switch (object.any, key) {
    case (let object as NSManagedObject, _): return try ManagedObjectSubject.value(of: object, key)
    case (let manager as NSMigrationManager, "sourceContext"):
      return PredicateValue(any: manager.sourceContext)
    case (let manager as NSMigrationManager, "destinationContext"):
      return PredicateValue(any: manager.destinationContext)
    case (let manager as NSMigrationManager, "sourceModel"): return PredicateValue(any: manager.sourceModel)
    case (let manager as NSMigrationManager, "destinationModel"):
      return PredicateValue(any: manager.destinationModel)
    case (let manager as NSMigrationManager, "mappingModel"): return PredicateValue(any: manager.mappingModel)
    case (let manager as NSMigrationManager, "userInfo"): return PredicateValue(any: manager.userInfo)
    case (let mapping as NSEntityMapping, "name"): return PredicateValue(any: mapping.name)
    case (let mapping as NSEntityMapping, "sourceEntityName"):
      return PredicateValue(any: mapping.sourceEntityName)
    case (let mapping as NSEntityMapping, "destinationEntityName"):
      return PredicateValue(any: mapping.destinationEntityName)
    case (let mapping as NSEntityMapping, "userInfo"): return PredicateValue(any: mapping.userInfo)
    case (let mapping as NSPropertyMapping, "name"): return PredicateValue(any: mapping.name)
    case (let mapping as NSPropertyMapping, "userInfo"): return PredicateValue(any: mapping.userInfo)
    default: return try ObjectSubject(source).predicateValue(forKey: key, of: object)
    }
  }

  func predicateResult(
    of selector: String, on target: PredicateValue, arguments: [PredicateValue]
  ) throws -> PredicateValue? {
    guard case .object(let object) = target, let manager = object.any as? NSMigrationManager,
      let known = MigrationSelector(rawValue: selector), arguments.count == 2,
      case .string(let name) = arguments[0]
    else {
      // A manager subclass may support more selectors.
      return try ObjectSubject(source).predicateResult(of: selector, on: target, arguments: arguments)
    }
    switch known {
    case .fetchRequest:
      guard case .string(let predicate) = arguments[1] else { return nil }
      return PredicateValue(any: try manager.sourceRequest(entity: name, predicate: predicate))
    case .members:
      return PredicateValue(
        objects: _associated(arguments[1]) {
          manager.destinationInstances(forEntityMappingName: name, sourceInstances: $0)
        })
    case .origins:
      return PredicateValue(
        objects: _associated(arguments[1]) {
          manager.sourceInstances(forEntityMappingName: name, destinationInstances: $0)
        })
    case .membersOfRelationship:
      return PredicateValue(objects: _associated(arguments[1]) { manager.associations.destinations(of: $0) })
    }
  }

  /// Returns the objects associated with the given ones; none for an empty list, whereas nil means all in the
  /// manager's own methods.
  private func _associated(
    _ value: PredicateValue, _ body: ([NSManagedObject]) -> [NSManagedObject]
  ) -> [NSManagedObject] {
    let elements: [PredicateValue] = if case .object = value { [value] } else { value.elements ?? [] }
    return body(
      elements.compactMap { if case .object(let object) = $0 { object.any as? NSManagedObject } else { nil } }
    )
  }

  func predicateResult(
    ofFetch request: PredicateValue, in context: PredicateValue, countOnly: Bool
  ) throws -> PredicateValue { try FetchCall.result(request, in: context, countOnly: countOnly) }

  func predicateResult(
    ofBlock block: PredicateObject, arguments: [PredicateValue]?, variables: [String: PredicateValue]
  ) throws -> PredicateValue {
    try ObjectSubject(source).predicateResult(ofBlock: block, arguments: arguments, variables: variables)
  }
}

extension PredicateValue {
  fileprivate init(objects: [NSManagedObject]) {
    self = .collection(objects.map { .object(PredicateObject(AnyHashable($0))) })
  }
}
