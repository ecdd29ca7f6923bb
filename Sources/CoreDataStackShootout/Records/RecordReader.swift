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
}

/// Reads records: objects of JSON, one a line or in an array, or lines of CSV.
///
/// A record whose values do not fit is counted and skipped; a property that the entity does not have fails the input,
/// since nothing of it would be imported.
struct RecordReader {
  /// The form of an input.
  enum Form: String, Sendable, CaseIterable, Codable { case ndjson, json, csv }

  private static let _problemsKept = 5

  let plan: RecordPlan
  private let _shapes = RecordShapes()

  init(plan: RecordPlan) { self.plan = plan }

  /// The form that a file's name, or else its first byte, tells.
  static func form(ofPath path: String, _ bytes: some Collection<UInt8>) -> Form {
    switch (path as NSString).pathExtension.lowercased() {
    case "csv": return .csv
    case "ndjson", "jsonl": return .ndjson
    default: break
    }
    let first = bytes.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
    return first == UInt8(ascii: "[") ? .json : first == UInt8(ascii: "{") ? .ndjson : .csv
  }

  /// - Parameters:
  ///   - path: The file.
  ///   - name: What messages call it.
  func read(path: String, name: String, _ form: Form) throws -> RecordFeed {
    var feed = RecordFeed()
    let file = try InputFile(path: path, name: name)
    switch form {
    case .ndjson:
      while true {
        let place = "\(name):\(file.line)"
        guard let line = try file.nextLine() else { break }
        if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { continue }
        try _add(try JSONValue.members(parsing: line, at: place), place, to: &feed)
      }
    case .json:
      for (index, element) in try _elements(file, name).enumerated() {
        let place = "\(name), object \(index + 1)"
        guard case .object(let members) = element else {
          throw ToolFailure(.badInput, "\(place): an object was expected, not \(element.kind).")
        }
        try _add(members, place, to: &feed)
      }
    case .csv:
      guard let table = try CSVTable(file) else { break }
      while let (fields, place) = try table.next() {
        try _add(try _members(table.columns, fields, place), place, to: &feed)
      }
    }
    guard !feed.records.isEmpty else {
      let first = feed.problems.first.map { ": \($0)" } ?? "."
      throw ToolFailure(.badInput, "'\(name)' has no record that can be imported\(first)")
    }
    return feed
  }

  private func _elements(_ file: InputFile, _ name: String) throws -> [JSONValue] {
    var bytes: [UInt8] = []
    while let chunk = try file.nextBytes() { bytes += chunk }
    let document: JSONValue
    do {
      document = try JSONValue(parsing: bytes)
    } catch {
      throw ToolFailure(.badInput, "\(name): \(error).")
    }
    guard case .array(let elements) = document else {
      throw ToolFailure(.badInput, "\(name): an array of objects was expected, not \(document.kind).")
    }
    return elements
  }

  /// A line of CSV as members: an empty field is left out, keys of a to-many are separated by semicolons.
  private func _members(
    _ columns: [String], _ fields: [String?], _ place: String
  ) throws(ToolFailure) -> [JSONValue.Member] {
    var members: [JSONValue.Member] = []
    for (column, field) in zip(columns, fields) {
      guard let field else { continue }
      let isToMany = plan.entity.slot(named: column).map { plan.entity.slots[$0].isToMany } ?? false
      members.append(
        JSONValue.Member(
          name: column,
          value: isToMany
            ? .array(field.split(separator: ";").map { .string(String($0)) }) : .string(field)))
    }
    return members
  }

  /// Why a record is skipped.
  private struct Problem: Error { let reason: String }

  private func _add(_ members: [JSONValue.Member], _ place: String, to feed: inout RecordFeed) throws {
    do {
      feed.records.append(try _node(members, plan.entity, place))
    } catch let problem as Problem {
      feed.skipped += 1
      if feed.problems.count < Self._problemsKept { feed.problems.append("\(place): \(problem.reason)") }
    }
  }

  private func _node(
    _ members: [JSONValue.Member], _ declared: PropertyLayout, _ place: String
  ) throws -> RecordNode {
    let entity = try _entity(members, declared, place)
    var values: [RecordNode.Value] = []
    var links: [RecordNode.Link] = []
    var seen: Set<Int> = []
    for member in members where member.name != Self._entityMember {
      let slot = try _slot(member.name, entity, place)
      guard seen.insert(slot).inserted else { throw Problem(reason: "'\(member.name)' is given twice") }
      if let attribute = entity.slots[slot].attribute {
        values.append(try _value(member, slot, attribute))
      } else {
        links.append(try _link(member, slot, entity, place))
      }
    }
    let key = plan.keySlot(of: entity).flatMap { slot in
      values.first { $0.slot == slot && $0.stored != .null }
    }
    if key == nil, entity.family.contains(where: { plan.entity.family.contains($0) }),
      let slot = plan.keySlot(of: entity)
    {
      throw Problem(reason: "there is no '\(entity.slots[slot].name)', which is the key")
    }
    return RecordNode(
      shape: _shapes.shape(of: entity, values.map(\.slot)), key: key, values: values, links: links)
  }

  /// The member that names a subentity.
  private static let _entityMember = "$entity"

  private func _entity(
    _ members: [JSONValue.Member], _ declared: PropertyLayout, _ place: String
  ) throws -> PropertyLayout {
    var entity = declared
    if case .string(let name)? = members.first(where: { $0.name == Self._entityMember })?.value {
      entity = try plan.entity(name, at: place)
      guard declared.family.contains(entity.entityNumber) else {
        throw Problem(reason: "a '\(name)' is no '\(declared.entityName)'")
      }
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
      return RecordNode.Value(slot: slot, name: member.name, stored: stored, object: stored.settable)
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
      case .object(let members): return try _node(members, destination, place)
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
    guard let slot = plan.keySlot(of: destination), let attribute = destination.slots[slot].attribute else {
      throw ToolFailure(
        .badInput,
        "\(place): '\(name)' names a '\(destination.entityName)' by a key, and no attribute of it is one: '--key "
          + "\(destination.entityName).ATTRIBUTE'.")
    }
    guard !destination.isAbstract else {
      throw Problem(
        reason: "'\(name)': '\(destination.entityName)' is abstract; give an object with \"$entity\"")
    }
    let key = try _value(JSONValue.Member(name: attribute.name, value: json), slot, attribute)
    return RecordNode(shape: _shapes.shape(of: destination, [slot]), key: key, values: [key], links: [])
  }
}
