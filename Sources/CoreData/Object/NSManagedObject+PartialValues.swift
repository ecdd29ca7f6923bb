import CoreDataModelSchema

// Values of faults fetched with `NSFetchRequest.propertiesToFetch`.

extension NSManagedObject {
  /// Sets the row that a fetch returned for this fault, complete or partial.
  final func setRow(from stored: StoredObject) {
    guard let part = stored.part, let row = stored.row else {
      attach(stored.row)
      return
    }
    relations.partial = (row, part)
    _state.attachPartialValues()
  }

  /// Returns the value at a slot if a partial fetch has read it; nil otherwise and once the fault has fired.
  final func partialValue(_ slot: Int) -> Value? {
    guard _row == nil, let (row, part) = _relations?.partial, part.slots.contains(slot) else { return nil }
    if _flags.contains(.checked) { checkQueue() }
    recordRead(slot)
    return row[slot]
  }

  /// Whether a slot can be read without firing the fault.
  final func hasPartialValue(_ slot: Int) -> Bool {
    _flags.contains(.partial) && _row == nil && (_relations?.partial?.part.slots.contains(slot) ?? false)
  }

  /// Discards the partial values once the object is fully loaded, since its row may be newer.
  final func dropPartialValues() {
    guard _flags.contains(.partial) else { return }
    _state.dropPartialValues()
    guard let relations = _relations, relations.partial != nil else { return }
    relations.partial = nil
    relations.forgetDecoded()
    relations.dropTargets()
  }
}
