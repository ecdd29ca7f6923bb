import CoreDataModelSchema
import Foundation

// Access by slot for other modules of this package, which look up a property once and keep its slot. Values
// are not boxed. Must be called on the queue of the object's context. Observers are notified before a
// property is set, as with `@Observable` classes.

extension NSEntityDescription {
  /// Returns the slot of a property, inherited ones included; nil if the entity has none of that name.
  /// Freezes the model.
  package final func slot(ofPropertyNamed name: String) -> Int? { shape.layout.slot(named: name) }
}

extension NSManagedObject {
  // MARK: Attributes

  /// Returns the value of an integer or Boolean attribute; nil for null.
  package final func integer(at slot: Int) -> Int64? {
    if isReadable(recording: slot) { return readCurrent { $0.integer(at: slot) } }
    if case .int(let value) = read(slot) { return value }
    return nil
  }

  /// Sets an integer or Boolean attribute.
  package final func setInteger(_ value: Int64?, at slot: Int) {
    notifyWrite(slot)
    if let value { write(integer: value, at: slot) } else { write(.null, at: slot) }
  }

  /// Returns the value of a floating-point attribute, or of a date in seconds since 2001; nil for null.
  package final func double(at slot: Int) -> Double? {
    if isReadable(recording: slot) { return readCurrent { $0.double(at: slot) } }
    if case .double(let value) = read(slot) { return value }
    return nil
  }

  /// Sets a floating-point attribute, or a date in seconds since 2001.
  package final func setDouble(_ value: Double?, at slot: Int) {
    notifyWrite(slot)
    if let value { write(double: value, at: slot) } else { write(.null, at: slot) }
  }

  /// Returns the text of a string or URI attribute; nil for null.
  package final func string(at slot: Int) -> String? {
    if isReadable(recording: slot) { return readCurrent { $0.string(at: slot) } }
    if case .string(let value) = read(slot) { return value }
    return nil
  }

  /// Sets a string or URI attribute.
  package final func setString(_ value: String?, at slot: Int) {
    notifyWrite(slot)
    write(text: value, at: slot)
  }

  /// Returns the bytes of a binary attribute; nil for null.
  package final func data(at slot: Int) -> Data? {
    if case .data(let value) = read(slot) { return value }
    return nil
  }

  /// Sets a binary attribute.
  package final func setData(_ value: Data?, at slot: Int) {
    notifyWrite(slot)
    write(value.map { .data($0) } ?? .null, at: slot)
  }

  /// Returns the value of a UUID attribute; nil for null.
  package final func uuid(at slot: Int) -> UUID? {
    if case .uuid(let value) = read(slot) { return value }
    return nil
  }

  /// Sets a UUID attribute.
  package final func setUUID(_ value: UUID?, at slot: Int) {
    notifyWrite(slot)
    write(value.map { .uuid($0) } ?? .null, at: slot)
  }

  /// Returns the value of a decimal attribute; nil for null.
  package final func decimal(at slot: Int) -> Decimal? {
    if case .decimal(let box) = read(slot) { return box.decimal }
    return nil
  }

  /// Sets a decimal attribute.
  package final func setDecimal(_ value: Decimal?, at slot: Int) {
    notifyWrite(slot)
    write(value.map { .decimal(DecimalBox($0)) } ?? .null, at: slot)
  }

  // MARK: Relationships

  /// Returns the destination of a to-one relationship.
  package final func target(at slot: Int) -> NSManagedObject? { toOne(slot) }

  /// Sets the destination of a to-one relationship and the inverse.
  package final func setTarget(_ target: NSManagedObject?, at slot: Int) {
    notifyWrite(slot)
    setToOne(slot, target)
  }

  /// Returns the members of a to-many relationship.
  package final func memberList(at slot: Int) -> [NSManagedObject] { members(slot).list }

  /// Replaces the members of a to-many relationship and updates their inverses.
  package final func setMemberList(_ objects: [NSManagedObject], at slot: Int) {
    notifyWrite(slot)
    setToMany(slot, objects)
  }
}
