import CoreData
import CoreDataModelSchema
import CoreDataToolKit
import Foundation

/// Turns records into rows, by the model: types, names of other objects, defaults.
final class RecordConverter {
  /// A record as a row.
  struct Converted {
    let row: StoredRow
    /// Whether there are members of to-many relationships to be connected.
    var hasMembers = false
    /// Whether a value is missing that is not optional.
    var isIncomplete = false
    /// Derived attributes with times: the store sets them to now, while the input has the actual value.
    var moments: [(slot: Int, seconds: Double)] = []
  }

  private let _layout: ModelLayout
  private let _keys: ImportKeys
  private let _skipsMissing: Bool
  private(set) var skipped = 0
  /// Whether any record omitted a to-one whose inverse is a to-one as well.
  private(set) var omitsToOnes = false
  private var _defaults: [Int: [StoredValue]] = [:]
  private var _oneToOneNames: [Int: [String]] = [:]

  init(_ layout: ModelLayout, _ keys: ImportKeys, skipsMissing: Bool) {
    _layout = layout
    _keys = keys
    _skipsMissing = skipsMissing
  }

  /// - Throws: `ToolFailure` for a name that is not an entity of the model, or that of an abstract one.
  func entity(of record: InputRecord) throws(ToolFailure) -> PropertyLayout {
    guard let entity = _layout.layoutsByName[record.entity] else {
      let near = SpellingSuggestion.nearest(to: record.entity, among: _layout.layouts.map(\.entityName))
      throw ToolFailure(
        .badInput,
        "\(record.place): the model has no entity '\(record.entity)'."
          + (near.map { " Is '\($0)' meant?" } ?? " Is it the right model?"))
    }
    guard !entity.isAbstract else {
      throw ToolFailure(
        .badInput, "\(record.place): '\(record.entity)' is abstract: there can be no objects of it.")
    }
    return entity
  }

  // MARK: Rows

  func convert(_ record: InputRecord, _ entity: PropertyLayout, _ reference: StoredReference) throws
    -> Converted
  {
    var values = _defaultValues(entity)
    var moments: [(slot: Int, seconds: Double)] = []
    var hasMembers = false
    for (name, field) in record.fields {
      let slot = try _slot(name, entity, record)
      let property = entity.slots[slot]
      if let attribute = property.attribute {
        let value = try _value(field, attribute, name, record)
        if !attribute.isDerived {
          values[slot] = value
        } else if attribute.derivationExpression == "now()", case .date(let seconds) = value {
          moments.append((slot, seconds))
        }
      } else if property.isToMany {
        if !hasMembers { hasMembers = try !_names(field, name, record).isEmpty }
      } else {
        let names = try _names(field, name, record)
        guard names.count <= 1 else {
          throw ToolFailure(
            .badInput, "\(record.place): '\(name)' leads to one object, not to \(names.count).")
        }
        values[slot] =
          try names.first.flatMap { try _find($0, name, property, record) }.map(StoredValue.reference)
          ?? .null
      }
    }
    if !omitsToOnes {
      let given = Set(record.fields.map(\.name))
      omitsToOnes = _oneToOnes(entity).contains { !given.contains($0) }
    }
    var converted = Converted(row: StoredRow(reference: reference, values: values))
    converted.hasMembers = hasMembers
    converted.moments = moments
    converted.isIncomplete = entity.slots.indices.contains { slot in
      let property = entity.slots[slot]
      return property.isAttribute && !property.isOptional && !property.isTransient
        && !property.isDerived && values[slot] == .null
    }
    return converted
  }

  private func _oneToOnes(_ entity: PropertyLayout) -> [String] {
    if let known = _oneToOneNames[entity.entityNumber] { return known }
    let names = entity.slots.compactMap { slot -> String? in
      guard !slot.isHidden, !slot.isTransient, let relationship = slot.relationship, !relationship.isToMany,
        let inverse = relationship.inverseSlot
      else { return nil }
      return _layout.layout(numbered: relationship.destination).slots[inverse].isToOne ? slot.name : nil
    }
    _oneToOneNames[entity.entityNumber] = names
    return names
  }

  private func _slot(_ name: String, _ entity: PropertyLayout, _ record: InputRecord) throws(ToolFailure)
    -> Int
  {
    if let slot = entity.slot(named: name), !entity.slots[slot].isTransient { return slot }
    if entity.slot(named: name) != nil {
      throw ToolFailure(.badInput, "\(record.place): '\(name)' is transient: a store does not hold it.")
    }
    let near = SpellingSuggestion.nearest(to: name, among: entity.slotsByName.keys.sorted())
    throw ToolFailure(
      .badInput,
      "\(record.place): '\(entity.entityName)' has no property '\(name)'."
        + (near.map { " Is '\($0)' meant?" }
          ?? " It has \(entity.slotsByName.keys.sorted().joined(separator: ", "))."))
  }

  private func _value(
    _ field: InputRecord.Field, _ attribute: AttributeSchema, _ name: String, _ record: InputRecord
  ) throws(ToolFailure) -> StoredValue {
    do {
      switch field {
      case .json(let json): return try ValueReading.value(json, of: attribute)
      case .text(nil): return .null
      case .text(let text?): return try ValueReading.value(text, of: attribute)
      }
    } catch {
      throw ToolFailure(.badInput, "\(record.place): '\(name)': \(error).")
    }
  }

  /// Values of new objects for properties that the input omits.
  private func _defaultValues(_ entity: PropertyLayout) -> [StoredValue] {
    if let known = _defaults[entity.entityNumber] { return known }
    let values = entity.slots.map { slot -> StoredValue in
      guard let attribute = slot.attribute, !slot.isTransient, !attribute.isDerived,
        let literal = attribute.defaultValue
      else { return .null }
      return StoredValue(literal, of: attribute.type)
    }
    _defaults[entity.entityNumber] = values
    return values
  }

  // MARK: Relationships

  /// Members of the to-many relationships of a record.
  func members(
    _ record: InputRecord, _ entity: PropertyLayout, _ owner: StoredReference
  ) throws -> [StoreWriter.Members] {
    var result: [StoreWriter.Members] = []
    for (name, field) in record.fields {
      guard let slot = entity.slot(named: name), entity.slots[slot].isToMany else { continue }
      let property = entity.slots[slot]
      var seen: Set<Int64> = []
      let members = try _names(field, name, record).compactMap { try _find($0, name, property, record)?.key }
        .filter { seen.insert($0).inserted }
      if !members.isEmpty { result.append(StoreWriter.Members(owner: owner, slot: slot, members: members)) }
    }
    return result
  }

  private func _names(_ field: InputRecord.Field, _ name: String, _ record: InputRecord) throws(ToolFailure)
    -> [String]
  {
    func failure(_ kind: String) -> ToolFailure {
      ToolFailure(.badInput, "\(record.place): '\(name)': the $id of an object was expected, not \(kind).")
    }
    switch field {
    case .text(let text): return text?.split(separator: ";").map(String.init) ?? []
    case .json(.null): return []
    case .json(.string(let text)): return [text]
    case .json(.number(let digits)): return [digits]
    case .json(.array(let elements)):
      var names: [String] = []
      for element in elements {
        switch element {
        case .string(let text): names.append(text)
        case .number(let digits): names.append(digits)
        default: throw failure(element.kind)
        }
      }
      return names
    case .json(let other): throw failure(other.kind)
    }
  }

  private func _find(
    _ identifier: String, _ name: String, _ property: PropertyLayout.Slot, _ record: InputRecord
  ) throws -> StoredReference? {
    guard let relationship = property.relationship else { return nil }
    guard let found = try _keys.reference(identifier) else {
      if _skipsMissing {
        skipped += 1
        return nil
      }
      throw ToolFailure(
        .badInput,
        "\(record.place): '\(name)' leads to '\(identifier)', which is no object of the input. "
          + "'--skip-missing' leaves out such references.")
    }
    let destination = _layout.layout(numbered: relationship.destination)
    guard destination.family.contains(found.entity) else {
      throw ToolFailure(
        .badInput,
        "\(record.place): '\(name)' leads to '\(identifier)', which is a "
          + "\(_layout.layout(numbered: found.entity).entityName) and no \(destination.entityName).")
    }
    return found
  }
}

extension StoredValue {
  /// Converts a default value of the model for an attribute of a type.
  package init(_ literal: SchemaLiteral, of type: AttributeType) {
    switch literal {
    case .integer(let number):
      self = type.form == .double || type.form == .float ? .double(Double(number)) : .integer(number)
    case .double(let number): self = .double(number)
    case .decimal(let text): self = Decimal(string: text, locale: nil).map(StoredValue.decimal) ?? .null
    case .boolean(let flag): self = .boolean(flag)
    case .string(let text): self = .string(text)
    case .date(let seconds): self = .date(seconds)
    case .data(let bytes):
      self = type.form == .transformable ? .transformable(Data(bytes)) : .data(Data(bytes))
    case .uuid(let text): self = UUID(uuidString: text).map(StoredValue.uuid) ?? .null
    case .uri(let text): self = .uri(text)
    }
  }
}
