import CoreDataModelSchema

/// Records the state of a context's objects before the current event changed them. Exists as long as the
/// context has an undo manager. It is called before every change and records only the first of each object.
final class UndoRecorder {
  private var _before: [ObjectIdentifier: ObjectSnapshot] = [:]
  /// In the order of first changes.
  private var _order: [ObjectIdentifier] = []
  /// Greater than zero during merges, whose changes the user cannot undo.
  var suspensions = 0

  /// Records an object's state before its first change since the last event.
  func willChange(_ object: NSManagedObject, isAlive: Bool? = nil) {
    guard suspensions == 0 else { return }
    let key = ObjectIdentifier(object)
    guard _before[key] == nil else { return }
    _before[key] = ObjectSnapshot(object, isAlive: isAlive)
    _order.append(key)
  }

  /// Returns the changes of the event and empties the recorder.
  func drainChanges() -> [ObjectChange] {
    guard !_order.isEmpty else { return [] }
    let changes = _order.compactMap { ObjectChange(from: _before[$0]!) }
    forget()
    return changes
  }

  func forget() {
    _before.removeAll()
    _order.removeAll()
  }
}

/// The state of one object at a moment, by reference: its values are shared and copied on the next write.
struct ObjectSnapshot {
  let object: NSManagedObject
  let isAlive: Bool
  let row: Row?
  private let _members: [(slot: Int, state: Members)]

  struct Members {
    let changes: MemberChanges
    let order: [NSManagedObject]?
  }

  init(_ object: NSManagedObject, isAlive: Bool? = nil) {
    self.object = object
    self.isAlive = isAlive ?? object.isAliveInContext
    row = object._current
    if object._draft != nil { object._state.shareDraft() }
    var members: [(slot: Int, state: Members)] = []
    object._relations?.forEachToMany { slot, state in
      members.append(
        (
          slot,
          Members(
            changes: state.changes,
            order: state.isOrdered && state.isRealised ? state.order : nil)
        ))
    }
    _members = members
  }

  func members(_ slot: Int) -> Members? { _members.first { $0.slot == slot }?.state }
}

/// The changes of one object in an event, for undoing them.
struct ObjectChange {
  let object: NSManagedObject
  /// Whether the object existed before.
  let wasAlive: Bool
  /// Whether the object exists afterwards.
  let isAlive: Bool
  /// Previous attribute values, by slot.
  var values: [(slot: Int, value: Value)] = []
  /// Previous to-one targets, by slot.
  var targets: [(slot: Int, target: NSManagedObject?)] = []
  /// To-many changes, by slot.
  var members: [MemberChange] = []

  struct MemberChange {
    let slot: Int
    /// Objects added to the members or removed from them, and whether they were members before.
    let changed: [(object: NSManagedObject, wasMember: Bool)]
    /// The previous order of an ordered relationship.
    let order: [NSManagedObject]?
  }

  /// Computes the change since a snapshot; nil without one.
  init?(from before: ObjectSnapshot) {
    object = before.object
    wasAlive = before.isAlive
    isAlive = object.isAliveInContext
    guard wasAlive || isAlive else { return nil }
    // What others have deleted does not come back.
    if !isAlive, object._flags.contains(.deletedElsewhere) { return nil }
    let slots = object._layout.slots
    // An object that was a fault was clean: its old row is unchanged.
    if let old = before.row ?? object._row, let new = object._current, !(old === new) {
      for slot in slots.indices where !slots[slot].isToMany && old[slot] != new[slot] {
        if slots[slot].isAttribute {
          values.append((slot, old[slot]))
        } else {
          targets.append((slot, object.target(in: old[slot])))
        }
      }
    }
    object._relations?.forEachToMany { slot, state in
      let old = before.members(slot)
      let changed = state.changes.changed(since: old?.changes ?? MemberChanges())
      let isReordered = state.isOrdered && state.isRealised && (old?.order ?? state.base) != state.order
      guard !changed.isEmpty || isReordered else { return }
      members.append(
        MemberChange(
          slot: slot, changed: changed,
          order: state.isOrdered ? old?.order ?? state.base : nil))
    }
    if wasAlive, isAlive, values.isEmpty, targets.isEmpty, members.isEmpty { return nil }
  }
}

extension NSManagedObject {
  /// Whether the object is in its context and not deleted.
  final var isAliveInContext: Bool { _context != nil && !_flags.contains(.deleted) }

  /// Called before every change; costs a load and a branch as long as no context of the program has an undo
  /// manager.
  @inline(__always)
  final func willChangeState() {
    if UndoLink.isInUse.load(ordering: .relaxed) { _recordState() }
  }

  @inline(never)
  private final func _recordState() {
    guard let recorder = _context?.undoRecorder, !_flags.contains(.awakening) else { return }
    recorder.willChange(self)
  }

  /// Returns the object that a to-one cell refers to, without loading it.
  final func target(in value: Value) -> NSManagedObject? {
    switch value {
    case .reference(let key): _context?.registry.object(for: key)
    case .pending(let id): _context?.registry.objectOrFault(id)
    default: nil
    }
  }
}
