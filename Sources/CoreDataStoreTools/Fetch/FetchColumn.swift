import CoreData
import CoreDataModelSchema
import CoreDataToolKit

/// One column of `store fetch`: a path through to-one relationships to a property.
package struct FetchColumn: Sendable {
  /// As the user wrote it.
  package let title: String
  private let _path: [String]

  /// The contents of a column for one object.
  package enum Cell: Sendable {
    case value(StoredValue, AttributeSchema?)
    case members([StoredReference])
  }

  /// Name of the column that shows the object itself.
  static let identifier = "$id"

  /// Parses and validates a path.
  ///
  /// - Throws: `ToolFailure` with a suggestion.
  package init(_ text: String, of entity: PropertyLayout, in layout: ModelLayout) throws(ToolFailure) {
    title = text
    _path = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    if text == Self.identifier { return }
    var current = entity
    for (index, name) in _path.enumerated() {
      guard let slot = layout.storedProperty(name, of: current)?.slot else {
        let names = layout.storedProperties(of: current)
        throw ToolFailure(
          .usage,
          "'\(current.entityName)' has no property '\(name)'."
            + SpellingSuggestion.question(
              about: name, among: names, or: " It has \(names.joined(separator: ", "))."))
      }
      guard index < _path.count - 1 else { return }
      guard let relationship = slot.relationship else {
        if slot.type == .composite { return }
        throw ToolFailure(.usage, "Nothing can follow '\(name)' in '\(text)': it is an attribute.")
      }
      guard !relationship.isToMany else {
        throw ToolFailure(
          .usage,
          "Nothing can follow '\(name)' in '\(text)': it leads to many objects. Fetch those: "
            + "\(layout.layout(numbered: relationship.destination).entityName).")
      }
      current = layout.layout(numbered: relationship.destination)
    }
  }

  /// The default columns: the object, its attributes, its to-one relationships by name, and to-many ones if
  /// there is room.
  ///
  /// - Parameter isTable: Whether people look at them: then the text that tells objects apart is first, and bytes are last.
  static func standard(
    of entity: PropertyLayout, in layout: ModelLayout, withMembers: Bool, isTable: Bool
  ) throws(ToolFailure) -> [FetchColumn] {
    func isBytes(_ slot: PropertyLayout.Slot) -> Bool {
      slot.form == .binaryData || slot.form == .transformable
    }
    let label = isTable ? EntityLabels(layout).attribute(of: entity) : nil
    var columns = [try FetchColumn(identifier, of: entity, in: layout)]
    let names = layout.storedProperties(of: entity)
    for isWanted: (PropertyLayout.Slot) -> Bool in [
      { $0.isAttribute && $0.name == label },
      { $0.isAttribute && $0.name != label && !(isTable && isBytes($0)) },
      \.isToOne, { $0.isToMany && withMembers }, { $0.isAttribute && isTable && isBytes($0) },
    ] {
      for name in names {
        if let slot = layout.storedProperty(name, of: entity)?.slot, isWanted(slot) {
          columns.append(try FetchColumn(name, of: entity, in: layout))
        }
      }
    }
    return columns
  }

  /// Returns the contents of the column for an object.
  package func cell(_ row: StoredRow, _ reader: StoreReader) throws -> Cell {
    if title == Self.identifier { return .value(.reference(row.reference), nil) }
    var row = row
    for (index, name) in _path.enumerated() {
      let layout = reader.layout.layout(numbered: row.reference.entity)
      // A property of another branch of the hierarchy, which this object lacks.
      guard let slot = layout.slot(named: name) else { return .value(.null, nil) }
      if layout.slots[slot].isToMany { return .members(try reader.members(of: row.reference, slot: slot)) }
      let value = row.values[slot]
      if let attribute = layout.slots[slot].attribute {
        return _element(value, attribute, _path[(index + 1)...])
      }
      guard index < _path.count - 1, case .reference(let next) = value, let found = try reader.row(next)
      else {
        return .value(index < _path.count - 1 ? .null : value, nil)
      }
      row = found
    }
    return .value(.null, nil)
  }

  private func _element(_ value: StoredValue, _ attribute: AttributeSchema, _ rest: ArraySlice<String>)
    -> Cell
  {
    guard let name = rest.first else { return .value(value, attribute) }
    guard case .composite(let values) = value,
      let index = attribute.elements.firstIndex(where: { $0.name == name })
    else { return .value(.null, nil) }
    return _element(values[index], attribute.elements[index], rest.dropFirst())
  }
}
