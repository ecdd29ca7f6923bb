import CoreDataModelSchema
import Foundation

// Validation against the model's rules.

extension NSManagedObject {
  final func validateAllProperties() throws {
    let hasHook = _shape.hooks.contains(.validateValue)
    if _shape.validation.isEmpty, !hasHook { return }
    if isFault { fireFault() }
    // Fast path: in most models, mandatory values are the only rules.
    if !hasHook, _shape.validation.isMandatoryOnly, _hasValues(at: _shape.validation.slots) { return }
    let plan = _shape.validation
    var errors: [any Error] = []
    let unchecked = _context?.saving.primitives[ObjectIdentifier(self)]
    // Without an override of `validateValue`, only the cells of slots with rules are checked.
    for slot in hasHook ? Array(_layout.slots.indices) : plan.slots where !_layout.slots[slot].isHidden {
      if let unchecked, unchecked.contains(slot) { continue }
      if isUnsetTransient(slot) { continue }
      do {
        if hasHook {
          try _validateThroughHook(slot, _layout.slots[slot])
        } else {
          try plan.check(slot, of: self)
        }
      } catch {
        errors += ValidationErrors.flatten(error)
      }
    }
    try ValidationErrors.throwIfAny(errors)
  }

  /// Whether all given cells currently have values.
  @inline(__always)
  private final func _hasValues(at slots: [Int]) -> Bool {
    if let _draft { return !_draft.hasNull(at: slots) }
    if let _row { return !_row.hasNull(at: slots) }
    return false
  }

  /// Whether a slot is a transient attribute that is nil and unassigned since the object was fetched. The
  /// store has no value for it, so its rules do not apply.
  final func isUnsetTransient(_ slot: Int) -> Bool {
    _layout.hasTransients && _layout.slots[slot].isTransient && !_layout.slots[slot].isToMany && !isInserted
      && !_changed.contains(slot) && (_current?[slot].isNull ?? true)
  }

  /// Validates a property through the overridable method, which may replace the value.
  private final func _validateThroughHook(_ slot: Int, _ description: PropertyLayout.Slot) throws {
    if let relationship = description.relationship {
      // A to-many that is not loaded is clean, and loading each of them for a save would cost too much.
      if relationship.isToMany, !isInserted, !_changed.contains(slot), _relations?.members(slot) == nil {
        return
      }
      var value = self.value(at: slot)
      let before = value as? NSManagedObject
      try validateValue(&value, forKey: description.name)
      if !relationship.isToMany, value as? NSManagedObject !== before {
        setValueOfProperty(value, description.name)
      }
      return
    }
    let before = _current?[slot] ?? .null
    var value = self.value(at: slot)
    try validateValue(&value, forKey: description.name)
    if description.type == .transformable {
      let kept = self.value(at: slot)
      if (value as AnyObject?) !== (kept as AnyObject?),
        !((value as? NSObject)?.isEqual(kept) ?? (value == nil))
      {
        setValueOfProperty(value, description.name)
      }
      return
    }
    let after = try _shape.codings[slot]!.value(from: value)
    if after != before { write(after, at: slot) }
  }

  final func validateBuiltIn(_ value: inout Any?, _ key: String) throws {
    guard let slot = _layout.slot(named: key) else {
      if _shape.propertiesByName[key] is NSFetchedPropertyDescription { return }
      _ = self.value(forUndefinedKey: key)
      return
    }
    if let coding = _shape.codings[slot] {
      let cell: Value
      do {
        cell = try coding.value(from: value)
      } catch {
        throw ValidationErrors.make(NSManagedObjectValidationError, self, key, value, "\(error)")
      }
      try _shape.validation.check(cell, slot, of: self)
    } else if _layout.slots[slot].isToMany {
      let given = value
      try _shape.validation.checkMembers(Self._memberCount(given), slot, of: self) { given }
    } else if let target = value as? NSManagedObject {
      try _shape.validation.check(reference(to: target), slot, of: self)
    } else if value == nil || value is NSNull {
      try _shape.validation.check(.null, slot, of: self)
    } else {
      throw ValidationErrors.make(
        NSManagedObjectValidationError, self, key, value,
        "is a to-one relationship and takes a managed object")
    }
  }

  /// Returns the member count of any collection type that a to-many accepts.
  private static func _memberCount(_ value: Any?) -> Int {
    switch value {
    case let set as Set<NSManagedObject>: set.count
    case let ordered as NSOrderedSet: ordered.count
    case let set as NSSet: set.count
    case let array as [Any]: array.count
    default: 0
    }
  }

  final func validateDeletion() throws {
    if _layout.denyingSlots.isEmpty { return }
    var errors: [any Error] = []
    for slot in _layout.denyingSlots where targets(slot).contains(where: { !$0.isDeleted }) {
      let name = _layout.slots[slot].name
      errors.append(
        ValidationErrors.make(
          NSValidationRelationshipDeniedDeleteError, self, name, value(at: slot),
          "'\(_layout.entityName)' cannot be deleted while '\(name)' still has objects (delete rule Deny). "
            + "Delete or detach them first."))
    }
    try ValidationErrors.throwIfAny(errors)
  }
}
