import CoreDataModelSchema
import Foundation

// Observes the context: k changes among n results cost O(k log n).

extension FetchedResultsCore: ContextObserver {
  func contextWasReset(_ context: NSManagedObjectContext) { isFollowing = false }

  /// A save has assigned permanent IDs to inserted objects. If the last snapshot contains their temporary
  /// IDs, another snapshot follows.
  func contextDidSave(_ context: NSManagedObjectContext) {
    if isFollowing, hasOutdatedIDs() { sendSnapshot() }
  }

  func context(_ context: NSManagedObjectContext, didProcess changes: EventSets, merged: [MergedRow]) {
    guard isFollowing, delegate != nil, let plan, let keys, let matcher else { return }
    var batch = FetchedChanges(self, plan, keys, matcher)
    for object in changes.deleted { batch.remove(object) }
    for object in changes.inserted { batch.consider(object) }
    for object in changes.updated { batch.consider(object) }
    for object in changes.refreshed { batch.consider(object) }
    for update in merged { batch.consider(update) }
    guard !batch.isEmpty else { return }
    batch.apply()
    batch.announce()
  }
}

/// One round of changes to the results: evaluated, applied, then reported.
struct FetchedChanges {
  private let _core: FetchedResultsCore
  private let _plan: FetchPlan
  private let _keys: FetchedKeys
  private let _matcher: PendingMatcher

  private var _seen = Set<ObjectIdentifier>()
  private var _deletions: [(result: FetchedResult, old: IndexPath)] = []
  private var _insertions: [FetchedResult] = []
  private var _moves: [(result: FetchedResult, keys: SortKeys, name: String, old: IndexPath)] = []
  private var _updates: [(result: FetchedResult, old: IndexPath)] = []
  /// Section names of the insertions, in the same order.
  private var _insertionNames: [String] = []
  /// Sections that lost results, with their former index.
  private var _drained: [ObjectIdentifier: (section: FetchedSection, old: Int)] = [:]
  private var _deletedSections: [(section: FetchedSection, old: Int)] = []
  private var _insertedSections: [FetchedSection] = []

  init(_ core: FetchedResultsCore, _ plan: FetchPlan, _ keys: FetchedKeys, _ matcher: PendingMatcher) {
    _core = core
    _plan = plan
    _keys = keys
    _matcher = matcher
  }

  /// Compares by sort keys and counts comparisons.
  private func _order(_ left: SortKeys, _ right: SortKeys) -> Int {
    _core.comparisons &+= 1
    return _keys.order(left, right)
  }

  var isEmpty: Bool { _deletions.isEmpty && _insertions.isEmpty && _moves.isEmpty && _updates.isEmpty }

  // MARK: Evaluating

  mutating func remove(_ object: NSManagedObject) {
    guard _seen.insert(ObjectIdentifier(object)).inserted,
      let result = _core.results[ObjectIdentifier(object)]
    else {
      return
    }
    _deletions.append((result, _core.path(of: result)))
  }

  mutating func consider(_ object: NSManagedObject) {
    guard _isWanted(object._layout), _seen.insert(ObjectIdentifier(object)).inserted else { return }
    let result = _core.results[ObjectIdentifier(object)]
    do {
      guard object._context === _core.context, !object._flags.contains(.deleted),
        let row = try _core.context.row(of: object),
        try _matcher.matches(row, object: { object })
      else {
        if let result { _deletions.append((result, _core.path(of: result))) }
        return
      }
      let keys = try _keys.sortKeys(of: object, row)
      let name = _keys.sectionName(of: object, row)
      guard let result else {
        // Its section is determined when it is placed.
        _insertions.append(FetchedResult(object, keys: keys, section: _core.placeholder))
        _insertionNames.append(name)
        return
      }
      let old = _core.path(of: result)
      if name == result.section.name, _order(keys, result.keys) == 0 || _fits(keys, old) {
        result.keys = keys
        result.section.results.setRank(_keys.rank(of: keys), of: result.handle)
        _updates.append((result, old))
      } else {
        _moves.append((result, keys, name, old))
      }
    } catch {
      Console.warn(
        "a fetched results controller cannot tell whether \(object.objectID) belongs to its results, and leaves it as it is: "
          + "\(error)")
    }
  }

  /// Evaluates an update of an object that the context has not loaded.
  mutating func consider(_ update: MergedRow) {
    guard _isWanted(update.id.space.layout) else { return }
    let context = _core.context
    if let object = context.table.object(for: update.id) {
      object.attachIfUnread(update.row)
      consider(object)
      return
    }
    // Created only if it belongs to the results, or if only the object can decide that.
    if let row = update.row, context.overlay.layers.isEmpty {
      // One that cannot be evaluated is considered as an object, which reports why.
      guard (try? _matcher.matches(row) { _object(for: update) }) ?? true else { return }
    }
    consider(_object(for: update))
  }

  private func _object(for update: MergedRow) -> NSManagedObject {
    let object = _core.context.registry.objectOrFault(update.id)
    object.attachIfUnread(update.row)
    return object
  }

  private func _isWanted(_ layout: PropertyLayout) -> Bool {
    _plan.includesSubentities
      ? layout.isKind(of: _plan.layout) : layout.entityNumber == _plan.layout.entityNumber
  }

  /// Whether a result with new keys may keep its position between its neighbours.
  private func _fits(_ keys: SortKeys, _ path: IndexPath) -> Bool {
    let results = _core.sections![path.section].results
    if path.item > 0, _order(results[path.item - 1].keys, keys) > 0 { return false }
    if path.item + 1 < results.count, _order(keys, results[path.item + 1].keys) > 0 { return false }
    // The first and last of a section must not pass the adjacent section either.
    if path.item == 0, path.section > 0, let before = _core.sections![path.section - 1].results.last,
      _order(before.keys, keys) > 0
    {
      return false
    }
    if path.item == results.count - 1, path.section + 1 < _core.sections!.count,
      _order(keys, _core.sections![path.section + 1].keys) > 0
    {
      return false
    }
    return true
  }

  // MARK: Applying

  mutating func apply() {
    _core.openSnapshot?.loadContent()
    for (result, old) in _deletions {
      _remove(result, from: old)
      _core.remove(result)
    }
    for move in _moves {
      _remove(move.result, from: move.old)
      move.result.keys = move.keys
    }
    var arrivals: [(result: FetchedResult, name: String)] = _moves.map { ($0.result, $0.name) }
    arrivals += zip(_insertions, _insertionNames).map { ($0, $1) }
    if _core.sectionNameKeyPath != nil {
      // In order, so that results of a new section arrive with its first. Not through `self`, which each call
      // of the closure would copy.
      let (core, keys) = (_core, _keys)
      arrivals.sort { left, right in
        core.comparisons &+= 1
        return keys.order(left.result.keys, right.result.keys) < 0
      }
    }
    for (result, name) in arrivals {
      _insert(result, name)
      _core.add(result)
    }
    for (section, old) in _drained.values where section.results.isEmpty && section.handle != nil {
      _drop(section, old)
    }
    _core.advanceVersion()
  }

  private mutating func _remove(_ result: FetchedResult, from old: IndexPath) {
    let section = result.section
    _drained[ObjectIdentifier(section)] = _drained[ObjectIdentifier(section)] ?? (section, old.section)
    if section.results.count == 1 { section.pivot = result.keys }
    _core.record(result, isRemoved: true)
    section.remove(result)
  }

  private mutating func _insert(_ result: FetchedResult, _ name: String) {
    let section = _section(named: name, for: result.keys)
    let (keys, rank) = (result.keys, _keys.rank(of: result.keys))
    let place = section.results.partitionPoint(beside: rank) { _order($0.keys, keys) <= 0 }
    section.insert(result, at: place, rank: rank)
    _core.record(result, isRemoved: false)
  }

  /// Returns the section of this name, created or moved if there is none where the keys belong.
  private mutating func _section(named name: String, for keys: SortKeys) -> FetchedSection {
    if _core.sectionNameKeyPath == nil, let only = _core.sections?.first { return only }
    if let section = _core.sectionsByName[name] {
      if !section.results.isEmpty || _core.sectionNameKeyPath == nil || _stays(section, keys) {
        return section
      }
      _drop(
        section, _drained[ObjectIdentifier(section)]?.old ?? _core.sections!.position(of: section.handle!))
    }
    let section = FetchedSection(name, _core)
    section.pivot = keys
    let place = _core.sections!.partitionPoint { _order($0.keys, keys) <= 0 }
    section.handle = _core.sections!.insert(section, at: place)
    _core.sectionsByName[name] = section
    _insertedSections.append(section)
    return section
  }

  /// Whether a section that has lost all results can take one with these keys without moving.
  private func _stays(_ section: FetchedSection, _ keys: SortKeys) -> Bool {
    let sections = _core.sections!
    let position = sections.position(of: section.handle!)
    var before = position - 1
    while before >= 0, sections[before].results.isEmpty { before -= 1 }
    if before >= 0, _order(sections[before].results.last!.keys, keys) > 0 { return false }
    var after = position + 1
    while after < sections.count, sections[after].results.isEmpty { after += 1 }
    if after < sections.count, _order(keys, sections[after].keys) > 0 { return false }
    return true
  }

  private mutating func _drop(_ section: FetchedSection, _ old: Int) {
    // Without a section key path, results always have a single section.
    guard _core.sectionNameKeyPath != nil else { return }
    _core.sections!.remove(section.handle!)
    section.handle = nil
    if _core.sectionsByName[section.name] === section { _core.sectionsByName[section.name] = nil }
    _deletedSections.append((section, old))
  }

  // MARK: Reporting

  func announce() {
    guard let delegate = _core.delegate, let controller = _core.owner?.face else { return }
    if !_core.isSnapshotMissing, _core.sendSnapshot(reloading: _updates.map(\.result) + _moves.map(\.result))
    {
      return
    }
    if _core.sectionNameKeyPath == nil, !_core.isDifferenceMissing {
      delegate.controller(controller, didChangeContentWith: _difference())
      if !_core.isDifferenceMissing { return }
    }
    delegate.controllerWillChangeContent(controller)
    for (section, old) in _deletedSections.ordered(by: { $0.old < $1.old }) {
      delegate.controller(controller, didChange: section, atSectionIndex: old, for: .delete)
    }
    let inserted = _insertedSections.compactMap { section in
      section.handle.map { (section, _core.sections!.position(of: $0)) }
    }
    for (section, new) in inserted.ordered(by: { $0.1 < $1.1 }) {
      delegate.controller(controller, didChange: section, atSectionIndex: new, for: .insert)
    }
    // Collect all paths first: a delegate that changes objects now starts a round of its own.
    let insertions = InOrder(_insertions.map { (nil, _core.path(of: $0)) }, by: { $0.new })
    let moves = InOrder(_moves.map { ($0.old, _core.path(of: $0.result)) }, by: { $0.new })
    let updates = InOrder(_updates.map { ($0.old, _core.path(of: $0.result)) }, by: { $0.old! })
    let deletions = InOrder(_deletions.map { ($0.old, $0.old) }, by: { $0.new })
    deletions.forEach { index, old, _ in
      delegate.controller(
        controller, didChange: _deletions[index].result.object, at: old, for: .delete, newIndexPath: nil)
    }
    insertions.forEach { index, _, new in
      delegate.controller(
        controller, didChange: _insertions[index].object, at: nil, for: .insert, newIndexPath: new)
    }
    moves.forEach { index, old, new in
      delegate.controller(
        controller, didChange: _moves[index].result.object, at: old, for: .move, newIndexPath: new)
    }
    updates.forEach { index, old, new in
      delegate.controller(
        controller, didChange: _updates[index].result.object, at: old, for: .update, newIndexPath: new)
    }
    delegate.controllerDidChangeContent(controller)
  }

  /// The round as removals and insertions of IDs; a move is an associated pair.
  private func _difference() -> CollectionDifference<NSManagedObjectID> {
    typealias Change = CollectionDifference<NSManagedObjectID>.Change
    // In order: CollectionDifference sorts generic values, which costs 5 µs a change if they are not.
    var removals: [(offset: Int, new: Int?, result: FetchedResult)] = []
    var insertions: [(offset: Int, old: Int?, result: FetchedResult)] = []
    for (result, old) in _deletions { removals.append((old.item, nil, result)) }
    for result in _insertions { insertions.append((result.item, nil, result)) }
    for move in _moves {
      let new = move.result.item
      removals.append((move.old.item, new, move.result))
      insertions.append((new, move.old.item, move.result))
    }
    removals.sort { $0.offset < $1.offset }
    insertions.sort { $0.offset < $1.offset }
    var steps: [Change] = []
    steps.reserveCapacity(removals.count + insertions.count)
    for (offset, new, result) in removals {
      steps.append(.remove(offset: offset, element: result.object.objectID, associatedWith: new))
    }
    for (offset, old, result) in insertions {
      steps.append(.insert(offset: offset, element: result.object.objectID, associatedWith: old))
    }
    // The offsets of a round are distinct on each side, as CollectionDifference requires.
    return CollectionDifference(steps)!
  }
}

/// The paths of some reports, in order. Index paths are slow to compare and large to move, so numbers are sorted.
private struct InOrder {
  typealias Paths = (old: IndexPath?, new: IndexPath)

  private let _paths: [Paths]
  private var _places: [(place: Int, index: Int)] = []

  /// - Parameter path: Returns the path by which the reports are ordered.
  init(_ paths: [Paths], by path: (Paths) -> IndexPath) {
    _paths = paths
    _places.reserveCapacity(paths.count)
    for (index, paths) in paths.enumerated() {
      let path = path(paths)
      _places.append((path.section << 40 | path.item, index))
    }
    _places.sort { $0.place < $1.place }
  }

  /// Passes the index and the paths of each report in order.
  func forEach(_ body: (Int, IndexPath?, IndexPath) -> Void) {
    for (_, index) in _places { body(index, _paths[index].old, _paths[index].new) }
  }
}
