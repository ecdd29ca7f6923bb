import CoreData
import CoreDataModelSchema
import CoreDataStoreTools
import CoreDataToolKit
import Foundation

/// The properties of an object as fields of a form.
struct EditForm: Sendable {
  /// A submitted field.
  struct Entry: Sendable {
    let name: String
    /// Nil for nil.
    let text: String?
    /// The text when the form was shown.
    let base: String?
  }

  /// A field of a displayed form.
  struct Field: Sendable {
    let name: String
    let slot: PropertyLayout.Slot
    /// Name of a relationship's destination.
    let destination: String?
    /// Nil for nil.
    let text: String?
    /// The reason why it cannot be edited; nil if it can.
    let isFixed: String?
  }

  /// An invalid value.
  struct Problem: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }

  let entity: PropertyLayout
  /// Nil for an object to be created.
  let target: EditSession.Target?
  let name: String
  let fields: [Field]

  /// Maximum number of members for editing a relationship as a list.
  private static let _mostMembers = 200
  /// Maximum number of bytes for editing a value as text.
  private static let _mostBytes = 4096

  /// The form of an object, on its context's queue.
  init(
    _ object: NSManagedObject, _ target: EditSession.Target, _ layout: ModelLayout,
    name: (NSManagedObject) -> String
  ) {
    entity = layout.layoutsByName[object.entity.name ?? ""] ?? layout.layouts[0]
    self.target = target
    self.name = name(object)
    fields = Self._slots(entity).map { slot in
      let isFixed = Self._fixed(slot) ?? Self._fixed(object, slot)
      return Field(
        name: slot.name, slot: slot, destination: Self._destination(slot, layout),
        text: isFixed == nil ? Self.text(object, slot, name) : nil, isFixed: isFixed)
    }
  }

  /// The form of a new object, with the model's default values.
  init(new entity: PropertyLayout, _ layout: ModelLayout) {
    self.entity = entity
    target = nil
    name = "new \(entity.entityName)"
    let text = ValueText(layout)
    fields = Self._slots(entity).map { slot in
      let value = slot.attribute.flatMap { attribute in
        attribute.defaultValue.map { StoredValue($0, of: attribute.type) }
      }
      return Field(
        name: slot.name, slot: slot, destination: Self._destination(slot, layout),
        text: slot.isToMany ? "" : value.flatMap { text.plain($0, of: slot.attribute) },
        isFixed: Self._fixed(slot))
    }
  }

  private static func _slots(_ entity: PropertyLayout) -> [PropertyLayout.Slot] {
    entity.slots.filter { !$0.isHidden && !$0.isTransient }
      .sorted { ($0.attribute == nil ? 1 : 0, $0.name) < ($1.attribute == nil ? 1 : 0, $1.name) }
  }

  private static func _destination(_ slot: PropertyLayout.Slot, _ layout: ModelLayout) -> String? {
    slot.relationship.map { layout.layout(numbered: $0.destination).entityName }
  }

  private static func _fixed(_ slot: PropertyLayout.Slot) -> String? {
    guard let attribute = slot.attribute else { return nil }
    if attribute.isDerived { return "The store computes it." }
    if attribute.type == .transformable { return "Only the store's own program can encode such a value." }
    if attribute.type == .undefined || attribute.type == .objectID { return "It has no type that is stored." }
    return nil
  }

  private static func _fixed(_ object: NSManagedObject, _ slot: PropertyLayout.Slot) -> String? {
    if slot.isToMany, members(object, slot).count > _mostMembers {
      return "It has more than \(_mostMembers) members. Change the other ends instead."
    }
    if slot.form == .binaryData, let data = object.value(forKey: slot.name) as? Data, data.count > _mostBytes
    {
      return "It has \(Amount.text(data.count, "byte")), too many for a form."
    }
    return nil
  }

  // MARK: Values

  static func members(_ object: NSManagedObject, _ slot: PropertyLayout.Slot) -> [NSManagedObject] {
    switch object.value(forKey: slot.name) {
    case let ordered as NSOrderedSet: ordered.array.compactMap { $0 as? NSManagedObject }
    case let set as Set<NSManagedObject>:
      set.sorted {
        $0.objectID.uriRepresentation().absoluteString < $1.objectID.uriRepresentation().absoluteString
      }
    default: []
    }
  }

  /// A property of an object as text; nil for nil.
  static func text(
    _ object: NSManagedObject, _ slot: PropertyLayout.Slot, _ name: (NSManagedObject) -> String
  ) -> String? {
    if slot.isToMany {
      let names = members(object, slot).map(name)
      return (slot.relationship?.isOrdered == true ? names : names.sorted()).joined(separator: "\n")
    }
    if slot.isToOne { return (object.value(forKey: slot.name) as? NSManagedObject).map(name) }
    guard let attribute = slot.attribute, attribute.type != .transformable else { return nil }
    return text(object.value(forKey: slot.name), attribute)
  }

  /// A value of an attribute as text; nil for nil.
  static func text(_ value: Any?, _ attribute: AttributeSchema) -> String? {
    guard let value, !(value is NSNull) else { return nil }
    switch (attribute.type.form, value) {
    case (.boolean, let number as NSNumber): return number.boolValue ? "true" : "false"
    case (.decimal, let number as NSDecimalNumber): return "\(number)"
    case (_, let number as NSNumber): return "\(number)"
    case (_, let date as Date): return ISODate.text(date.timeIntervalSinceReferenceDate)
    case (_, let uuid as UUID): return uuid.uuidString
    case (_, let url as URL): return url.absoluteString
    case (_, let data as Data): return data.base64EncodedString()
    case (.composite, let elements as [String: Any]):
      let members = attribute.elements.sorted { $0.name < $1.name }.map { element -> String in
        let value = text(elements[element.name], element)
        let isBare = [.integer16, .integer32, .integer64, .double, .float, .boolean, .composite].contains(
          element.type.form)
        return "\(_quoted(element.name)): \(value.map { isBare ? $0 : _quoted($0) } ?? "null")"
      }
      return "{\(members.joined(separator: ", "))}"
    default: return "\(value)"
    }
  }

  private static func _quoted(_ text: String) -> String {
    let data = (try? JSONEncoder().encode(text)) ?? Data("\"\"".utf8)
    return String(decoding: data, as: UTF8.self)
  }

  /// Parses a field's text.
  ///
  /// - Throws: `Problem`.
  static func value(
    _ text: String?, _ slot: PropertyLayout.Slot, _ layout: ModelLayout,
    named: (String, PropertyLayout) -> NSManagedObject?
  ) throws -> Any? {
    if let relationship = slot.relationship {
      let destination = layout.layout(numbered: relationship.destination)
      let names = (text ?? "").split(whereSeparator: \.isNewline).map {
        $0.trimmingCharacters(in: .whitespaces)
      }
      .filter { !$0.isEmpty }
      let objects = try names.map { name -> NSManagedObject in
        guard let object = named(name, destination) else {
          throw Problem(
            "there is no \(destination.entityName) '\(name.prefix(80))'; write it as \(destination.entityName)/p1"
          )
        }
        return object
      }
      guard relationship.isToMany else {
        guard objects.count <= 1 else { throw Problem("it leads to one object, not to \(objects.count)") }
        return objects.first
      }
      return relationship.isOrdered ? NSOrderedSet(array: objects) : Set(objects)
    }
    guard let attribute = slot.attribute, _fixed(slot) == nil else {
      throw Problem("it cannot be changed here")
    }
    guard let text else { return nil }
    do {
      return try ValueReading.value(text, of: attribute).object(of: attribute)
    } catch {
      throw Problem("\(error)")
    }
  }
}
