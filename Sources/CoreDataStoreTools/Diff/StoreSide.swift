import CoreData
import CoreDataModelSchema
import CoreDataToolKit

/// One of two stores that are compared: names its objects so that the same object has the same name in both.
package struct StoreSide {
  let reader: StoreReader
  private let _keys: [String: [String]]
  private let _text: ValueText

  /// - Parameter keys: The attributes by which objects of an entity are the same, by the entity's name; others are by primary key.
  package init(_ reader: StoreReader, keys: [String: [String]], _ zone: TimeZoneText) {
    (self.reader, _keys) = (reader, keys)
    _text = ValueText(reader.layout, zone)
  }

  var layout: ModelLayout { reader.layout }

  func isKeyed(_ entity: PropertyLayout) -> Bool { _keys[entity.entityName] != nil }

  /// The object's name: `Book/p17`, or its entity and the values of its key.
  func name(_ row: StoredRow) -> String {
    let entity = layout.layout(numbered: row.reference.entity)
    guard let key = _keys[entity.entityName] else { return _text.identifier(row.reference) }
    let values = key.map { name in
      let attribute = entity.slot(named: name).flatMap { entity.slots[$0].attribute }
      return attribute.map { _text.json(_value(name, row, entity), of: $0) } ?? "null"
    }
    return "\(entity.entityName)(\(values.joined(separator: ", ")))"
  }

  /// The name of an object that another one refers to.
  func name(_ reference: StoredReference) throws -> String {
    let entity = layout.layout(numbered: reference.entity)
    guard isKeyed(entity), let row = try reader.row(reference) else { return _text.identifier(reference) }
    return name(row)
  }

  private func _value(_ property: String, _ row: StoredRow, _ entity: PropertyLayout) -> StoredValue {
    entity.slot(named: property).map { row.values[$0] } ?? .null
  }

  // MARK: Properties

  /// Names of the properties of an entity that are stored with it: attributes, to-ones, and the to-manys that no to-one of the
  /// members records.
  func properties(of entity: PropertyLayout) -> [String] {
    entity.exchangedSlots.filter { slot in
      !entity.slots[slot].isToMany || layout.isRecorded(entity.slots[slot], of: entity)
    }.map { entity.slots[$0].name }
  }

  /// The content of a property, for comparing and showing it.
  package enum Content: Equatable {
    /// As JSON.
    case value(String)
    case members([String], isOrdered: Bool)
  }

  func content(_ property: String, _ row: StoredRow) throws -> Content {
    let entity = layout.layout(numbered: row.reference.entity)
    guard let slot = entity.slot(named: property) else { return .value("null") }
    if let attribute = entity.slots[slot].attribute {
      return .value(_text.json(row.values[slot], of: attribute))
    }
    if let relationship = entity.slots[slot].relationship, relationship.isToMany {
      let members = try reader.members(of: row.reference, slot: slot).map { try name($0) }
      return .members(relationship.isOrdered ? members : members.sorted(), isOrdered: relationship.isOrdered)
    }
    guard case .reference(let reference) = row.values[slot] else { return .value("null") }
    return .value(JSONText.quoted(try name(reference)))
  }
}
