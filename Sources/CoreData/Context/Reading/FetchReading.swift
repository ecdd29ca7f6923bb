import CoreDataModelSchema
import CoreDataPredicateLanguage
import Foundation

/// One fetch in one context: the store's result merged with unsaved changes of the context and its ancestors.
///
/// As in Core Data, the store applies limit and offset to saved values. Unsaved changes are merged into that
/// window, and only the limit is applied again.
final class FetchReading {
  @exclusivity(unchecked) var plan: FetchPlan
  private let _request: AnyFetchRequest
  /// Retained by the caller.
  private unowned(unsafe) let _context: NSManagedObjectContext
  private let _chain: ReadChain
  private let _ownLayers: [ChangeLayer]
  private let _matcher: PendingMatcher
  /// Rows of the fetched entities that the next save deletes.
  private let _deleted: [KeyRun]

  /// Whether any unsaved change may affect the result.
  let needsOverlay: Bool

  init(_ plan: consuming FetchPlan, _ request: AnyFetchRequest, in context: NSManagedObjectContext) throws {
    _matcher = PendingMatcher(plan)
    self.plan = plan
    _request = request
    _context = context
    let includesPending = request.includesPendingChanges && request.resultType != .dictionaryResultType
    if includesPending { context.processPendingChanges() }
    let root = plan.layout.rootNumber
    if includesPending, !context.unreadDeletions.isEmpty,
      !context.unreadDeletions.contains(where: { $0.space.layout.rootNumber == root }),
      context.rowDeletions.mustRead(for: plan)
    {
      context.rowDeletions.readAll()
    }
    _deleted =
      includesPending ? context.unreadDeletions.filter { $0.space.layout.rootNumber == root } : []
    _chain = ReadChain(above: context, isFetch: true)
    _ownLayers = context.overlay.layers
    needsOverlay =
      includesPending
      && (context.unsaved.mayContain(root: root) || _ownLayers.contains { $0.concerns(root: root) }
        || _chain.hasOverlays && _chain.overlays.contains { $0.contains { $0.concerns(root: root) } })
  }

  /// The result of earlier store queries.
  @exclusivity(unchecked) var found: [StoredObject]?

  /// Queries the stores.
  func stored() throws -> [StoredObject] {
    if let found { return found }
    if hidesRows { return try _visible() }
    return try _context.persistentStoreCoordinator?
      .fetch(plan, in: _request.affectedStores, at: _chain.generation) ?? []
  }

  /// Queries the stores for keys only.
  func storedKeys() throws -> KeyList {
    var keys = KeyList()
    try forEachStoredKey { keys.append($0) }
    return keys
  }

  /// Iterates the keys of the stores' results. `body` must not query the stores.
  func forEachStoredKey(_ body: (ObjectKey) -> Void) throws {
    if let found { return found.forEach { body($0.key) } }
    if hidesRows { return try _forEachVisibleKey(body) }
    try _context.persistentStoreCoordinator?
      .forEachKey(of: plan, in: _request.affectedStores, at: _chain.generation, body)
  }

  // MARK: Rows to be deleted

  /// Whether the stores have rows of the fetched entities that are to be deleted. To a fetch they are gone:
  /// limit and offset apply to the others.
  var hidesRows: Bool { !_deleted.isEmpty }

  private func _forEachVisibleKey(_ body: (ObjectKey) -> Void) throws {
    var rest = plan
    (rest.limit, rest.offset, rest.content) = (0, 0, .identity)
    let (limit, offset) = (plan.limit, plan.offset)
    var passed = 0
    try _context.persistentStoreCoordinator?
      .forEachKey(of: rest, in: _request.affectedStores, at: _chain.generation) { key in
        if _deleted.contains(key) { return }
        passed += 1
        if passed > offset, limit == 0 || passed <= offset + limit { body(key) }
      }
  }

  /// Reads the rows by their keys: most of those that the query finds may be among the deleted ones.
  private func _visible() throws -> [StoredObject] {
    var keys: [ObjectKey] = []
    try _forEachVisibleKey { keys.append($0) }
    guard plan.content != .identity, let coordinator = _context.persistentStoreCoordinator else {
      return keys.map { StoredObject(key: $0, row: nil) }
    }
    var result: [StoredObject] = []
    result.reserveCapacity(keys.count)
    while result.count < keys.count {
      let part = Array(keys[result.count..<min(result.count + 1000, keys.count)])
      let rows = try coordinator.rows(for: part, at: _chain.generation)
      result += zip(part, rows).map { StoredObject(key: $0, row: $1) }
    }
    return result
  }

  /// Returns the objects found, including unsaved changes.
  func objects() throws -> [NSManagedObject] {
    guard needsOverlay else { return try stored().map { _context.registry.object(for: $0) } }
    return try _fold(sortsUnsaved: true).map { candidate in
      switch candidate {
      case .object(let object): object
      case .stored(let stored): _context.registry.object(for: stored)
      case .entry(let entry, let row): _object(for: entry, row)
      }
    }
  }

  /// Returns the IDs found, including unsaved changes.
  ///
  /// - Parameter sortsUnsaved: Whether unsaved objects are placed by the sort descriptors, or appended.
  func identities(sortsUnsaved: Bool) throws -> [NSManagedObjectID] {
    try _fold(sortsUnsaved: sortsUnsaved).map { candidate in
      switch candidate {
      case .object(let object): object._objectID
      case .stored(let stored): _context.registry.id(for: stored.key) ?? NSManagedObjectID(stored.key)
      case .entry(let entry, _): _context.table.object(for: entry.id)?._objectID ?? entry.id
      }
    }
  }

  // MARK: Counting

  /// Most objects with unsaved state for which the stores are asked what they have of them.
  private static let _mostCompared = 1000

  /// Counts the result without listing it: what the stores count, and the difference that unsaved changes
  /// make.
  ///
  /// - Returns: Nil if that does not give the result: with a limit or an offset, for stores that list to
  ///   count, and if an ancestor has unsaved changes, which it may be saving meanwhile.
  func count() throws -> Int? {
    guard plan.limit == 0, plan.offset == 0, !hidesRows, !_chain.hasOverlays,
      let coordinator = _context.persistentStoreCoordinator,
      coordinator.persistentStores.allSatisfy({ $0.engine?.evaluatesPredicates == false })
    else { return nil }
    let overlaid = _overlaidIDs()
    if overlaid.count > Self._mostCompared { return nil }
    let stores = _request.affectedStores
    var count = try coordinator.count(plan, in: stores, at: _chain.generation)
    var replaced: [ObjectKey] = []
    if !overlaid.isEmpty, count > 0 {
      var compared = plan
      (compared.content, compared.sort) = (.identity, [])
      let isOverlaid = NSPredicate(format: "SELF IN %@", overlaid as NSArray)
      try compared.setPredicate(
        _request.predicate.map { NSCompoundPredicate(andPredicateWithSubpredicates: [isOverlaid, $0]) }
          ?? isOverlaid)
      try coordinator.forEachKey(of: compared, in: stores, at: _chain.generation) { replaced.append($0) }
      count -= replaced.count
    }
    var seen = IdentitySet()
    // An index of unsaved values need not know those that a child has left as they are.
    for key in replaced where seen.insert(key) {
      if let state = _state(of: IdentityKey(key), key), try _matches(state) { count += 1 }
    }
    for candidate in _candidates() where _insert(candidate, into: &seen) {
      if try _matches(candidate) { count += 1 }
    }
    return count
  }

  /// Returns the IDs of the stored objects with unsaved state, some more than once.
  private func _overlaidIDs() -> [NSManagedObjectID] {
    let root = plan.layout.rootNumber
    var ids = _context.unsaved.objects.compactMap { object in
      object._flags.contains(.listed) && object._layout.rootNumber == root
        ? object._objectID.permanent : nil
    }
    for layer in _ownLayers {
      ids += layer.entries.compactMap { $0.id.space.layout.rootNumber == root ? $0.id.permanent : nil }
    }
    return ids
  }

  // MARK: Unsaved changes alone

  /// Whether an object has unsaved state, which replaces the stored one.
  func isOverlaid(_ identity: ObjectKey) -> Bool { _state(of: IdentityKey(identity), identity) != nil }

  /// Returns the objects whose unsaved state belongs to the result, unordered.
  func unsavedObjects() throws -> [NSManagedObject] {
    var seen = IdentitySet()
    return try _candidates().compactMap { candidate in
      guard _insert(candidate, into: &seen), try _matches(candidate) else { return nil }
      switch candidate {
      case .object(let object): return object
      case .entry(let entry, let row): return _object(for: entry, row)
      case .stored: return nil
      }
    }
  }

  // MARK: Merging unsaved changes

  private enum Candidate {
    case stored(StoredObject)
    /// An object of the context with unsaved changes of its own.
    case object(NSManagedObject)
    /// An entry that a child saved into this context or that is unsaved in an ancestor, and its resulting
    /// row; nil for a deletion.
    case entry(ChangeLayer.Entry, Row?)
  }

  private func _fold(sortsUnsaved: Bool) throws -> [Candidate] {
    var results: [Candidate] = []
    var seen = IdentitySet()
    var isDisturbed = false
    for stored in try self.stored() {
      guard seen.insert(stored.key) else { continue }
      guard let state = _state(of: IdentityKey(stored.key), stored.key) else {
        results.append(.stored(stored))
        continue
      }
      isDisturbed = true
      if try _matches(state) { results.append(state) }
    }
    let found = results.count
    for candidate in _candidates() {
      guard _insert(candidate, into: &seen), try _matches(candidate) else { continue }
      results.append(candidate)
    }
    if results.count > found { isDisturbed = true }
    if isDisturbed, sortsUnsaved, !plan.sort.isEmpty { try _sort(&results) }
    if plan.limit > 0, results.count > plan.limit { results.removeLast(results.count - plan.limit) }
    return results
  }

  /// Returns the unsaved state of an object from the nearest level that has any.
  private func _state(of key: IdentityKey, _ identity: ObjectKey) -> Candidate? {
    if let object = _context.table.object(for: identity), object._flags.contains(.listed) {
      return .object(object)
    }
    return (_ownLayers.entry(for: key, withMembers: false) ?? _chain.entry(for: key)).map(_candidate)
  }

  private func _candidate(_ entry: ChangeLayer.Entry) -> Candidate {
    func isOwn() -> Bool { _ownLayers.contains(IdentityKey(entry.id)) }
    // Transient values stay in the context that has them.
    let entry = entry.id.space.layout.hasTransients && !isOwn() ? entry.persistent : entry
    // An insertion has no base, and a deletion no result.
    guard entry.kind == .updated else { return .entry(entry, entry.row) }
    let above = _chain.newestRow(for: entry.id)
    return .entry(entry, isOwn() ? entry.row(over: above) : above ?? entry.row)
  }

  private func _insert(_ candidate: Candidate, into seen: inout IdentitySet) -> Bool {
    switch candidate {
    case .stored(let stored): seen.insert(stored.key)
    case .object(let object): seen.insert(object)
    case .entry(let entry, _): seen.insert(entry.id)
    }
  }

  /// Returns the unsaved objects that may match: through an index if the predicate fixes an attribute to a
  /// value or limits it to a range, otherwise all.
  private func _candidates() -> [Candidate] {
    let root = plan.layout.rootNumber
    var candidates: [Candidate] = []
    if !_context.unsaved.isEmpty {
      for object in _ownCandidates(root)
      where object._flags.contains(.listed) && object._layout.rootNumber == root {
        if !object.isFault, let row = object._current, _isExcluded(row) { continue }
        candidates.append(.object(object))
      }
    }
    var levels = _chain.overlays
    if !_ownLayers.isEmpty { levels.insert(_ownLayers, at: 0) }
    for (depth, layers) in levels.enumerated() {
      for layer in layers.reversed() {
        let entries = _candidates(root, of: layer)
        let isAlone = levels.count == 1 && layers.count == 1
        for entry in entries where entry.id.space.layout.rootNumber == root {
          // An insertion that nothing else changes has its whole row here.
          if isAlone, entry.kind == .inserted, let row = entry.row, _isExcluded(row) { continue }
          let key = IdentityKey(entry.id)
          // The nearest level wins; within a level, all layers are composed.
          if let object = _context.table.object(for: entry.id), object._flags.contains(.listed) { continue }
          // A nearer level's entry may have this level's value: one that it has not changed.
          let nearest = levels[...depth].lazy.compactMap { $0.entry(for: key, withMembers: false) }.first
          if let nearest { candidates.append(_candidate(nearest)) }
        }
      }
    }
    return candidates
  }

  private func _ownCandidates(_ root: Int) -> [NSManagedObject] {
    let pending = _context.unsaved.objects
    if let pin = _matcher.pin {
      return _context.unsaved.index.candidates(root: root, slot: pin.slot, equalTo: pin.key, among: pending)
    }
    return _matcher.range.flatMap { _context.unsaved.index.candidates(root: root, in: $0, among: pending) }
      ?? pending
  }

  private func _candidates(_ root: Int, of layer: ChangeLayer) -> [ChangeLayer.Entry] {
    if let pin = _matcher.pin { return layer.candidates(root: root, slot: pin.slot, equalTo: pin.key) }
    return _matcher.range.flatMap { layer.candidates(root: root, in: $0) } ?? layer.entries
  }

  /// Whether values alone tell that their object does not match: most of many unsaved objects are excluded so
  /// before anything is looked up.
  private func _isExcluded(_ row: Row) -> Bool { _matcher.test.verdict(row) == false }

  private func _matches(_ candidate: Candidate) throws -> Bool {
    switch candidate {
    case .stored: true
    case .object(let object):
      try _isAlive(object._flags) && _isWanted(object._layout) && _matcher.matches(object)
    case .entry(let entry, let row?):
      try _isWanted(entry.id.space.layout) && _matcher.matches(row) { _object(for: entry, row) }
    case .entry(_, nil): false
    }
  }

  private func _isAlive(_ flags: ObjectFlags) -> Bool { !flags.contains(.deleted) }

  private func _isWanted(_ layout: PropertyLayout) -> Bool {
    plan.includesSubentities
      ? layout.isKind(of: plan.layout) : layout.entityNumber == plan.layout.entityNumber
  }

  /// Returns this context's object for an entry of its own layers or an ancestor's.
  private func _object(for entry: ChangeLayer.Entry, _ row: Row?) -> NSManagedObject {
    if let object = _context.registry.heldObject(for: entry.id) {
      object.attachIfUnread(row)
      return object
    }
    if let own = _ownLayers.entry(for: IdentityKey(entry.id)) { return _context.links.materialize(own) }
    return _context.registry.make(entry.id, row: row)
  }

  // MARK: Sorting

  private func _sort(_ results: inout [Candidate]) throws {
    let ordering = RowOrdering(plan)
    if let simple = ordering.bySlot {
      let rows = try results.enumerated().map { (position: $0.offset, row: try _row($0.element)) }
      let order = rows.sorted { left, right in
        let verdict = simple(left.row, right.row)
        return verdict == 0 ? left.position < right.position : verdict < 0
      }
      results = order.map { results[$0.position] }
      return
    }
    let objects = results.map { candidate -> NSManagedObject in
      switch candidate {
      case .object(let object): object
      case .stored(let stored): _context.registry.object(for: stored)
      case .entry(let entry, let row): _object(for: entry, row)
      }
    }
    let order = try ordering.sorted(objects)
    let positions = Dictionary(uniqueKeysWithValues: objects.enumerated().map { (ObjectIdentifier($1), $0) })
    results = order.map { results[positions[ObjectIdentifier($0)]!] }
  }

  /// The values to sort a candidate by, unsaved ones first.
  private func _row(_ candidate: Candidate) throws -> Row? {
    switch candidate {
    case .stored(let stored):
      try stored.row ?? _context.table.object(for: stored.key)?._current ?? _unfetchedRow(stored)
    case .object(let object): object._current
    case .entry(_, let row): row
    }
  }

  /// Returns the row of an object for which the store returned only the ID.
  private func _unfetchedRow(_ stored: StoredObject) throws -> Row? {
    guard plan.content == .values else { return nil }
    return try _context.persistentStoreCoordinator?.row(for: stored.key, at: _chain.generation)
  }
}
