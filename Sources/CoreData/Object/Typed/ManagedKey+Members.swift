import Foundation

// The implementation of generated to-many accessors such as `addToBooks(_:)`.

extension ManagedKey {
  /// Adds a member to an object's to-many.
  ///
  /// ```swift
  /// let booksKey = ManagedKey<NSSet?>("books")
  /// booksKey.add(book, to: author)
  /// booksKey.remove(book, from: author)
  /// ```
  public func add(_ member: NSManagedObject, to object: NSManagedObject) {
    object.addMember(member, toManySlot(in: object))
  }

  /// Removes a member from an object's to-many.
  public func remove(_ member: NSManagedObject, from object: NSManagedObject) {
    object.removeMember(member, toManySlot(in: object))
  }

  /// Adds members to an object's to-many. Traps for elements that are not managed objects.
  public func add(_ members: some Sequence, to object: NSManagedObject) {
    let slot = toManySlot(in: object)
    for member in members { object.addMember(_managed(member, object), slot) }
  }

  /// Removes members from an object's to-many. Traps for elements that are not managed objects.
  public func remove(_ members: some Sequence, from object: NSManagedObject) {
    let slot = toManySlot(in: object)
    for member in members { object.removeMember(_managed(member, object), slot) }
  }

  /// Adds the members of an ordered set, in its order.
  public func add(_ members: NSOrderedSet, to object: NSManagedObject) { add(members.array, to: object) }

  /// Removes the members of an ordered set.
  public func remove(_ members: NSOrderedSet, from object: NSManagedObject) {
    remove(members.array, from: object)
  }

  // MARK: Ordered

  /// Inserts a member into an object's ordered to-many.
  ///
  /// ```swift
  /// let chaptersKey = ManagedKey<NSOrderedSet?>("chapters")
  /// chaptersKey.insert(chapter, into: book, at: 0)
  /// chaptersKey.remove(at: 0, from: book)
  /// ```
  public func insert(_ member: NSManagedObject, into object: NSManagedObject, at index: Int) {
    guard let slot = _orderedSlot(in: object, upTo: index, isInsertion: true) else { return }
    object.addMember(member, slot, at: index)
  }

  /// Removes the member at an index of an object's ordered to-many.
  public func remove(at index: Int, from object: NSManagedObject) {
    guard let slot = _orderedSlot(in: object, upTo: index, isInsertion: false) else { return }
    object.removeMember(object.members(slot).order[index], slot)
  }

  /// Inserts members into an object's ordered to-many. The indexes are those after the insertion.
  public func insert(_ members: [NSManagedObject], into object: NSManagedObject, at indexes: NSIndexSet) {
    _checkCounts(members, indexes, object)
    for (index, member) in zip(_ascending(indexes), members) { insert(member, into: object, at: index) }
  }

  /// Removes the members at several indexes of an object's ordered to-many.
  public func remove(at indexes: NSIndexSet, from object: NSManagedObject) {
    for index in _ascending(indexes).reversed() { remove(at: index, from: object) }
  }

  /// Replaces the member at an index of an object's ordered to-many.
  public func replace(at index: Int, in object: NSManagedObject, with member: NSManagedObject) {
    remove(at: index, from: object)
    insert(member, into: object, at: index)
  }

  /// Replaces the members at several indexes of an object's ordered to-many.
  public func replace(at indexes: NSIndexSet, in object: NSManagedObject, with members: [NSManagedObject]) {
    _checkCounts(members, indexes, object)
    remove(at: indexes, from: object)
    insert(members, into: object, at: indexes)
  }

  private func _ascending(_ indexes: NSIndexSet) -> [Int] {
    var all: [Int] = []
    var index = indexes.firstIndex
    while index != NSNotFound {
      all.append(index)
      index = indexes.indexGreaterThanIndex(index)
    }
    return all
  }

  /// Returns the slot of an ordered to-many, and traps for an index that it does not have; nil if it cannot
  /// be read.
  private func _orderedSlot(in object: NSManagedObject, upTo index: Int, isInsertion: Bool) -> Int? {
    let slot = toManySlot(in: object)
    guard object._layout.slots[slot].relationship!.isOrdered else {
      programmerError("'\(object._layout.entityName).\(name)' is not ordered and has no indexes.")
    }
    guard let count = object.membersToChange(slot)?.order.count else { return nil }
    guard index >= 0, index < count || (isInsertion && index == count) else {
      programmerError(
        "index \(index) is beyond the \(count) members of '\(object._layout.entityName).\(name)'.")
    }
    return slot
  }

  private func _checkCounts(_ members: [NSManagedObject], _ indexes: NSIndexSet, _ object: NSManagedObject) {
    guard members.count == indexes.count else {
      programmerError(
        "'\(object._layout.entityName).\(name)' was given \(members.count) members for \(indexes.count) indexes."
      )
    }
  }

  private func _managed(_ member: Any, _ object: NSManagedObject) -> NSManagedObject {
    guard let managed = member as? NSManagedObject else {
      programmerError(
        "'\(object._layout.entityName).\(name)' takes managed objects, not a \(type(of: member)).")
    }
    return managed
  }
}
