import CoreDataModelSchema

/// What a context's objects were before the event under way changed them. There is one as long as the context
/// has an undo manager; it is asked before every change, and takes the first of each object.
final class UndoRecorder {
  private var _before: [ObjectIdentifier: ObjectSnapshot] = [:]
  /// In the order of their first change.
  private var _order: [ObjectIdentifier] = []
  /// More than zero while changes come from elsewhere (merges) and are not the user's to take back.
  var suspensions = 0

  /// Remembers an object as it is, before it changes for the first time since the last event.
  func willChange(_ object: NSManagedObject, isAlive: Bool? = nil) {
    guard suspensions == 0 else { return }
    let key = ObjectIdentifier(object)
    guard _before[key] == nil else { return }
    _before[key] = ObjectSnapshot(object, isAlive: isAlive)
    _order.append(key)
  }

  /// The changes of the event. Empties the recorder.
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

/// One object's state at a moment, by reference: its values are shared and copied at the next write.
struct ObjectSnapshot {
  let object: NSManagedObject
  let isAlive: Bool
  let row: Row?
  private let _members: [(slot: Int, state: Members)]

  struct Members {
    let added: Set<NSManagedObject>
    let removed: Set<NSManagedObject>
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
            added: state.added, removed: state.removed,
            order: state.isOrdered && state.isRealised ? state.order : nil)
        ))
    }
    _members = members
  }

  func members(_ slot: Int) -> Members? { _members.first { $0.slot == slot }?.state }
}

/// How one object was changed by an event, and so how to change it back.
struct ObjectChange {
  let object: NSManagedObject
  /// Whether it was there before.
  let wasAlive: Bool
  /// Whether it was there afterwards.
  let isAlive: Bool
  /// Attributes as they were, by slot.
  var values: [(slot: Int, value: Value)] = []
  /// To-one targets as they were, by slot.
  var targets: [(slot: Int, target: NSManagedObject?)] = []
  /// To-many changes, by slot.
  var members: [MemberChange] = []

  struct MemberChange {
    let slot: Int
    let added: [NSManagedObject]
    let removed: [NSManagedObject]
    /// Order before, of an ordered relationship.
    let order: [NSManagedObject]?
  }

  /// The change from a snapshot to now; nil if there is none.
  init?(from before: ObjectSnapshot) {
    object = before.object
    wasAlive = before.isAlive
    isAlive = object.isAliveInContext
    guard wasAlive || isAlive else { return nil }
    let slots = object._layout.slots
    // What was a fault was clean: its row is what it was.
    if let old = before.row ?? object._row, let new = object._current, !(old === new) {
      for slot in slots.indices where !slots[slot].isToMany && old[slot] != new[slot] {
        if slots[slot].attribute != nil {
          values.append((slot, old[slot]))
        } else {
          targets.append((slot, object.target(in: old[slot])))
        }
      }
    }
    object._relations?.forEachToMany { slot, state in
      let old = before.members(slot)
      let oldAdded = old?.added ?? [], oldRemoved = old?.removed ?? []
      let added = state.added.subtracting(oldAdded).union(oldRemoved.subtracting(state.removed))
      let removed = state.removed.subtracting(oldRemoved).union(oldAdded.subtracting(state.added))
      let isReordered = state.isOrdered && state.isRealised && (old?.order ?? state.base) != state.order
      guard !added.isEmpty || !removed.isEmpty || isReordered else { return }
      members.append(
        MemberChange(
          slot: slot, added: Array(added), removed: Array(removed),
          order: state.isOrdered ? old?.order ?? state.base : nil))
    }
    if wasAlive, isAlive, values.isEmpty, targets.isEmpty, members.isEmpty { return nil }
  }
}

extension NSManagedObject {
  /// Whether the object is part of its context and not marked as deleted.
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

  /// The object that a to-one cell stands for, without reading it.
  final func target(in value: Value) -> NSManagedObject? {
    switch value {
    case .reference(let key): _context?.object(for: key)
    case .pending(let id): _context?.objectOrFault(id)
    default: nil
    }
  }
}
