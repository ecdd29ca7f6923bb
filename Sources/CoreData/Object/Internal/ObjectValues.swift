import CoreDataModelSchema

/// The values of an object: those last fetched or saved, the current ones once one of them was assigned, and which were.
///
/// Mutated only by the methods below, which `NSManagedObject+Transitions.swift` combines with those of `ObjectState`.
struct ObjectValues {
  /// The last fetched or saved values; nil in a fault and in a never-saved object.
  private(set) var row: Row?
  /// The current values, once one of them was assigned.
  private(set) var draft: Row?
  /// Slots assigned since the object was last fetched or saved.
  private(set) var changed = SlotSet()

  /// The current values; nil in a fault.
  @inline(__always) var current: Row? { draft ?? row }

  // MARK: Reading

  /// Takes the row of a read; nil if the next access has to read it. Keeps what was assigned.
  @inline(__always) mutating func attach(_ row: Row?) { self.row = row }

  /// Takes a newer row, and the assigned values rebased onto it, if any.
  @inline(__always) mutating func rebase(on row: Row, draft: Row?) {
    self.row = row
    self.draft = draft
  }

  /// Takes a newer row with the values that remain assigned.
  mutating func replace(row: Row?, draft: Row?, changed: SlotSet) {
    self.row = row
    self.draft = draft
    self.changed = changed
  }

  // MARK: Assigning

  /// Holds current values apart from the row; nil for none.
  @inline(__always) mutating func begin(_ draft: Row?) { self.draft = draft }

  // Each of these needs a draft that is exclusive to the object.

  @inline(__always) mutating func set(_ value: consuming Value, at slot: Int) { draft!.set(value, at: slot) }

  @inline(__always) mutating func set(integer: Int64, at slot: Int) { draft!.set(integer: integer, at: slot) }

  @inline(__always) mutating func set(double: Double, at slot: Int) { draft!.set(double: double, at: slot) }

  @inline(__always) mutating func set(text: String?, at slot: Int) { draft!.set(text: text, at: slot) }

  @inline(__always) mutating func set(_ slot: Int, from row: Row) { draft!.set(slot, from: row) }

  /// Records that a slot was assigned.
  @inline(__always) mutating func mark(_ slot: Int) { changed.insert(slot) }

  /// Records that slots were assigned.
  @inline(__always) mutating func mark(_ slots: SlotSet) { changed.formUnion(slots) }

  // MARK: Saved and discarded

  /// Makes a row the stored values; nothing is assigned any longer.
  @inline(__always) mutating func settle(on row: Row?) {
    self.row = row
    draft = nil
    changed.removeAll()
  }

  /// Makes the current values the stored ones.
  @inline(__always) mutating func settle() {
    if let draft = draft.take() { row = draft }
    changed.removeAll()
  }

  /// Forgets which slots were assigned, but not their values.
  @inline(__always) mutating func forgetAssignments() { changed.removeAll() }
}
