import CoreDataModelSchema
import CoreDataToolKit
import Foundation

/// Infers entities from records: objects of JSON, lines of CSV.
struct RecordInference {
  /// What is known of one entity's members.
  private final class Shape {
    /// As the data calls it.
    let source: String
    var count = 0
    /// Names in the order of their first mention.
    var names: [String] = []
    var values: [String: ValueEvidence] = [:]
    /// In how many records a member is.
    var appearances: [String: Int] = [:]
    /// Members that are arrays of values, of any kind.
    var lists: Set<String> = []
    /// Members that are objects, or arrays of them.
    var parts: [String: (shape: Shape, isList: Bool)] = [:]

    init(_ source: String) { self.source = source }

    func mention(_ name: String) {
      if appearances[name] == nil { names.append(name) }
      appearances[name, default: 0] += 1
    }
  }

  private var _shapes: [Shape] = []

  // MARK: Reading

  /// Adds an object to the entity that its `$entity` names, or else to the one of this name.
  mutating func add(_ members: [JSONValue.Member], to source: String) {
    _add(members, to: _shape(Self._entity(members) ?? source))
  }

  /// Adds a line of CSV.
  mutating func add(_ fields: [String?], named names: [String], to source: String) {
    let shape = _shape(source)
    shape.count += 1
    for (name, field) in zip(names, fields) where name != ExchangeKeys.identifier {
      shape.mention(name)
      shape.values[name, default: ValueEvidence()].add(text: field)
    }
  }

  /// An entity that may have no record.
  mutating func add(columns: [String], to source: String) {
    let shape = _shape(source)
    for name in columns where name != ExchangeKeys.identifier && shape.appearances[name] == nil {
      shape.names.append(name)
      shape.appearances[name] = 0
      shape.values[name] = ValueEvidence()
    }
  }

  /// Names that become one entity share a shape.
  private mutating func _shape(_ source: String) -> Shape {
    let name = ModelNaming.entity(source)
    if let found = _shapes.first(where: { ModelNaming.entity($0.source) == name }) { return found }
    _shapes.append(Shape(source))
    return _shapes[_shapes.count - 1]
  }

  private static func _entity(_ members: [JSONValue.Member]) -> String? {
    for case (ExchangeKeys.entity, .string(let name)) in members.map({ ($0.name, $0.value) }) { return name }
    return nil
  }

  private mutating func _add(_ members: [JSONValue.Member], to shape: Shape) {
    shape.count += 1
    for member in members where member.name != ExchangeKeys.entity && member.name != ExchangeKeys.identifier {
      shape.mention(member.name)
      switch member.value {
      case .object(let part): _add(parts: [part], of: member.name, to: shape, isList: false)
      case .array(let elements):
        let objects = elements.compactMap { if case .object(let part) = $0 { part } else { nil } }
        if objects.count == elements.count {
          _add(parts: objects, of: member.name, to: shape, isList: true)
        } else {
          shape.lists.insert(member.name)
        }
      default: shape.values[member.name, default: ValueEvidence()].add(json: member.value)
      }
    }
  }

  private mutating func _add(
    parts: [[JSONValue.Member]], of name: String, to shape: Shape, isList: Bool
  ) {
    guard let first = parts.first else { return }
    let known = shape.parts[name]
    let part = known?.shape ?? _shape(Self._entity(first) ?? (isList ? ModelNaming.singular(name) : name))
    shape.parts[name] = (part, isList || known?.isList ?? false)
    for members in parts { _add(members, to: part) }
  }

  // MARK: Writing

  /// Adds what was read to a model.
  func write(to model: inout InferredModel) {
    for shape in _shapes { _ = model.entity(shape.source) }
    for shape in _shapes { _write(shape, &model) }
    _noteReferences(&model)
  }

  private func _write(_ shape: Shape, _ model: inout InferredModel) {
    let entity = model.entity(shape.source)
    let owner = model.name(of: entity)
    for name in shape.names {
      if let part = shape.parts[name] {
        if shape.lists.contains(name) || shape.values[name].map({ $0.count > 0 }) ?? false {
          model.note(
            "\(owner).\(name): objects in some records and values in others; the values are left out.")
        }
        model.relationship(
          name, from: entity, to: model.entity(part.shape.source), isToMany: part.isList,
          inverse: part.isList ? owner : ModelNaming.members(owner), inverseIsToMany: !part.isList,
          deleteRule: part.isList ? .cascade : .nullify)
      } else if shape.lists.contains(name) {
        model.note("\(owner).\(name): lists of values, as a transformable attribute.")
        model.attribute(name, of: entity, .transformable, isOptional: true)
      } else if let evidence = shape.values[name] {
        _attribute(name, evidence, shape, entity, &model)
      } else {
        model.note("\(owner).\(name): an empty list in every record; left out.")
      }
    }
  }

  private func _attribute(
    _ name: String, _ evidence: ValueEvidence, _ shape: Shape, _ entity: Int, _ model: inout InferredModel
  ) {
    let owner = model.name(of: entity)
    let isOptional = evidence.hasNull || shape.appearances[name, default: 0] < shape.count || shape.count == 0
    guard let type = evidence.type else {
      model.note("\(owner).\(name): without a value in every record; taken for an optional string.")
      model.attribute(name, of: entity, .string, isOptional: true)
      return
    }
    if evidence.isMixed { model.note("\(owner).\(name): values of several kinds; taken for strings.") }
    switch type {
    case .date, .uuid, .uri:
      model.note("\(owner).\(name): all \(evidence.count) texts read as \(Self._words(type)).")
    default: break
    }
    model.attribute(name, of: entity, type, isOptional: isOptional)
  }

  private static func _words(_ type: AttributeType) -> String {
    switch type {
    case .date: "dates"
    case .uuid: "UUIDs"
    default: "URLs"
    }
  }

  /// Names attributes that look like references to other entities; a name alone does not make a relationship.
  private func _noteReferences(_ model: inout InferredModel) {
    let names = model.schema.entities.map(\.name)
    for entity in model.schema.entities {
      for attribute in entity.attributes {
        let lowered = attribute.name.lowercased()
        guard lowered.hasSuffix("id"), lowered.count > 2 else { continue }
        let stem = lowered.dropLast(2)
        if let other = names.first(where: {
          $0.lowercased() == stem || ModelNaming.members(String(stem)) == $0.lowercased()
        }) {
          model.note(
            "\(entity.name).\(attribute.name): looks like a reference to \(other); make it a relationship if it is one."
          )
        }
      }
    }
  }
}
