import CoreDataModelSchema

// Rebasing values on a newer row: the only way in which unsaved changes are combined with others' saves.

extension Row {
  /// Returns `below` with some cells replaced by this row's.
  ///
  /// - Parameters:
  ///   - changed: Slots to take from this row. To-manys are skipped: their cells hold changes, not values.
  ///   - version: Version of the result; nil for the version of `below`. Only a save into a store increments
  ///     it.
  func rebased(onto below: Row, _ changed: SlotSet, _ layout: PropertyLayout, version: Int64? = nil) -> Row {
    var row = Row(copying: below, version: version ?? below.version)
    changed.forEach { slot in
      if !layout.slots[slot].isToMany { row.set(slot, from: self) }
    }
    return row
  }

  /// Returns the slots whose values differ in another row. To-manys are skipped: their cells hold changes.
  package func slots(differingIn other: Row, _ layout: PropertyLayout) -> SlotSet {
    var result = SlotSet()
    guard var rest = _bytesDiffering(from: other) else {
      for slot in layout.slots.indices where !layout.slots[slot].isToMany {
        if !hasSameCell(as: other, at: slot) { result.insert(slot) }
      }
      return result
    }
    while rest != 0 {
      let slot = rest.trailingZeroBitCount
      rest &= rest &- 1
      if !layout.slots[slot].isToMany, !hasSameCell(as: other, at: slot) { result.insert(slot) }
    }
    return result
  }

  /// Bit mask of the slots whose cells differ in their bytes, all others being equal; nil unless both rows are
  /// packed in one format.
  private func _bytesDiffering(from other: Row) -> UInt64? {
    let (mine, theirs) = (header, other.header)
    guard let format = mine.format, format.toOpaque() == theirs.format?.toOpaque() else { return nil }
    return format._withUnsafeGuaranteedRef { $0.differences(words, mine.count, other.words, theirs.count) }
  }

  /// Whether both rows have the same stored values.
  func hasSameValues(as other: Row, _ layout: PropertyLayout) -> Bool {
    if self === other || _bytesDiffering(from: other) == 0 { return true }
    return layout.slots.indices.allSatisfy { slot in
      layout.slots[slot].isToMany || layout.slots[slot].isTransient || hasSameCell(as: other, at: slot)
    }
  }
}

extension PropertyLayout {
  /// Slots of transient values, which stores do not have.
  var transientSlots: SlotSet {
    hasTransients ? SlotSet(slots.indices.filter { slots[$0].isTransient && !slots[$0].isToMany }) : SlotSet()
  }
}
