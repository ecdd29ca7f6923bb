import CoreDataModelSchema
import Synchronization

/// Published unsaved state of some objects, for a context's children. Immutable; keyed by identity.
///
/// A child's change set becomes a layer of its parent unchanged: the child's queue builds and indexes it, and
/// the parent only retains it.
final class ChangeLayer: Sendable {
  enum Kind: Sendable {
    case inserted
    case updated
    case deleted
    /// Inserted and deleted again before any save: hides an older layer's insertion.
    case insertedThenDeleted
  }

  /// A class, since entries pass through many steps: a copy costs one retain instead of one per member.
  final class Entry: Sendable {
    let kind: Kind
    let id: NSManagedObjectID
    /// The row that the change is based on; nil for an inserted object. In a root context's save, the row
    /// expected in the store.
    let base: Row?
    /// The resulting row in the context that made the change; nil if deleted. The entry defines only the
    /// values of `changed`, and all values of an inserted object; see `row(over:)`.
    let row: Row?
    /// Slots that were changed; for an inserted object, all assigned slots.
    let changed: SlotSet
    /// True if this is the whole unsaved state of a context's own object; false for a child's change to an
    /// object that the context has not created, which applies on top of older layers.
    let isWhole: Bool

    init(kind: Kind, id: NSManagedObjectID, base: Row?, row: Row?, changed: SlotSet, isWhole: Bool) {
      self.kind = kind
      self.id = id
      self.base = base
      self.row = row
      self.changed = changed
      self.isWhole = isWhole
    }

    /// Whether a save reports the object without having written it: the row is the one that the saving context had, and
    /// others may have saved a newer one.
    var isUnwritten: Bool {
      guard kind == .updated, let base, let row else { return false }
      return base === row
    }

    /// Whether the entry defines any cell of its row. An update may record only that the members of a
    /// one-to-many changed, which their to-ones define.
    var definesCells: Bool {
      kind == .inserted || kind == .updated && !changed.isSubset(of: id.space.layout.derivedToManySlots)
    }
  }

  /// In the order of the changes.
  let entries: [Entry]
  /// Whether any object was inserted and deleted again.
  let hasInsertedThenDeleted: Bool
  private let _index: [IdentityKey: Int]
  /// Whether any entry is a deletion.
  let hasDeletions: Bool
  /// Whether the class of any object overrides what is called when it is saved.
  let hasHooks: Bool
  /// Indices of entries with temporary IDs.
  private let _temporaries: [Int]
  private let _aliases = Mutex<Aliases>(Aliases())
  private let _equality = Mutex<[IndexedSlot: [EqualityKey: [Int]]]>([:])
  /// Positions by rank; nil for a slot that was queried once.
  private let _ranked = Mutex<[IndexedSlot: RankedList<Int>?]>([:])
  private let _links = LinkIndex()
  /// The roots of the objects' entities; nil until someone asks.
  private let _roots = Mutex<[Int]?>(nil)
  private let _ids = Mutex<SavedIDs?>(nil)

  private struct Aliases {
    var links = LinkedIDs.Mark()
    var positions: [IdentityKey: Int] = [:]
  }

  private struct IndexedSlot: Hashable {
    let root: Int
    let slot: Int
  }

  /// - Parameter isIndexed: False for a layer that is only iterated, never searched.
  init(_ entries: [Entry], isIndexed: Bool = true) {
    self.entries = entries
    hasInsertedThenDeleted = entries.containsUnretained { $0.kind == .insertedThenDeleted }
    hasDeletions = hasInsertedThenDeleted || entries.containsUnretained { $0.kind == .deleted }
    guard isIndexed else {
      _index = [:]
      _temporaries = []
      hasHooks = true
      return
    }
    var index = [IdentityKey: Int](minimumCapacity: entries.count)
    var temporaries: [Int] = []
    var hooked = false
    var last: ObjectIDSpace?
    for (position, entry) in entries.enumerated() {
      let key = IdentityKey(entry.id)
      index[key] = position
      if key.isTemporary { temporaries.append(position) }
      if entry.id.space !== last {
        last = entry.id.space
        hooked = hooked || !entry.id.entity.shape.hooks.isEmpty
      }
    }
    _index = index
    _temporaries = temporaries
    hasHooks = hooked
  }

  /// The number of entries with temporary IDs.
  var temporaryCount: Int { _temporaries.count }

  /// Returns this layer's entry for an object; nil if it has none.
  func entry(for key: IdentityKey) -> Entry? { _position(of: key).map { entries[$0] } }

  private func _position(of key: IdentityKey) -> Int? {
    if let position = _index[key] { return position }
    guard !key.isTemporary, !_temporaries.isEmpty else { return nil }
    return _aliases.withLock { aliases in
      // A temporary ID may have become permanent since the layer was created.
      if aliases.links.advance() {
        for position in _temporaries {
          if let permanent = entries[position].id.key {
            aliases.positions[IdentityKey(permanent)] = position
          }
        }
      }
      return aliases.positions[key]
    }
  }

  /// Whether any entry is for an object of a root's entities.
  func concerns(root: Int) -> Bool {
    _roots.withLock { known in
      if let known { return known.contains(root) }
      var roots: [Int] = []
      for entry in entries {
        let root = entry.id.space.layout.rootNumber
        if roots.last != root, !roots.contains(root) { roots.append(root) }
      }
      known = roots
      return roots.contains(root)
    }
  }

  /// Returns entries that may have `value` in `slot`, through an index built on first use.
  func candidates(root: Int, slot: Int, equalTo value: EqualityKey) -> [Entry] {
    let positions = _equality.withLock { indexes in
      let place = IndexedSlot(root: root, slot: slot)
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

  /// Returns entries that may have a value in a range, through an index built on the second use; nil if all are
  /// to be checked.
  func candidates(root: Int, in range: CellRange) -> [Entry]? {
    let place = IndexedSlot(root: root, slot: range.slot)
    let positions: [Int]? = _ranked.withLock { lists in
      guard let known = lists[place] else {
        lists[place] = .some(nil)
        return nil
      }
      var list = known ?? _list(of: place)
      defer { lists[place] = list }
      return list.elements(in: range)
    }
    return positions?.map { entries[$0] }
  }

  private func _list(of place: IndexedSlot) -> RankedList<Int> {
    var list = RankedList<Int>()
    for (position, entry) in entries.enumerated() {
      guard entry.id.space.layout.rootNumber == place.root, let row = entry.row, place.slot < row.count,
        let rank = CellRank(row[place.slot])
      else { continue }
      list.add(position, rank)
    }
    return list
  }

  /// The IDs of the changes, collected on first use, which is by the child that saves the layer.
  var ids: SavedIDs {
    _ids.withLock { known in
      if let known { return known }
      let ids = SavedIDs(entries)
      known = ids
      return ids
    }
  }

  /// Returns the entries that set the to-one end of a relationship to `target`.
  func entries(linking ends: LinkEnds, to target: NSManagedObjectID) -> [Entry] {
    _links.positions(of: ends, to: target, in: entries).map { entries[$0] }
  }

  /// What contradicts itself in the layer, for tests.
  var inconsistencies: [String] {
    entries.enumerated().compactMap { position, entry in
      if _position(of: IdentityKey(entry.id)) != position { return "\(entry.id) is not found in its layer" }
      guard let row = entry.row else { return nil }
      let root = entry.id.space.layout.rootNumber
      let places = _ranked.withLock { lists in
        lists.compactMap { place, list in list.map { (place, $0) } }
      }
      for (place, list) in places where place.root == root && place.slot < row.count {
        if let rank = CellRank(row[place.slot]), !list.contains(rank, where: { $0 == position }) {
          return "\(entry.id) is not found by its values"
        }
      }
      return concerns(root: root) ? nil : "the layer does not know that it concerns \(entry.id)"
    }
  }

  /// Merges two layers; `newer` wins and is composed with the older entries slot by slot.
  static func merged(_ older: ChangeLayer, _ newer: ChangeLayer) -> ChangeLayer {
    var entries = older.entries
    var extra: [Entry] = []
    for entry in newer.entries {
      // The older layer may hold the object under its former temporary ID.
      if let position = older._position(of: IdentityKey(entry.id)) {
        entries[position] = composed(entries[position], entry)
      } else {
        extra.append(entry)
      }
    }
    return ChangeLayer(entries + extra)
  }
}

extension [ChangeLayer] {
  /// Returns the newest entry for an object, composed with those of older layers.
  ///
  /// - Parameter withMembers: False if the caller does not read the to-manys of the row.
  func entry(for key: IdentityKey, withMembers: Bool = true) -> ChangeLayer.Entry? {
    var newest: ChangeLayer.Entry?
    var older: [ChangeLayer.Entry] = []
    for layer in reversed() {
      guard let entry = layer.entry(for: key) else { continue }
      if newest == nil { newest = entry } else { older.append(entry) }
      if entry.isWhole { break }
    }
    guard let newest, !older.isEmpty else { return newest }
    return ChangeLayer.composed([newest] + older, withMembers: withMembers)
  }

  /// Whether any layer has an entry for an object.
  func contains(_ key: IdentityKey) -> Bool { contains { $0.entry(for: key) != nil } }

  /// One composed entry per object in any layer.
  var composedEntries: [ChangeLayer.Entry] {
    guard count > 1 else { return first?.entries ?? [] }
    return dropFirst().reduce(self[0]) { ChangeLayer.merged($0, $1) }.entries
  }
}
