import Foundation

// Relationships.

extension ManagedKey {
  /// The to-one of an object.
  public subscript<Object: NSManagedObject>(object: NSManagedObject) -> Object? where Value == Object? {
    get { _target(object) }
    @inlinable set { setTarget(newValue, object) }
  }

  @usableFromInline func setTarget(_ target: NSManagedObject?, _ object: NSManagedObject) {
    let slot = slot(in: object)
    if slot != Self.indirect {
      object.setToOne(slot, target)
    } else {
      object.setValueOfProperty(target, name)
    }
  }

  private func _target<Object: NSManagedObject>(_ object: NSManagedObject) -> Object? {
    let slot = slot(in: object)
    let found = slot != Self.indirect ? object.toOne(slot) : object.valueOfProperty(name)
    guard let found else { return nil }
    return found as? Object ?? mismatch(found, object)
  }
}

extension ManagedKey where Value: NSManagedObject {
  /// The to-one of an object; traps if it is nil.
  public subscript(object: NSManagedObject) -> Value {
    get { _target(object) ?? missing(object) }
    @inlinable set { setTarget(newValue, object) }
  }
}

extension ManagedKey where Value == NSSet? {
  /// The members of an object's to-many.
  public subscript(object: NSManagedObject) -> NSSet? {
    get { _members(object) }
    set { _setMembers(newValue?.compactMap { $0 as? NSManagedObject } ?? [], object) }
  }
}

extension ManagedKey where Value == NSSet {
  /// The members of an object's to-many.
  public subscript(object: NSManagedObject) -> NSSet {
    get { _members(object) }
    set { _setMembers(newValue.compactMap { $0 as? NSManagedObject }, object) }
  }
}

extension ManagedKey where Value == NSOrderedSet? {
  /// The members of an object's ordered to-many.
  public subscript(object: NSManagedObject) -> NSOrderedSet? {
    get { object.members(toManySlot(in: object)).foundationOrder }
    set { _setMembers(newValue?.array.compactMap { $0 as? NSManagedObject } ?? [], object) }
  }
}

extension ManagedKey where Value == NSOrderedSet {
  /// The members of an object's ordered to-many.
  public subscript(object: NSManagedObject) -> NSOrderedSet {
    get { object.members(toManySlot(in: object)).foundationOrder }
    set { _setMembers(newValue.array.compactMap { $0 as? NSManagedObject }, object) }
  }
}

extension ManagedKey where Value == NSMutableSet? {
  /// The members of an object's to-many, as a set that writes through.
  public subscript(object: NSManagedObject) -> NSMutableSet? {
    get { LiveSet(object, slot: toManySlot(in: object)) }
    set { _setMembers(newValue?.compactMap { $0 as? NSManagedObject } ?? [], object) }
  }
}

extension ManagedKey where Value == NSMutableSet {
  /// The members of an object's to-many, as a set that writes through.
  public subscript(object: NSManagedObject) -> NSMutableSet {
    get { LiveSet(object, slot: toManySlot(in: object)) }
    set { _setMembers(newValue.compactMap { $0 as? NSManagedObject }, object) }
  }
}

extension ManagedKey where Value == NSMutableOrderedSet? {
  /// The members of an object's ordered to-many, as a set that writes through.
  public subscript(object: NSManagedObject) -> NSMutableOrderedSet? {
    get { object.liveOrder(toManySlot(in: object)) }
    set { _setMembers(newValue?.array.compactMap { $0 as? NSManagedObject } ?? [], object) }
  }
}

extension ManagedKey where Value == NSMutableOrderedSet {
  /// The members of an object's ordered to-many, as a set that writes through.
  public subscript(object: NSManagedObject) -> NSMutableOrderedSet {
    get { object.liveOrder(toManySlot(in: object)) }
    set { _setMembers(newValue.array.compactMap { $0 as? NSManagedObject }, object) }
  }
}

extension ManagedKey {
  /// The members of an object's to-many.
  public subscript<Object: NSManagedObject>(object: NSManagedObject) -> Set<Object> where Value == Set<Object>
  {
    get { _typedMembers(object) }
    set { _setMembers(Array(newValue), object) }
  }

  /// The members of an object's to-many.
  public subscript<Object: NSManagedObject>(object: NSManagedObject) -> Set<Object>?
  where Value == Set<Object>? {
    get { _typedMembers(object) }
    set { _setMembers(newValue.map(Array.init) ?? [], object) }
  }

  private func _members(_ object: NSManagedObject) -> NSSet {
    object.members(toManySlot(in: object)).foundationSet
  }

  private func _typedMembers<Object: NSManagedObject>(_ object: NSManagedObject) -> Set<Object> {
    let state = object.members(toManySlot(in: object))
    if let other = state.member(notOf: Object.self) { return mismatch(other, object) }
    // Every member is an `Object`, and managed objects hash by identity in every class, so both sets have the
    // same hash table.
    return unsafeBitCast(state.members, to: Set<Object>.self)
  }

  private func _setMembers(_ objects: [NSManagedObject], _ object: NSManagedObject) {
    object.setToMany(toManySlot(in: object), objects)
  }

  /// Returns the slot of a to-many; traps for any other property.
  func toManySlot(in object: NSManagedObject) -> Int {
    let slot = slot(in: object)
    if slot != Self.indirect { return slot }
    guard let found = object._layout.slot(named: name), object._layout.slots[found].isToMany else {
      programmerError("'\(object._layout.entityName)' has no to-many relationship '\(name)'.")
    }
    return found
  }
}
