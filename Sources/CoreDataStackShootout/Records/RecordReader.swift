import CoreData
import CoreDataModelSchema
import CoreDataStoreTools
import CoreDataToolKit
import Foundation

/// The objects of an input, in order, and counts of what could not be used.
struct RecordFeed: Sendable {
  var records: [RecordNode] = []
  /// The first few problems, with their places.
  var problems: [String] = []
  var skipped = 0
  /// The numbers of the names by which records lead to others.
  var named: Set<Int> = []
}

/// Reads records: objects of JSON, one a line or in an array, or lines of CSV.
///
/// A record whose values do not fit is counted and skipped; a property that the entity does not have fails the input,
/// since nothing of it would be imported.
struct RecordReader {
  private static let _problemsKept = 5

  let plan: RecordPlan
  private let _shapes = RecordShapes()
  private let _known = KnownKeys()
  private let _names = RecordNames()

  init(plan: RecordPlan) { self.plan = plan }

  /// - Throws: `ToolFailure` with the place for what is no record, or of another model.
  func read(_ input: SpooledInput, _ form: ExchangeForm) throws -> RecordFeed {
    var feed = RecordFeed()
    let source = try RecordSources.open(input, form, entity: plan.entity.entityName)
    while let record = try source.next() {
      do {
        let declared = plan.spansEntities ? nil : plan.entity
        let entity = try _entity(named: record.entity, as: declared, record.place)
        let name = plan.spansEntities ? record.identifier : nil
        feed.records.append(try _node(_members(record, entity), entity, record.place, name))
      } catch let problem as Problem {
        feed.skipped += 1
        if feed.problems.count < Self._problemsKept {
          feed.problems.append("\(record.place): \(problem.reason)")
        }
      }
    }
    feed.named = _names.used
    guard !feed.records.isEmpty else {
      let first = feed.problems.first.map { ": \($0)" } ?? "."
      throw ToolFailure(.badInput, "'\(input.name)' has no record that can be imported\(first)")
    }
    return feed
  }

  /// The fields of a record; of CSV an empty field is left out, and keys of a to-many are separated by semicolons.
  private func _members(_ record: InputRecord, _ entity: PropertyLayout) -> [JSONValue.Member] {
    record.fields.compactMap { name, field in
      switch field {
      case .json(let value): return JSONValue.Member(name: name, value: value)
      case .text(nil): return nil
      case .text(let text?):
        let isToMany = entity.slot(named: name).map { entity.slots[$0].isToMany } ?? false
        return JSONValue.Member(
          name: name,
          value: isToMany ? .array(text.split(separator: ";").map { .string(String($0)) }) : .string(text))
      }
    }
  }

  /// Why a record is skipped.
  private struct Problem: Error { let reason: String }

  /// - Parameter name: The name of the object in a store's records.
  private func _node(
    _ members: [JSONValue.Member], _ entity: PropertyLayout, _ place: String, _ name: String? = nil
  ) throws -> RecordNode {
    // Before what is inside, which may lead to it.
    let known = name.flatMap { _names.number(of: $0) }
    let identity = known ?? name.map { _names.add($0) }
    var values: [RecordNode.Value] = []
    var links: [RecordNode.Link] = []
    var seen: Set<Int> = []
    for member in members where !Self._others.contains(member.name) {
      let slot = try _slot(member.name, entity, place)
      guard seen.insert(slot).inserted else { throw Problem(reason: "'\(member.name)' is given twice") }
      if let attribute = entity.slots[slot].attribute {
        values.append(try _value(member, slot, attribute))
      } else {
        links.append(try _link(member, slot, entity, place))
      }
    }
    if let known { return _named(known, entity, links) }
    var node = try _node(entity, values, links, isNamed: identity != nil)
    node.identity = identity
    return node
  }

  /// An object that is there already, with links that it is given now.
  private func _named(_ number: Int, _ entity: PropertyLayout, _ links: [RecordNode.Link]) -> RecordNode {
    _names.use(number)
    var node = RecordNode(shape: _shapes.shape(of: entity, []), key: nil, values: [], links: links)
    (node.identity, node.isReference) = (number, true)
    return node
  }

  private func _node(
    _ entity: PropertyLayout, _ values: [RecordNode.Value], _ links: [RecordNode.Link], isNamed: Bool = false
  ) throws -> RecordNode {
    let shape = _shapes.shape(of: entity, values.map(\.slot))
    guard let key = plan.key(of: entity) else {
      return RecordNode(shape: shape, key: nil, values: values, links: links)
    }
    let name = entity.slots[key.slot].name
    guard let value = values.first(where: { $0.slot == key.slot && $0.stored != .null }) else {
      if !isNamed, plan.entity.family.contains(entity.entityNumber) {
        throw Problem(reason: "there is no '\(name)', which is the key")
      }
      return RecordNode(shape: shape, key: nil, values: values, links: links)
    }
    if let other = _known.entity(of: value.stored, in: key.scope, as: entity) {
      throw Problem(
        reason:
          "the '\(key.scope.entityName)' of this '\(name)' is a '\(other.entityName)' already, and no '\(entity.entityName)'"
      )
    }
    return RecordNode(
      shape: shape, key: RecordNode.Key(value: value, scope: key.scope), values: values, links: links)
  }

  /// Members that are no property: the entity, and the name that an export gives to an object.
  private static let _others: Set<String> = ["$entity", "$id"]

  private func _name(_ members: [JSONValue.Member]) -> String? {
    guard case .string(let name)? = members.first(where: { $0.name == "$id" })?.value else { return nil }
    return name
  }

  /// The entity of an object inside another.
  private func _entity(
    _ members: [JSONValue.Member], as declared: PropertyLayout, _ place: String
  ) throws -> PropertyLayout {
    guard case .string(let name)? = members.first(where: { $0.name == "$entity" })?.value else {
      return try _entity(named: declared.entityName, as: declared, place)
    }
    return try _entity(named: name, as: declared, place)
  }

  /// - Parameter declared: Nil for any.
  private func _entity(
    named name: String, as declared: PropertyLayout?, _ place: String
  ) throws -> PropertyLayout {
    let entity = try plan.entity(name, at: place)
    if let declared, !declared.family.contains(entity.entityNumber) {
      throw Problem(reason: "a '\(name)' is no '\(declared.entityName)'")
    }
    guard !entity.isAbstract else {
      throw Problem(reason: "'\(entity.entityName)' is abstract; \"$entity\" names one of its subentities")
    }
    return entity
  }

  private func _slot(_ name: String, _ entity: PropertyLayout, _ place: String) throws(ToolFailure) -> Int {
    guard let slot = entity.slot(named: name) else {
      let near = SpellingSuggestion.nearest(to: name, among: entity.slotsByName.keys.sorted())
      throw ToolFailure(
        .badInput,
        "\(place): '\(entity.entityName)' has no property '\(name)'."
          + (near.map { " Did you mean '\($0)'?" }
            ?? " It has \(entity.slotsByName.keys.sorted().joined(separator: ", "))."))
    }
    let property = entity.slots[slot]
    guard !property.isTransient, !property.isDerived else {
      throw ToolFailure(
        .badInput,
        "\(place): '\(name)' of '\(entity.entityName)' is \(property.isDerived ? "derived" : "transient"): it cannot be imported."
      )
    }
    if property.form == .transformable || property.form == .composite {
      throw ToolFailure(
        .badInput,
        "\(place): '\(name)' of '\(entity.entityName)' is \(property.form == .composite ? "a composite" : "transformable"), which the "
          + "shootout does not import. Leave it out.")
    }
    return slot
  }

  private func _value(
    _ member: JSONValue.Member, _ slot: Int, _ attribute: AttributeSchema
  ) throws -> RecordNode.Value {
    do {
      var json = member.value
      // A key of digits is a text where the attribute is one.
      if case .number(let digits) = json, attribute.type.form == .string { json = .string(digits) }
      let stored = try ValueReading.value(json, of: attribute)
      let object = stored.object(of: attribute)
      // An address that is none is not stored as Core Data would store it.
      guard (object == nil) == (stored == .null) else { throw Problem(reason: "'\(member.name)' is no URL") }
      return RecordNode.Value(slot: slot, name: member.name, stored: stored, object: object)
    } catch let problem as Problem {
      throw problem
    } catch {
      throw Problem(reason: "'\(member.name)': \(error)")
    }
  }

  private func _link(
    _ member: JSONValue.Member, _ slot: Int, _ entity: PropertyLayout, _ place: String
  ) throws -> RecordNode.Link {
    let relationship = entity.slots[slot].relationship!
    let destination = plan.layout.layout(numbered: relationship.destination)
    func target(_ json: JSONValue) throws -> RecordNode {
      switch json {
      case .object(let members):
        let name = plan.spansEntities ? _name(members) : nil
        if members.count == 1, let number = name.flatMap({ _names.number(of: $0) }) {
          return _named(number, destination, [])
        }
        return try _node(members, try _entity(members, as: destination, place), place, name)
      case .string, .number: return try _reference(json, member.name, destination, place)
      default: throw Problem(reason: "'\(member.name)': a key or an object was expected, not \(json.kind)")
      }
    }
    let targets: [RecordNode]
    switch member.value {
    case .null: targets = []
    case .array(let elements) where relationship.isToMany: targets = try elements.map(target)
    case .array: throw Problem(reason: "'\(member.name)' leads to one object, not to several")
    case let json where relationship.isToMany:
      throw Problem(reason: "'\(member.name)': an array was expected, not \(json.kind)")
    case let json: targets = [try target(json)]
    }
    return RecordNode.Link(
      slot: slot, name: member.name, isToMany: relationship.isToMany, isOrdered: relationship.isOrdered,
      targets: targets)
  }

  /// An object that is named by its key only.
  private func _reference(
    _ json: JSONValue, _ name: String, _ destination: PropertyLayout, _ place: String
  ) throws -> RecordNode {
    guard let slot = plan.key(of: destination)?.slot, let attribute = destination.slots[slot].attribute else {
      throw ToolFailure(
        .badInput,
        "\(place): '\(name)' names a '\(destination.entityName)' by a key, and no attribute of it is one: '--key "
          + "\(destination.entityName).ATTRIBUTE'.")
    }
    guard !destination.isAbstract else {
      throw Problem(
        reason: "'\(name)': '\(destination.entityName)' is abstract; give an object with \"$entity\"")
    }
    return try _node(
      destination, [try _value(JSONValue.Member(name: attribute.name, value: json), slot, attribute)], [])
  }
}

/// The names that a store's records have so far, numbered.
private final class RecordNames {
  private var _numbers: [String: Int] = [:]
  /// The numbers of those that others have used.
  private(set) var used: Set<Int> = []

  func number(of name: String) -> Int? { _numbers[name] }

  func add(_ name: String) -> Int {
    let number = _numbers.count
    _numbers[name] = number
    return number
  }

  func use(_ number: Int) { used.insert(number) }
}

/// The entities of the objects that an input has named by key so far.
private final class KnownKeys {
  private struct Place: Hashable {
    let scope: Int
    let key: String
  }

  private var _entities: [Place: PropertyLayout] = [:]

  /// Notes an object, and returns the entity that it was given before if it cannot be of this one.
  func entity(of key: StoredValue, in scope: PropertyLayout, as entity: PropertyLayout) -> PropertyLayout? {
    let place = Place(scope: scope.entityNumber, key: key.identity)
    guard let known = _entities[place] else {
      _entities[place] = entity
      return nil
    }
    return entity.family.contains(known.entityNumber) ? nil : known
  }
}
