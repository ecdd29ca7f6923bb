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
    /// What the store is expected to have; nil for an inserted object.
    let base: Row?
    /// Values now; nil when deleted.
    let row: Row?
    /// Slots that differ from `base`; of an inserted object, all that were assigned.
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
  private let _index: [ObjectTable.Key: Int]
  /// Whether any entry is a deletion.
  let hasDeletions: Bool
  /// Entries under temporary IDs.
  private let _temporaries: [Int]
  private let _aliases = Mutex<Aliases>(Aliases())
  private let _equality = Mutex<[EqualitySlot: [EqualityKey: [Int]]]>([:])

  private struct Aliases {
    var epoch = 0
    var positions: [ObjectTable.Key: Int] = [:]
  }

  private struct EqualitySlot: Hashable {
    let root: Int
    let slot: Int
  }

  /// - Parameter isIndexed: False for a layer that nobody will look into, only go through.
  init(_ entries: [Entry], isIndexed: Bool = true) {
    self.entries = entries
    hasAnnihilated = entries.anyHeld { $0.kind == .annihilated }
    hasDeletions = hasAnnihilated || entries.anyHeld { $0.kind == .deleted }
    guard isIndexed else {
      _index = [:]
      _temporaries = []
      return
    }
    var index = [ObjectTable.Key: Int](minimumCapacity: entries.count)
    var temporaries: [Int] = []
    for (position, entry) in entries.enumerated() {
      let key = ObjectTable.Key(entry.id)
      index[key] = position
      if key.isTemporary { temporaries.append(position) }
    }
    _index = index
    _temporaries = temporaries
  }

  /// What this layer says of an object; nil if nothing.
  func entry(for key: ObjectTable.Key) -> Entry? { _position(of: key).map { entries[$0] } }

  private func _position(of key: ObjectTable.Key) -> Int? {
    if let position = _index[key] { return position }
    guard !key.isTemporary, !_temporaries.isEmpty else { return nil }
    return _aliases.withLock { aliases in
      // A temporary ID may have learned its key since the layer was made.
      let epoch = NSManagedObjectID.linkEpoch.load(ordering: .acquiring)
      if aliases.epoch != epoch {
        aliases.epoch = epoch
        for position in _temporaries {
          if let permanent = entries[position].id.key {
            aliases.positions[ObjectTable.Key(permanent)] = position
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
      if let position = older._position(of: ObjectTable.Key(entry.id)) {
        entries[position] = composed(entries[position], entry)
      } else {
        extra.append(entry)
      }
    }
    return Layer(entries + extra)
  }

  /// `newer` laid over `older`, both about one object.
  ///
  /// - Parameter withMembers: Whether changes of to-manys are put together, too, which takes as long as they
  ///   are.
  static func composed(_ older: Entry, _ newer: Entry, withMembers: Bool = true) -> Entry {
    if newer.isWhole { return newer }
    switch (older.kind, newer.kind) {
    case (.inserted, .deleted), (.annihilated, _), (.inserted, .annihilated):
      return Entry(
        kind: .annihilated, id: older.id, base: nil, row: nil, changed: SlotSet(), isWhole: older.isWhole)
    case (_, .deleted):
      return Entry(
        kind: .deleted, id: older.id, base: older.base ?? newer.base, row: nil, changed: SlotSet(),
        isWhole: older.isWhole)
    case (.deleted, _):
      return older
    case (.inserted, _):
      return Entry(
        kind: .inserted, id: older.id, base: nil, row: _row(older, newer, version: 1, withMembers),
        changed: older.changed.union(newer.changed), isWhole: older.isWhole)
    default:
      return Entry(
        kind: .updated, id: older.id, base: older.base,
        row: _row(
          older, newer, version: max(older.row?.version ?? 0, newer.row?.version ?? 0),
          withMembers),
        changed: older.changed.union(newer.changed), isWhole: older.isWhole)
    }
  }

  /// Several entries about one object laid over each other, newest first. Each change of a to-many is gone
  /// through once.
  static func composed(_ entries: [Entry], withMembers: Bool) -> Entry {
    let isOrdinary = entries.allSatisfy { $0.row != nil && ($0.kind == .inserted || $0.kind == .updated) }
    let result = entries.dropFirst().reduce(entries[0]) { newer, older in
      composed(older, newer, withMembers: withMembers && !isOrdinary)
    }
    guard withMembers, isOrdinary, let row = result.row else { return result }
    for slot in result.id.space.layout.toManySlots where result.changed.contains(slot) {
      let deltas = entries.compactMap { entry -> ToManyDelta? in
        guard entry.changed.contains(slot), case .toMany(let delta)? = entry.row?[slot] else { return nil }
        return delta
      }
      if !deltas.isEmpty { row.set(.toMany(ToManyDelta.composed(deltas)), at: slot) }
    }
    return result
  }

  private static func _row(
    _ older: Entry, _ newer: Entry, version: Int64, _ withMembers: Bool
  ) -> Row? {
    guard let old = older.row, let new = newer.row else { return newer.row ?? older.row }
    // The newer change was made on top of the older one, unless it comes from a sibling that had not seen it.
    let row = Row(copying: old, version: version)
    newer.changed.forEach { slot in
      if case .toMany(let first) = old[slot], case .toMany(let second) = new[slot],
        older.changed.contains(slot)
      {
        if withMembers { row.set(.toMany(first.followed(by: second)), at: slot) }
      } else {
        row.set(new[slot], at: slot)
      }
    }
    return row
  }
}

/// A cell that an equality index can hold.
enum EqualityKey: Hashable {
  case int(Int64)
  case double(Double)
  case string(String)
  case uuid(UUID)

  init?(_ value: Value) {
    switch value {
    case .int(let int): self = .int(int)
    case .double(let double): self = .double(double)
    case .string(let string): self = .string(string)
    case .uuid(let uuid): self = .uuid(uuid)
    default: return nil
    }
  }
}

/// What a context shows of its unsaved state: layers, oldest first, readable from any thread.
final class PublishedOverlay: Sendable {
  private struct State {
    var layers: [Layer] = []
    /// Saves of children that the context has not looked at yet; on top of `layers`.
    var inbox = Inbox()
    /// Raised with each change of the inbox.
    var mail = 0
  }

  private let _state = Mutex(State())
  private let _hasMail = Atomic<Bool>(false)
  /// Changes noted so far, and how many of them had been noted when the last published state was collected.
  private let _noted = Atomic<Int>(0)
  private let _published = Atomic<Int>(0)
  private let _hasReaders = Atomic<Bool>(false)

  /// The layers that the context has taken over.
  var layers: [Layer] { _state.withLock { $0.layers } }

  /// All layers as children read them, those still on their way included.
  var visibleLayers: [Layer] { visibleLayers { $0.layers() } }

  /// All layers as children read them. Those on their way are put together outside of the lock, which the main
  /// queue takes to deliver.
  ///
  /// - Parameter putTogether: Makes the layers of an inbox.
  func visibleLayers(_ putTogether: (inout Inbox) -> [Layer]) -> [Layer] {
    var (layers, inbox, mail) = _state.withLock { ($0.layers, $0.inbox, $0.mail) }
    if inbox.isEmpty { return layers }
    layers += putTogether(&inbox)
    // Kept for the next reader, unless something has come or gone meanwhile.
    let tidy = inbox
    _state.withLock { state in
      if state.mail == mail { state.inbox = tidy }
    }
    return layers
  }

  /// Whether children have delivered saves that the context has not looked at yet.
  var hasMail: Bool { _hasMail.load(ordering: .acquiring) }

  /// Hands a child's save over without visiting the context's queue.
  func deliver(_ layer: Layer) {
    _state.withLock { state in
      state.inbox.append(layer)
      state.mail += 1
    }
    _hasMail.store(true, ordering: .releasing)
  }

  /// The oldest delivery, without taking it out.
  func nextDelivery() -> Layer? { _state.withLock { $0.inbox.first } }

  /// Takes the oldest delivery out and its layer, as the context makes it, among the context's own.
  func settleDelivery(as layer: Layer) {
    let layers = _pushed(layer)
    _state.withLock { state in
      state.layers = layers
      state.inbox.removeFirst()
      state.mail += 1
      if state.inbox.isEmpty { _hasMail.store(false, ordering: .releasing) }
    }
  }

  /// Whether the context has changes it has not published yet.
  var isStale: Bool { _published.load(ordering: .acquiring) != _noted.load(ordering: .acquiring) }

  /// Mark of the changes noted so far, to be taken before they are collected.
  var noted: Int { _noted.load(ordering: .acquiring) }

  /// Whether any child has ever been there to read.
  var hasReaders: Bool { _hasReaders.load(ordering: .acquiring) }

  func addReader() { _hasReaders.store(true, ordering: .releasing) }

  /// Notes a change; free of cost as long as nobody reads.
  func markStale() {
    if hasReaders { _noted.wrappingAdd(1, ordering: .releasing) }
  }

  /// Notes that changes are published, once their layer is there: a reader that finds nothing stale does not
  /// wait for the context, and must find them.
  func markFresh(upTo noted: Int) { _published.store(noted, ordering: .releasing) }

  /// Lays a layer on top. Layers of like size are merged, so that there are never many and each change is
  /// merged a logarithmic number of times.
  func push(_ layer: Layer) {
    let layers = _pushed(layer)
    _state.withLock { $0.layers = layers }
  }

  private func _pushed(_ layer: Layer) -> [Layer] {
    var layers = self.layers
    guard !layer.entries.isEmpty else { return layers }
    layers.append(layer)
    while layers.count >= 2,
      layers[layers.count - 1].entries.count * 2 >= layers[layers.count - 2].entries.count
        || layers.count > 6 && layers.count >= 2
    {
      let newer = layers.removeLast()
      let older = layers.removeLast()
      layers.append(Layer.merged(older, newer))
    }
    return layers
  }

  func replace(with layers: [Layer]) { _state.withLock { $0.layers = layers } }

  /// Forgets what the context has taken over; what is still on its way stays.
  func clear() { _state.withLock { $0.layers = [] } }
}

extension [Layer] {
  /// The newest entry for an object, composed with older layers' already.
  ///
  /// - Parameter withMembers: False where nobody looks at the to-manys of its row.
  func entry(for key: ObjectTable.Key, withMembers: Bool = true) -> Layer.Entry? {
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
  func contains(_ key: ObjectTable.Key) -> Bool { contains { $0.entry(for: key) != nil } }

  /// One entry for each object that any layer speaks of.
  var composedEntries: [Layer.Entry] {
    guard count > 1 else { return first?.entries ?? [] }
    return dropFirst().reduce(self[0]) { Layer.merged($0, $1) }.entries
  }
}
