import CoreData
import CoreDataModelSchema
import CoreDataStoreTools
import CoreDataToolKit
import Foundation

/// Writes the objects of a store as records, each of which needs only records before it.
///
/// Each object is written once, with the links to objects that are written already; a link to a later one follows from
/// the other end. What must exist in the same save is written inside its owner: members that are mandatory or ordered, and
/// those of a relationship without an inverse. Not for concurrent use.
final class StoreRecords {
  private let _reader: StoreReader
  private let _plan: RecordPlan
  private let _text: ValueText
  private var _given: Set<StoredReference> = []
  /// The objects whose requirements have been looked at.
  private var _opened: Set<StoredReference> = []
  /// Keys of the objects that are found by one, as JSON.
  private var _keys: [StoredReference: String] = [:]
  private var _usedKeys: Set<String> = []
  /// Links that are set when all objects are there.
  private var _later: [(owner: StoredReference, slot: Int)] = []

  /// The records, one a line.
  private(set) var bytes: [UInt8] = []
  private(set) var count = 0
  /// The objects written.
  var objects: Int { _given.count }
  /// Objects whose key another object has.
  private(set) var doubles = 0
  /// Mandatory properties that are empty in an object, as `Order.number`, with the number of objects.
  private(set) var empty: [String: Int] = [:]

  /// Objects inside objects, at most.
  private static let _deepest = 24

  init(_ reader: StoreReader, _ plan: RecordPlan) {
    (_reader, _plan, _text) = (reader, plan, ValueText(plan.layout))
  }

  /// Writes all objects of the store.
  func write() throws {
    for entity in _plan.layout.layouts where !entity.isAbstract {
      try _reader.forEachRow(of: entity.entityNumber) { row in try _give(row) }
    }
    for (owner, slot) in _later {
      let property = _plan.layout.layout(numbered: owner.entity).slots[slot]
      let members = try _targets(of: slot, in: try _row(owner), property)
      let links = members.map { _reference(to: $0, property) }
      let value = property.isToMany ? "[\(links.joined(separator: ","))]" : links.first ?? "null"
      _add(_identity(owner) + ",\(JSONText.quoted(property.name)):\(value)}")
    }
  }

  /// Writes an object after those that it requires.
  private func _give(_ first: StoredRow) throws {
    var waiting = [first]
    while let row = waiting.last {
      if _given.contains(row.reference) {
        waiting.removeLast()
      } else if _opened.insert(row.reference).inserted {
        var seen: Set = [row.reference]
        waiting += try _required(by: row, depth: 0, &seen)
      } else {
        waiting.removeLast()
        _add(try _object(row, as: nil, inside: nil, depth: 0))
      }
    }
  }

  private func _add(_ line: String) {
    bytes += line.utf8
    bytes.append(0x0A)
    count += 1
  }

  private func _row(_ reference: StoredReference) throws -> StoredRow {
    guard let row = try _reader.row(reference) else {
      throw ToolFailure(
        .badInput,
        "'\(_reader.path)' leads to \(_text.identifier(reference)), which it does not have. 'coredata store check' says more."
      )
    }
    return row
  }

  /// The objects that must be there before a row and what is written inside it.
  ///
  /// - Parameter seen: The objects that have been asked, since lists may lead to each other.
  private func _required(
    by row: StoredRow, depth: Int, _ seen: inout Set<StoredReference>
  ) throws -> [StoredRow] {
    var required: [StoredRow] = []
    for (slot, property) in _links(of: row) {
      let missing = try _targets(of: slot, in: row, property).filter { !_given.contains($0) }
      if property.isToOne {
        for target in missing where !property.isOptional && !_opened.contains(target) {
          required.append(try _row(target))
        }
      } else if depth < Self._deepest, _isWrittenInside(property) {
        for member in missing where !_opened.contains(member) && seen.insert(member).inserted {
          required += try _required(by: try _row(member), depth: depth + 1, &seen)
        }
      }
    }
    return required
  }

  /// Whether the members of a to-many that are not there yet are written inside their owner.
  private func _isWrittenInside(_ property: PropertyLayout.Slot) -> Bool {
    guard let relationship = property.relationship else { return false }
    return relationship.isOrdered || !property.isOptional || relationship.minCount > 0
      || _inverse(of: relationship) == nil
  }

  /// The slot of the inverse that the model has.
  private func _inverse(of relationship: PropertyLayout.Relationship) -> Int? {
    relationship.inverseSlot.flatMap {
      _plan.layout.layout(numbered: relationship.destination).slots[$0].isHidden ? nil : $0
    }
  }

  private func _links(of row: StoredRow) -> [(slot: Int, property: PropertyLayout.Slot)] {
    let entity = _plan.layout.layout(numbered: row.reference.entity)
    return (entity.toOneSlots + entity.toManySlots).map { ($0, entity.slots[$0]) }
      .filter { !$0.property.isHidden && !$0.property.isTransient }
  }

  /// The objects that a relationship leads to.
  private func _targets(
    of slot: Int, in row: StoredRow, _ property: PropertyLayout.Slot
  ) throws -> [StoredReference] {
    if property.isToMany { return try _reader.members(of: row.reference, slot: slot) }
    if case .reference(let target) = row.values[slot] { return [target] }
    return []
  }

  // MARK: Objects

  private func _identity(_ reference: StoredReference) -> String {
    let name = _plan.layout.layout(numbered: reference.entity).entityName
    return "{\"$entity\":\(JSONText.quoted(name)),\"$id\":\(JSONText.quoted(_text.identifier(reference)))"
  }

  /// An object with its values and links.
  ///
  /// - Parameter owner: The object that it is written inside, and the slot of the relationship that leads back.
  private func _object(
    _ row: StoredRow, as declared: PropertyLayout?, inside owner: (object: StoredReference, inverse: Int?)?,
    depth: Int
  ) throws -> String {
    let entity = _plan.layout.layout(numbered: row.reference.entity)
    // Before its links: it is there when they are set, and one of them may lead to it.
    _given.insert(row.reference)
    _opened.insert(row.reference)
    _noteKey(of: row, entity)
    var text = _identity(row.reference)
    for (slot, property) in entity.slots.enumerated() where property.isImported {
      guard let attribute = property.attribute else { continue }
      let value = row.values[slot]
      if value == .null {
        if !property.isOptional { _noteEmpty(property) }
        // Without a default an object that is made has none anyway.
        if attribute.defaultValue == nil { continue }
      }
      text += ",\(JSONText.quoted(property.name)):\(_text.json(value, of: attribute))"
    }
    for (slot, property) in _links(of: row) where property.isToMany || slot != owner?.inverse {
      text += try _link(slot, property, of: row, inside: slot == owner?.inverse ? owner?.object : nil, depth)
    }
    return text + "}"
  }

  /// A relationship as a member of its object; empty if it follows from elsewhere.
  private func _link(
    _ slot: Int, _ property: PropertyLayout.Slot, of row: StoredRow, inside owner: StoredReference?,
    _ depth: Int
  ) throws -> String {
    guard let relationship = property.relationship else { return "" }
    let all = try _targets(of: slot, in: row, property)
    if all.isEmpty, !property.isOptional { _noteEmpty(property) }
    let targets = all.filter { $0 != owner }
    let isComplete = targets.allSatisfy(_given.contains)
    let inverse = _inverse(of: relationship)
    var values: [String] = []
    let nests =
      !isComplete && depth < Self._deepest
      && (property.isToOne ? !property.isOptional : _isWrittenInside(property))
    for target in targets {
      if _given.contains(target) {
        values.append(_reference(to: target, property))
      } else if nests {
        values.append(
          try _object(try _row(target), as: nil, inside: (row.reference, inverse), depth: depth + 1))
      }
    }
    // The order of a list whose owner is a member of it, too, and what neither end has told.
    let isLeft = values.count < targets.count && (inverse == nil || relationship.isOrdered)
    if isLeft || (relationship.isOrdered && owner != nil && all.count > 1) {
      _later.append((row.reference, slot))
    }
    guard !values.isEmpty else { return "" }
    return ",\(JSONText.quoted(property.name)):"
      + (property.isToMany ? "[\(values.joined(separator: ","))]" : values[0])
  }

  /// An object that is there, by its key if it has one.
  private func _reference(to target: StoredReference, _ property: PropertyLayout.Slot) -> String {
    guard let key = _keys[target] else { return "{\"$id\":\(JSONText.quoted(_text.identifier(target)))}" }
    guard target.entity != property.relationship?.destination else { return key }
    let entity = _plan.layout.layout(numbered: target.entity)
    let name = _plan.key(of: entity).map { entity.slots[$0.slot].name } ?? ""
    return "{\"$entity\":\(JSONText.quoted(entity.entityName)),\(JSONText.quoted(name)):\(key)}"
  }

  private func _noteKey(of row: StoredRow, _ entity: PropertyLayout) {
    guard let key = _plan.key(of: entity), row.values[key.slot] != .null else { return }
    _keys[row.reference] = _text.json(row.values[key.slot], of: entity.slots[key.slot].attribute)
    let place = "\(key.scope.entityNumber) \(row.values[key.slot].identity)"
    if !_usedKeys.insert(place).inserted { doubles += 1 }
  }

  private func _noteEmpty(_ property: PropertyLayout.Slot) {
    empty["\(_plan.layout.layout(numbered: property.owner).entityName).\(property.name)", default: 0] += 1
  }
}

extension PropertyLayout.Slot {
  /// Whether a record has the property: neither computed nor of a class that only the program knows.
  var isImported: Bool {
    !isHidden && !isTransient && !isDerived && form != .transformable && form != .composite
  }
}
