import CoreDataModelSchema
import Foundation

// Values by key and by slot.

extension NSManagedObject {
  /// The value of a property, by name.
  ///
  /// ```swift
  /// book["title"] = "The Waves"
  /// let title = book["title"] as? String
  /// ```
  public final subscript(key: String) -> Any? {
    get { value(forKey: key) }
    set { setValue(newValue, forKey: key) }
  }

  // MARK: By key

  final func valueOfProperty(_ key: String) -> Any? {
    guard let slot = _layout.slot(named: key) else { return _valueOfUnmodelledKey(key) }
    return value(at: slot)
  }

  /// Returns the value at a slot in the form of `value(forKey:)`.
  final func value(at slot: Int) -> Any? {
    if let coding = _shape.codings[slot] {
      if coding.form == .transformable { return _transformed(slot) }
      return shown(read(slot), slot)
    }
    if !_layout.slots[slot].isToMany { return toOne(slot) }
    return _layout.slots[slot].relationship!.isOrdered ? liveOrder(slot) : members(slot).members
  }

  final func setValueOfProperty(_ value: Any?, _ key: String) {
    guard let slot = _layout.slot(named: key) ?? _layout.slot(setBy: key) else {
      setValue(value, forUndefinedKey: key)
      return
    }
    if let coding = _shape.codings[slot] {
      write(_converted(value, coding), at: slot)
    } else if _layout.slots[slot].isToMany {
      setToMany(slot, _objects(value, key))
    } else {
      setToOne(slot, _object(value, key))
    }
  }

  final func setPrimitiveValueOfProperty(_ value: Any?, _ key: String) {
    guard let slot = _layout.slot(named: key) else {
      setValue(value, forUndefinedKey: key)
      return
    }
    attend()
    if isUnreadable { return refuseWrite() }
    if let coding = _shape.codings[slot] {
      makeDraftWritable()
      _values.set(_converted(value, coding), at: slot)
      _markPrimitiveWritten(slot)
    } else if !_layout.slots[slot].isToMany {
      let target = _object(value, key)
      makeDraftWritable()
      _values.set(reference(to: target), at: slot)
      relations.setTarget(target, slot)
      _markPrimitiveWritten(slot)
    } else {
      guard let state = membersToChange(slot) else { return }
      let wanted = _objects(value, key)
      let kept = Set(wanted)
      for object in state.list where !kept.contains(object) { state.set(object, isMember: false) }
      for object in wanted { state.set(object, isMember: true) }
      if _row == nil { _values.mark(slot) }
      _context?.saving.recordPrimitive(of: self, slot)
    }
  }

  private final func _markPrimitiveWritten(_ slot: Int) {
    _state.writePrimitive()
    // A new object has no saved values to compare with, so every assigned slot counts as changed.
    if _row == nil { _values.mark(slot) }
    _context?.saving.recordPrimitive(of: self, slot)
  }

  /// Converts a caller's value to a cell. Traps for a value of the wrong type, which Core Data rejects, too.
  private final func _converted(_ value: Any?, _ coding: AttributeCoding) -> Value {
    do {
      return try coding.value(from: value)
    } catch {
      programmerError("\(error)")
    }
  }

  /// Decodes a cell into the value that `value(forKey:)` returns. A transformable that cannot be decoded
  /// reads as its bytes, and the first one is logged to standard error: the program may read another
  /// program's store without its classes and transformers.
  final func shown(_ value: Value, _ slot: Int) -> Any? {
    do {
      return try _shape.codings[slot]!.object(from: value)
    } catch {
      Console.warnOnce(
        about: "\(_entity.name ?? "?").\(_layout.slots[slot].name)",
        "\(_objectID.uriRepresentation().absoluteString) and perhaps more: \(error)")
      if case .transformable(let box) = value { return box.data }
      return nil
    }
  }

  /// Returns the object of a transformable attribute: the one assigned, or else the one decoded on first
  /// access.
  private final func _transformed(_ slot: Int) -> Any? {
    if !_flags.isDisjoint(with: .attention), !hasPartialValue(slot) { attend(reading: slot) }
    let cell = read(slot)
    guard case .transformable(let box) = cell else { return shown(cell, slot) }
    if let object = box.object ?? _relations?.decoded(slot, from: box) { return object }
    guard let object = shown(cell, slot) else { return nil }
    relations.keep(object, decodedFrom: box, slot)
    return object
  }

  /// Encodes transformable attributes before the draft is shared. Other contexts decode separate objects.
  @inline(__always)
  final func encodeTransformables() throws {
    if !_layout.transformableSlots.isEmpty, let _draft { try _encodeTransformables(in: _draft) }
  }

  private final func _encodeTransformables(in draft: Row) throws {
    for slot in _layout.transformableSlots where !_layout.slots[slot].isTransient {
      guard case .transformable(let box) = draft[slot], box.data == nil else { continue }
      let data = try _shape.codings[slot]!.data(from: box)
      makeDraftOwn()
      guard let data else {
        _values.set(.null, at: slot)
        continue
      }
      let encoded = TransformableBox(object: nil, data: data)
      _values.set(.transformable(encoded), at: slot)
      // The object that the program has assigned stays this object's value.
      if let object = box.object { relations.keep(object, decodedFrom: encoded, slot) }
    }
  }

  private final func _object(_ value: Any?, _ key: String) -> NSManagedObject? {
    switch value {
    case nil: return nil
    case let object as NSManagedObject: return object
    case is NSNull: return nil
    case let other?:
      programmerError(
        "\(_entity.name ?? "?").\(key) is a to-one relationship and takes a managed object or nil, not a "
          + "\(type(of: other)).")
    }
  }

  private final func _objects(_ value: Any?, _ key: String) -> [NSManagedObject] {
    // Casting to a Swift set would yield an empty one for a set class that Foundation does not bridge.
    if let value, type(of: value) is AnyClass, let set = value as? NSSet,
      let objects = set.allObjects as? [NSManagedObject]
    {
      return objects
    }
    switch value {
    case nil: return []
    case let set as Set<NSManagedObject>: return Array(set)
    case let array as [NSManagedObject]: return array
    case let ordered as NSOrderedSet:
      if let objects = ordered.array as? [NSManagedObject] { return objects }
    case is NSNull: return []
    default: break
    }
    programmerError(
      "\(_entity.name ?? "?").\(key) is a to-many relationship and takes a set, an array or an ordered set of managed "
        + "objects, not a \(value.map { String(describing: type(of: $0)) } ?? "nil").")
  }

  /// Returns the value of a key that every managed object has in addition to its properties. Predicates use
  /// some of these keys.
  private final func _valueOfUnmodelledKey(_ key: String) -> Any? {
    switch key {
    case "objectID": return objectID
    case "entity": return _entity
    case "self", "SELF": return self
    case "managedObjectContext": return _context
    case "isInserted": return NSNumber(value: isInserted)
    case "isUpdated": return NSNumber(value: isUpdated)
    case "isDeleted": return NSNumber(value: isDeleted)
    case "isFault": return NSNumber(value: isFault)
    case "hasChanges": return NSNumber(value: hasChanges)
    default: break
    }
    if let fetched = _shape.propertiesByName[key] as? NSFetchedPropertyDescription {
      return valueOfFetchedProperty(fetched)
    }
    if let slot = _layout.slot(readBy: key) { return value(at: slot) }
    return value(forUndefinedKey: key)
  }

  final func unknownKeyMessage(_ key: String) -> String {
    let known = _layout.slotsByName.keys.sorted()
    let guess = Spelling.nearest(to: key, in: known).map { " Did you mean '\($0)'?" } ?? ""
    let computed =
      _shape.hasOwnClass && guess.isEmpty
      ? " A computed property of \(type(of: self)) is not found by its name without Objective-C: override "
        + "value(forUndefinedKey:) to answer it." : ""
    return "entity '\(_entity.name ?? "?")' has no property '\(key)'.\(guess) It has: "
      + known.joined(separator: ", ") + ".\(computed)"
  }

  // MARK: By slot

  /// Returns the current cell. Fires a fault.
  final func read(_ slot: Int) -> Value {
    if !isReadable(recording: slot) {
      if _flags.contains(.partial), let value = partialValue(slot) { return value }
      attend(reading: slot)
    }
    return readCurrent { $0[slot] } ?? .null
  }

  // A fault that cannot be read takes no value: its other ones would be lost with the next save.

  /// Sets a cell, with change tracking.
  final func write(_ value: consuming Value, at slot: Int) {
    guard _prepareWrite() else { return }
    _values.set(value, at: slot)
    markChanged(slot)
  }

  /// Sets an integer cell, with change tracking.
  final func write(integer: Int64, at slot: Int) {
    guard _prepareWrite() else { return }
    _values.set(integer: integer, at: slot)
    markChanged(slot)
  }

  /// Sets a floating-point cell, with change tracking.
  final func write(double: Double, at slot: Int) {
    guard _prepareWrite() else { return }
    _values.set(double: double, at: slot)
    markChanged(slot)
  }

  /// Sets a text cell, with change tracking. Copies the text's bytes without retaining it.
  final func write(text: String?, at slot: Int) {
    guard _prepareWrite() else { return }
    _values.set(text: text, at: slot)
    markChanged(slot)
  }

  /// - Returns: False for a fault that cannot be read.
  @inline(__always) private final func _prepareWrite() -> Bool {
    if !_flags.isDisjoint(with: .attention) {
      attend()
      if _flags.contains(.fault) {
        refuseWrite()
        return false
      }
    }
    willChangeState()
    if _draft == nil || _flags.contains(.draftShared) { makeDraftOwn() }
    return true
  }

  /// Makes `_draft` exclusive to the object before a change.
  final func makeDraftWritable() {
    willChangeState()
    makeDraftOwn()
  }

  /// Makes `_draft` exclusive to the object, so that a save can complete it. Tracks no changes.
  final func makeDraftOwn() {
    if _draft != nil, !_flags.contains(.draftShared) { return }
    if let current = _current {
      _values.begin(Row(copying: current, version: current.version))
    } else {
      let packed = _contextReference?._withUnsafeGuaranteedRef { context -> Row? in
        context.rootCoordinator.flatMap { context.memo.newDraft(of: _shape, in: $0) }
      }
      _values.begin(packed ?? _shape.defaultRow(packed: nil))
    }
    _state.ownDraft()
  }

  /// Records the assignment of a slot.
  final func markChanged(_ slot: Int) {
    if _flags.contains(.awakening) { return }
    if _shape.ignoresChanges, _shape.ignoredChanges.contains(slot) { return notifyWrite(slot) }
    _values.mark(slot)
    // Already on the lists, unless this is the first change since the last notification.
    if !_flags.isRecordedAsChanged { _context?.editing.markChanged(self) }
    notifyWrite(slot)
  }

  final func markChanged(key: String) {
    guard let slot = _layout.slot(named: key) else { return }
    markChanged(slot)
  }
}
