import Synchronization

/// Merges that wait for a context's queue, in order of arrival, composed while they wait.
///
/// A context that falls behind merges many saves as one: each object once, with its newest row. The merges
/// form groups, each of which is merged and announced as a whole. A block of the context ends a group, so
/// that it pays only for what was saved before it was enqueued; one turn of the queue handles one group, and
/// the next turn follows the queue's other work.
struct WaitingMerges: Sendable {
  /// A group of merges.
  enum Group: Sendable {
    case save(SavedChanges)
    case composed(ComposedSave)
    /// Changes that an ancestor has discarded.
    case discard(ComposedDiscard, by: ContextQueue)

    /// The number of objects.
    var count: Int {
      switch self {
      case .save(let changes): changes.entries.count
      case .composed(let save): save.count
      case .discard(let discard, _): discard.count
      }
    }
  }

  /// Most objects in a composed group. A single save may have more.
  static let mostObjects = 2000

  /// The groups, oldest first.
  private var _groups = Deque<Group>()
  /// The number of groups that were taken.
  private var _taken = 0
  /// Whether the newest group takes no further saves.
  private var _isClosed = false
  /// Whether a turn is enqueued that has not begun.
  var hasTurn = false

  var isEmpty: Bool { _groups.isEmpty }

  /// Whether a discard waits.
  var hasDiscards: Bool {
    _groups.contains { if case .discard = $0 { true } else { false } }
  }

  /// The number of the newest group; groups are numbered from 1.
  var last: Int { _taken + _groups.count }

  /// Adds a save of the context's parent or coordinator.
  mutating func append(_ changes: SavedChanges) {
    if !_isClosed, !isEmpty, let composed = _composed(with: changes) {
      _groups.replaceLast(with: .composed(composed))
      return
    }
    _groups.append(.save(changes))
    _isClosed = false
  }

  /// Adds changes that an ancestor has discarded. They keep their place among the saves.
  mutating func append(_ changes: DiscardedChanges, by queue: ContextQueue) {
    if !_isClosed, case .discard(let newest, let other) = _groups.last, other === queue,
      newest.count + changes.entries.count <= Self.mostObjects
    {
      return newest.add(changes)
    }
    _groups.append(.discard(ComposedDiscard(changes), by: queue))
    _isClosed = false
  }

  /// The newest group with another save; nil if the save has to begin a group.
  private mutating func _composed(with changes: SavedChanges) -> ComposedSave? {
    guard let newest = _groups.last,
      newest.count + changes.entries.count <= Self.mostObjects
    else { return nil }
    switch newest {
    case .discard: return nil
    case .save(let earlier):
      guard ComposedSave.canStart(with: earlier) else { return nil }
      let composed = ComposedSave(earlier)
      return composed.add(changes) ? composed : nil
    case .composed(let earlier):
      return earlier.add(changes) ? earlier : nil
    }
  }

  /// Ends the newest group, since a block was enqueued behind it.
  ///
  /// - Returns: The number of that group, up to which the block runs the merges.
  mutating func close() -> Int {
    _isClosed = true
    return last
  }

  /// Removes and returns the oldest group, unless its number is higher.
  mutating func take(upTo number: Int) -> Group? {
    guard !isEmpty, _taken < number else { return nil }
    _taken += 1
    return _groups.popFirst()
  }

  /// Forgets all groups.
  mutating func removeAll() {
    _taken = last
    _groups = Deque()
  }
}

/// Several changes that one ancestor has discarded.
final class ComposedDiscard: @unchecked Sendable {
  // Unchecked: changed under the lock of the queue where it waits; afterwards only the merging context has
  // it.
  private(set) var parts: [DiscardedChanges]
  /// The number of objects.
  private(set) var count: Int

  init(_ changes: DiscardedChanges) {
    parts = [changes]
    count = changes.entries.count
  }

  func add(_ changes: DiscardedChanges) {
    parts.append(changes)
    count += changes.entries.count
  }
}

/// Several saves into the same stores, composed by object.
final class ComposedSave: @unchecked Sendable {
  // Unchecked: changed under the lock of the queue where it waits; afterwards only the merging context has
  // it.
  private var _entries: [ChangeLayer.Entry]
  private var _places: [IdentityKey: Int]
  private let _coordinator: NSPersistentStoreCoordinator?
  private var _epochs: ClosedRange<Int>
  private var _saveCount = 1

  /// Whether a save can be composed with later ones: one into stores. What a parent saved may be rolled back.
  static func canStart(with changes: SavedChanges) -> Bool { changes.isStored }

  init(_ changes: SavedChanges) {
    _entries = changes.entries
    _coordinator = changes.coordinator
    _epochs = changes.firstEpoch...changes.epoch
    _places = Dictionary(minimumCapacity: changes.entries.count * 2)
    for (place, entry) in changes.entries.enumerated() { _places[IdentityKey(entry.id)] = place }
  }

  /// The number of objects.
  var count: Int { _entries.count }

  /// The saves as one.
  var changes: SavedChanges {
    SavedChanges(stored: _entries, coordinator: _coordinator, epochs: _epochs, saves: _saveCount)
  }

  /// Adds a save.
  ///
  /// - Returns: False if it cannot be composed with the earlier ones, which are unchanged then.
  func add(_ changes: SavedChanges) -> Bool {
    guard changes.isStored, changes.coordinator === _coordinator else { return false }
    // An object that was deleted and is there again is announced as both. A deletion may arrive after the
    // insertion that followed it.
    let mayArriveLate =
      _coordinator.map {
        $0.lastReinsertion.load(ordering: .acquiring) >= min(_epochs.lowerBound, changes.firstEpoch)
      } ?? false
    let isDeletionOvertaken = changes.entries.contains { entry in
      guard let place = _places[IdentityKey(entry.id)] else { return false }
      return entry.kind == .deleted
        ? mayArriveLate && _entries[place].kind == .inserted : _entries[place].kind == .deleted
    }
    if isDeletionOvertaken { return false }
    for entry in changes.entries {
      let key = IdentityKey(entry.id)
      if let place = _places[key] {
        _entries[place] = Self._composed(_entries[place], entry)
      } else {
        _places[key] = _entries.count
        _entries.append(entry)
      }
    }
    _epochs = min(_epochs.lowerBound, changes.firstEpoch)...max(_epochs.upperBound, changes.epoch)
    _saveCount += 1
    return true
  }

  /// Composes two stored changes of one object. Saves may arrive in another order than that of their commits,
  /// which the versions tell.
  private static func _composed(_ earlier: ChangeLayer.Entry, _ later: ChangeLayer.Entry) -> ChangeLayer.Entry
  {
    if later.kind == .deleted || later.kind == .insertedThenDeleted { return later }
    guard let first = earlier.row, let second = later.row else { return later }
    let (older, newer) = first.version <= second.version ? (earlier, later) : (later, earlier)
    var row = newer.row!
    let members = newer.id.space.layout.recordedToManySlots.filter { older.changed.contains($0) }
    if !members.isEmpty {
      row = Row(copying: row, version: row.version)
      for slot in members {
        if newer.changed.contains(slot), case .toMany(let first) = older.row![slot],
          case .toMany(let second) = row[slot]
        {
          row.set(.toMany(first.followed(by: second)), at: slot)
        } else if !newer.changed.contains(slot) {
          row.set(slot, from: older.row!)
        }
      }
    }
    return ChangeLayer.Entry(
      kind: earlier.kind == .inserted || later.kind == .inserted ? .inserted : .updated, id: later.id,
      base: earlier.isUnwritten && later.isUnwritten ? row : older.base, row: row,
      changed: older.changed.union(newer.changed), isWhole: false)
  }
}
