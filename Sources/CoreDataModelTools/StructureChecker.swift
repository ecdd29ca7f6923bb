import CoreDataModelSchema
import CoreDataPredicateLanguage
import CoreDataToolKit

/// Finds all errors that make a model unusable; the engine stops at the first.
struct StructureChecker {
  private(set) var findings: [ModelFinding] = []
  private let _entities: [String: EntitySchema]

  init(_ schema: ModelSchema) {
    _entities = Dictionary(schema.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    var names: Set<String> = []
    for entity in schema.entities {
      if !names.insert(entity.name).inserted {
        _add(.duplicateName, entity.name, nil, "two entities have this name; rename one of them")
      }
      _check(entity)
    }
    for request in schema.fetchRequests {
      _checkEntity(
        request.entity, "its entity", ModelFinding.Subject(kind: .fetchRequest, name: request.name))
      _checkPredicate(request.predicate, ModelFinding.Subject(kind: .fetchRequest, name: request.name))
    }
    for configuration in schema.configurations {
      for member in configuration.entities {
        _checkEntity(
          member, "its entity", ModelFinding.Subject(kind: .configuration, name: configuration.name))
      }
    }
  }

  private mutating func _add(
    _ code: ModelFinding.Code, _ entity: String, _ property: String?, _ message: String
  ) {
    findings.append(ModelFinding(code, entity: entity, property: property, message: message))
  }

  private static func _meant(_ name: String, _ candidates: some Sequence<String>) -> String {
    SpellingSuggestion.nearest(to: name, among: candidates.sorted()).map { ". Did you mean '\($0)'?" } ?? ""
  }

  private mutating func _checkEntity(_ name: String, _ role: String, _ subject: ModelFinding.Subject) {
    guard !name.isEmpty, _entities[name] == nil else { return }
    findings.append(
      ModelFinding(
        .unknownEntity, subject: subject,
        message: "\(role) '\(name)' is not in the model\(Self._meant(name, _entities.keys))"))
  }

  private mutating func _checkPredicate(_ text: String?, _ subject: ModelFinding.Subject) {
    guard let text else { return }
    do {
      _ = try PredicateTemplate(parsing: text)
    } catch {
      findings.append(
        ModelFinding(
          .badPredicate, subject: subject,
          message:
            "its predicate '\(text)' cannot be read: \(error.problem), at character \(error.offset + 1)"))
    }
  }

  // MARK: Entities

  /// An entity and its ancestors, nearest first; a cycle ends where it closes.
  private func _line(_ entity: EntitySchema) -> [EntitySchema] {
    var line = [entity]
    var seen: Set<String> = [entity.name]
    while let name = line[line.count - 1].parent, let parent = _entities[name], seen.insert(name).inserted {
      line.append(parent)
    }
    return line
  }

  private mutating func _check(_ entity: EntitySchema) {
    if let parent = entity.parent, _entities[parent] == nil {
      _add(
        .unknownEntity, entity.name, nil,
        "its parent entity '\(parent)' is not in the model\(Self._meant(parent, _entities.keys))")
    }
    let line = _line(entity)
    let inherited = Set(line.dropFirst().flatMap { $0.attributes.map(\.name) + $0.relationships.map(\.name) })
    var own: Set<String> = []
    for name in entity.attributes.map(\.name) + entity.relationships.map(\.name) {
      if inherited.contains(name) {
        _add(
          .duplicateName, entity.name, name, "a parent entity has a property of this name; rename one of them"
        )
      }
      if !own.insert(name).inserted {
        _add(.duplicateName, entity.name, name, "two properties have this name; rename one of them")
      }
    }
    for attribute in entity.attributes { _check(attribute, entity) }
    for relationship in entity.relationships { _check(relationship, entity) }
    for fetched in entity.fetchedProperties {
      let subject = ModelFinding.Subject(kind: .property(of: entity.name), name: fetched.traits.name)
      _checkEntity(fetched.request.entity, "the entity that it fetches,", subject)
      _checkPredicate(fetched.request.predicate, subject)
    }
    let known = own.union(inherited)
    for name in entity.uniquenessConstraints.joined() where !known.contains(name) {
      _add(
        .unknownProperty, entity.name, nil,
        "a uniqueness constraint names '\(name)', which is no property\(Self._meant(name, known))")
    }
    for index in entity.indexes {
      for case let name? in index.elements.map(\.property)
      where !known.contains(name) && name != "self" && name != "entity" {
        _add(
          .unknownProperty, entity.name, nil,
          "index '\(index.name)' names '\(name)', which is no property\(Self._meant(name, known))")
      }
      if index.elements.contains(where: \.isRTree), index.elements.contains(where: { !$0.isRTree }) {
        _add(
          .mixedIndex, entity.name, nil,
          "index '\(index.name)' mixes R-tree and binary elements, which no index can")
      }
    }
  }

  // MARK: Properties

  private mutating func _check(_ attribute: AttributeSchema, _ entity: EntitySchema) {
    if attribute.type == .undefined, !attribute.isTransient {
      _add(
        .noType, entity.name, attribute.name,
        "has no attribute type, which only a transient attribute may lack; choose one")
    }
    guard let expression = attribute.derivationExpression else { return }
    do {
      _ = try ExpressionTemplate(parsing: expression)
    } catch {
      _add(
        .badDerivation, entity.name, attribute.name,
        "its derivation '\(expression)' cannot be read: \(error.problem), at character \(error.offset + 1)")
    }
  }

  private mutating func _check(_ relationship: RelationshipSchema, _ entity: EntitySchema) {
    guard let destination = _entities[relationship.destination] else {
      let name = relationship.destination
      _add(
        .unknownEntity, entity.name, relationship.name,
        "its destination entity '\(name)' is not in the model\(Self._meant(name, _entities.keys))")
      return
    }
    guard let inverse = relationship.inverse else { return }
    let candidates = _line(destination).flatMap(\.relationships)
    guard let found = candidates.first(where: { $0.name == inverse }) else {
      _add(
        .unknownInverse, entity.name, relationship.name,
        "its inverse '\(inverse)' is not a relationship of '\(destination.name)'\(Self._meant(inverse, candidates.map(\.name)))"
      )
      return
    }
    if found.inverse != relationship.name {
      _add(
        .oneSidedInverse, entity.name, relationship.name,
        "its inverse '\(destination.name).\(inverse)' does not point back to it but to '\(found.inverse ?? "nothing")'; "
          + "set both ends")
    }
  }
}
