import CoreData
import CoreDataModelSchema
import CoreDataSampleValues
import CoreDataToolKit
import Foundation

/// Makes records with plausible values from a model: types, conditions and cardinalities; the same ones each time.
///
/// Objects that others share, which are those with a key, come from a pool of a twentieth; records that refer to records
/// refer to earlier ones. Parts without a key are one to four, inside their owner.
struct RecordMaker {
  private let _plan: RecordPlan
  private let _entities: [String: NSEntityDescription]
  private let _count: Int
  /// Numbers of the objects made so far that are found by no key, by entity.
  private var _made: [String: Int] = [:]
  /// The number of the record that is being made.
  private var _record = 0
  /// Objects of pools that have been given whole.
  private var _given: Set<String> = []

  private static let _deepest = 4

  init(_ plan: RecordPlan, count: Int) throws {
    _plan = plan
    _entities = try plan.makeModel().entitiesByName
    _count = count
  }

  /// The records as lines of JSON.
  ///
  /// - Throws: `ToolFailure` if the model requires what cannot be made.
  mutating func text() throws -> String {
    var text = ""
    for number in 0..<_count {
      _record = number
      let object = try _object(_plan.entity, number, depth: 0, without: nil)
      text += JSONText.object(object).line + "\n"
    }
    return text
  }

  /// The entity, or for an abstract one its first concrete subentity.
  private func _concrete(_ entity: PropertyLayout) throws -> PropertyLayout {
    let family = entity.family.map { _plan.layout.layout(numbered: $0) }
    guard let found = family.first(where: { !$0.isAbstract }) else {
      throw ToolFailure(.badInput, "'\(entity.entityName)' is abstract, and so are its subentities.")
    }
    return found
  }

  private mutating func _object(
    _ declared: PropertyLayout, _ number: Int, depth: Int, without inverse: Int?
  ) throws -> [(String, JSONText)] {
    let entity = try _concrete(declared)
    guard depth <= Self._deepest, let description = _entities[entity.entityName] else {
      throw ToolFailure(
        .badInput, "'\(entity.entityName)' requires objects that require others, and so on without end.")
    }
    var members: [(String, JSONText)] = []
    if entity !== declared { members.append(("$entity", .string(entity.entityName))) }
    for (name, attribute) in description.attributesByName.sorted(by: { $0.key < $1.key }) {
      guard let slot = entity.slot(named: name), !entity.slots[slot].isTransient,
        !entity.slots[slot].isDerived
      else { continue }
      if let json = _value(of: attribute, in: entity, number) {
        members.append((name, json))
      } else if !attribute.isOptional, attribute.defaultValue == nil {
        throw ToolFailure(
          .badInput,
          "There is no plausible value for '\(name)' of '\(entity.entityName)', which is mandatory.")
      }
    }
    for (slot, property) in entity.slots.enumerated()
    where slot != inverse && !property.isHidden && !property.isTransient {
      guard let relationship = property.relationship else { continue }
      if let json = try _linked(property, relationship, number, depth) {
        members.append((property.name, json))
      } else if !property.isOptional, property.isToOne {
        throw ToolFailure(
          .badInput,
          "The first '\(entity.entityName)' has nothing for '\(property.name)', which is mandatory: give records with '--data'."
        )
      }
    }
    return members
  }

  /// The value of a relationship; nil to leave it out.
  private mutating func _linked(
    _ property: PropertyLayout.Slot, _ relationship: PropertyLayout.Relationship, _ number: Int, _ depth: Int
  ) throws -> JSONText? {
    let destination = _plan.layout.layout(numbered: relationship.destination)
    let isShared = _plan.key(of: destination) != nil
    let inverse = relationship.inverseSlot.map { destination.slots[$0] }
    if !relationship.isToMany {
      if isShared, inverse?.isToOne != true { return try _member(of: destination, number, depth) }
      // Of a one-to-one each has its own: a second owner would take it from the first.
      if property.isOptional, !isShared || depth > 0 { return nil }
      return try _part(of: destination, depth, without: relationship.inverseSlot)
    }
    guard depth == 0 || !property.isOptional else { return nil }
    if isShared {
      // The to-ones of shared objects say whose they are.
      guard inverse?.isToOne != true || !property.isOptional else { return nil }
      return .array(
        try (0..<max(relationship.minCount, 1 + number % 3)).compactMap {
          try _member(of: destination, number + $0, depth)
        })
    }
    return .array(
      try (0..<max(relationship.minCount, 1 + number % 4)).map { _ in
        try _part(of: destination, depth, without: relationship.inverseSlot)
      })
  }

  /// An object inside its owner.
  private mutating func _part(of entity: PropertyLayout, _ depth: Int, without inverse: Int?) throws
    -> JSONText
  {
    let number = _made[entity.entityName, default: 0]
    _made[entity.entityName] = number + 1
    return .object(try _object(entity, number, depth: depth + 1, without: inverse))
  }

  /// An object of a pool, whole when it is first given, and its key from then on; an earlier record by its key, nil in the
  /// first.
  private mutating func _member(of entity: PropertyLayout, _ number: Int, _ depth: Int) throws -> JSONText? {
    let isRecord =
      entity.family.contains(_plan.entity.entityNumber) || _plan.entity.family.contains(entity.entityNumber)
    if isRecord {
      return _record == 0 ? nil : try _key(of: _plan.entity, (_record - 1) / 2, as: entity)
    }
    let number = number % max(1, _count / 20)
    if _given.insert("\(entity.entityName) \(number)").inserted {
      return .object(try _object(entity, number, depth: depth + 1, without: nil))
    }
    return try _key(of: entity, number, as: entity)
  }

  /// An object by its key, in a relationship to an entity.
  private func _key(of entity: PropertyLayout, _ number: Int, as declared: PropertyLayout) throws -> JSONText?
  {
    let concrete = try _concrete(entity)
    guard let slot = _plan.key(of: concrete)?.slot else { return nil }
    let name = concrete.slots[slot].name
    guard let attribute = _entities[concrete.entityName]?.attributesByName[name],
      let key = _value(of: attribute, in: concrete, number)
    else { return nil }
    return concrete === declared ? key : .object([("$entity", .string(concrete.entityName)), (name, key)])
  }

  /// A value that no object of another entity has: a constraint may be one of several entities.
  private func _value(of attribute: NSAttributeDescription, in entity: PropertyLayout, _ number: Int)
    -> JSONText?
  {
    let value = PlausibleValue.value(
      for: attribute, number: number * _plan.layout.layouts.count + entity.entityNumber)
    return Self._json(value, attribute, number)
  }

  private static func _json(_ value: Any?, _ attribute: NSAttributeDescription, _ number: Int) -> JSONText? {
    switch value {
    case _ where attribute.attributeType == .booleanAttributeType: .boolean(number % 3 == 0)
    case let decimal as NSDecimalNumber: .string(decimal.stringValue)
    case let number as NSNumber
    where [.doubleAttributeType, .floatAttributeType].contains(attribute.attributeType):
      .number(number.doubleValue, decimals: 3)
    case let number as NSNumber: .integer(number.intValue)
    case let text as String: .string(text)
    case let date as Date: .string(ISODate.text(date.timeIntervalSinceReferenceDate))
    case let uuid as UUID: .string(uuid.uuidString)
    case let url as URL: .string(url.absoluteString)
    case let data as Data: .string(data.base64EncodedString())
    default: nil
    }
  }
}
