import CoreDataModelSchema

// Values laid over a newer row: the one way in which an unsaved change meets what others have saved.

extension Row {
  /// `below` with some cells of this row laid over it.
  ///
  /// - Parameters:
  ///   - said: Slots whose values are this row's. To-many ones are left alone: their cells are changes, not values.
  ///   - version: Version of the result; the version of `below` if nil. Only a save into a store raises it.
  func laid(over below: Row, _ said: SlotSet, _ layout: PropertyLayout, version: Int64? = nil) -> Row {
    let row = Row(copying: below, version: version ?? below.version)
    said.forEach { slot in
      if !layout.slots[slot].isToMany { row.set(self[slot], at: slot) }
    }
    return row
  }

  /// Whether both rows have the same stored values.
  func hasSameValues(as other: Row, _ layout: PropertyLayout) -> Bool {
    if self === other { return true }
    return layout.slots.indices.allSatisfy { slot in
      layout.slots[slot].isToMany || layout.slots[slot].isTransient || self[slot] == other[slot]
    }
  }
}

extension PropertyLayout {
  /// Slots of values that no store has.
  var transientSlots: SlotSet {
    hasTransients ? SlotSet(slots.indices.filter { slots[$0].isTransient && !slots[$0].isToMany }) : SlotSet()
  }
}
