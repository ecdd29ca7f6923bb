import CoreDataModelSchema
import Synchronization

/// Unsaved state of some objects as a context shows it to its children: immutable, by identity.
///
/// A child's ChangeSet becomes a layer of its parent as it is: it is built, with its index, on the child's
/// queue, and the parent only takes a reference.
final class Layer: Sendable {
  enum Kind: Sendable {
    case inserted
    case updated
    case deleted
    /// Inserted and deleted again before anything was saved: hides an older layer's insertion.
    case annihilated
  }

  /// A reference, since it goes from pass to pass: a copy costs one retain instead of one for each member.
  final class Entry: Sendable {
    let kind: Kind
    let id: NSManagedObjectID
    /// What the context that made the change had read; nil for an inserted object. In a root context's save, what the
    /// store is expected to have.
    let base: Row?
    /// The object as the context that made the change shows it; nil when deleted. Only the values of `changed`, and
    /// of an inserted object all, are the entry's to say: see `row(over:)`.
    let row: Row?
    /// Slots that were changed; of an inserted object, all that were assigned.
    let changed: SlotSet
    /// True for a context's own object, whose whole unsaved state this is; false for a child's change to an
    /// object that the context has not made, which goes on top of what older layers say.
    let isWhole: Bool

    init(kind: Kind, id: NSManagedObjectID, base: Row?, row: Row?, changed: SlotSet, isWhole: Bool) {
      self.kind = kind
      self.id = id
      self.base = base
      self.row = row
      self.changed = changed
      self.isWhole = isWhole
    }
  }

  /// In the order in which the changes were made.
  let entries: [Entry]
  /// Whether any object was inserted and deleted again.
  let hasAnnihilated: Bool
  private let _index: [IdentityKey: Int]
  /// Whether any entry is a deletion.
  let hasDeletions: Bool
  /// Entries under temporary IDs.
  private let _temporaries: [Int]
  private let _aliases = Mutex<Aliases>(Aliases())
  private let _equality = Mutex<[EqualitySlot: [EqualityKey: [Int]]]>([:])

  private struct Aliases {
    var epoch = 0
    var positions: [IdentityKey: Int] = [:]
  }

  private struct EqualitySlot: Hashable {
    let root: Int
    let slot: Int
  }

  /// - Parameter isIndexed: False for a layer that is only iterated, never searched.
  init(_ entries: [Entry], isIndexed: Bool = true) {
    self.entries = entries
    hasAnnihilated = entries.anyHeld { $0.kind == .annihilated }
    hasDeletions = hasAnnihilated || entries.anyHeld { $0.kind == .deleted }
    guard isIndexed else {
      _index = [:]
      _temporaries = []
      return
    }
    var index = [IdentityKey: Int](minimumCapacity: entries.count)
    var temporaries: [Int] = []
    for (position, entry) in entries.enumerated() {
      let key = IdentityKey(entry.id)
      index[key] = position
      if key.isTemporary { temporaries.append(position) }
    }
    _index = index
    _temporaries = temporaries
  }

  /// What this layer says of an object; nil if nothing.
  func entry(for key: IdentityKey) -> Entry? { _position(of: key).map { entries[$0] } }

  private func _position(of key: IdentityKey) -> Int? {
    if let position = _index[key] { return position }
    guard !key.isTemporary, !_temporaries.isEmpty else { return nil }
    return _aliases.withLock { aliases in
      // A temporary ID may have learned its key since the layer was made.
      let epoch = NSManagedObjectID.linkEpoch.load(ordering: .acquiring)
      if aliases.epoch != epoch {
        aliases.epoch = epoch
        for position in _temporaries {
          if let permanent = entries[position].id.key {
            aliases.positions[IdentityKey(permanent)] = position
          }
        }
      }
      return aliases.positions[key]
    }
  }

  /// Entries that may have `value` in `slot`: found through an index made when first asked for.
  func candidates(root: Int, slot: Int, equalTo value: EqualityKey) -> [Entry] {
    let positions = _equality.withLock { indexes in
      let place = EqualitySlot(root: root, slot: slot)
      if let index = indexes[place] { return index[value] ?? [] }
      var index: [EqualityKey: [Int]] = [:]
      for (position, entry) in entries.enumerated() {
        guard entry.id.space.layout.rootNumber == root, let row = entry.row, slot < row.count,
          let key = EqualityKey(row[slot])
        else { continue }
        index[key, default: []].append(position)
      }
      indexes[place] = index
      return index[value] ?? []
    }
    return positions.map { entries[$0] }
  }

  /// Both layers as one; `newer` wins, composed slot by slot with what it is laid over.
  static func merged(_ older: Layer, _ newer: Layer) -> Layer {
    var entries = older.entries
    var extra: [Entry] = []
    for entry in newer.entries {
      // The older layer may know the object by the temporary ID that it had then.
      if let position = older._position(of: IdentityKey(entry.id)) {
        entries[position] = composed(entries[position], entry)
      } else {
        extra.append(entry)
      }
    }
    return Layer(entries + extra)
  }
}

extension [Layer] {
  /// The newest entry for an object, composed with older layers' already.
  ///
  /// - Parameter withMembers: False where the to-manys of its row are not read.
  func entry(for key: IdentityKey, withMembers: Bool = true) -> Layer.Entry? {
    var newest: Layer.Entry?
    var older: [Layer.Entry] = []
    for layer in reversed() {
      guard let entry = layer.entry(for: key) else { continue }
      if newest == nil { newest = entry } else { older.append(entry) }
      if entry.isWhole { break }
    }
    guard let newest, !older.isEmpty else { return newest }
    return Layer.composed([newest] + older, withMembers: withMembers)
  }

  /// Whether any layer says anything of an object.
  func contains(_ key: IdentityKey) -> Bool { contains { $0.entry(for: key) != nil } }

  /// One entry for each object that any layer speaks of.
  var composedEntries: [Layer.Entry] {
    guard count > 1 else { return first?.entries ?? [] }
    return dropFirst().reduce(self[0]) { Layer.merged($0, $1) }.entries
  }
}
