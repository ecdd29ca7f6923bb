import CoreDataModelSchema
import Foundation

extension NSManagedObject {
  final func currentChanges() -> [String: Any] {
    var result: [String: Any] = [:]
    changedSlots(ignoringTransient: true).forEach { slot in
      result[_layout.slots[slot].name] = _presented(slot, of: _current) ?? NSNull()
    }
    return result
  }

  final func storedValues(_ keys: [String]?) -> [String: Any] {
    if isFault { fireFault() }
    guard _row != nil else { return [:] }
    var result: [String: Any] = [:]
    for (number, slot) in _layout.slots.enumerated() where !slot.isHidden {
      if let keys { guard keys.contains(slot.name) else { continue } }
      if slot.isTransient { continue }
      if slot.isToMany {
        if let state = _relations?.members(number), state.isRealised {
          result[slot.name] = state.isOrdered ? NSOrderedSet(array: state.base) : Set(state.base)
        } else if keys != nil {
          _ = members(number)
          let state = members(number)
          result[slot.name] = state.isOrdered ? NSOrderedSet(array: state.base) : Set(state.base)
        }
        continue
      }
      result[slot.name] = _presented(number, of: _row) ?? NSNull()
    }
    return result
  }

  final func eventChanges() -> [String: Any] {
    guard _flags.contains(.eventListed) else { return [:] }
    var result: [String: Any] = [:]
    changedSlots(ignoringTransient: false).forEach { slot in
      result[_layout.slots[slot].name] = _presented(slot, of: _row) ?? NSNull()
    }
    return result
  }

  final var hasStoredChanges: Bool {
    if _flags.contains(.inserted) { return !_changed.isEmpty }
    return !changedSlots(ignoringTransient: true).isEmpty
  }

  /// Returns the slots whose values differ from the last fetched or saved ones; for a new object, the
  /// assigned slots.
  final func changedSlots(ignoringTransient: Bool) -> SlotSet {
    var result = SlotSet()
    _changed.forEach { slot in
      let description = _layout.slots[slot]
      if ignoringTransient, description.isTransient { return }
      if description.isToMany {
        if _relations?.members(slot)?.hasChanges ?? false { result.insert(slot) }
      } else if let row = _row, let draft = _draft {
        if !row.hasSameCell(as: draft, at: slot) { result.insert(slot) }
      } else {
        result.insert(slot)
      }
    }
    return result
  }

  private final func _presented(_ slot: Int, of row: Row?) -> Any? {
    let description = _layout.slots[slot]
    switch description.kind {
    case .attribute:
      return row.flatMap { shown($0[slot], slot) }
    case .relationship(let relationship):
      if relationship.isToMany {
        guard let state = _relations?.members(slot) else { return nil }
        if state.isRealised {
          return state.isOrdered ? NSOrderedSet(array: state.order) : state.members
        }
        return members(slot).members
      }
      switch row?[slot] {
      case .reference(let key)?: return _context?.registry.object(for: key)
      case .pending(let id)?: return _context?.registry.objectOrFault(id)
      default: return nil
      }
    }
  }
}

extension NSManagedObject {
  /// Slots whose values differ from the last fetched or saved ones, including changed to-manys.
  final var differingSlots: SlotSet {
    var result = SlotSet()
    if let draft = _draft, let row = _row, !(draft === row) {
      result = row.slots(differingIn: draft, _layout)
    }
    guard let relations = _relations else { return result }
    for slot in _layout.toManySlots where relations.members(slot)?.hasChanges ?? false { result.insert(slot) }
    return result
  }
}
