import CoreDataModelSchema
import Foundation

/// Deletes all rows that a request finds, with a statement in the next save and without an object for each: a batch
/// deletion that the context shows at once and a rollback takes back.
///
/// Use on the context's queue.
package struct RowDeletions {
  let context: NSManagedObjectContext

  /// Rows that the next save deletes and for which the context has made no objects.
  package var pending: [KeyRun] { context.unreadDeletions }

  /// Has the next save delete the stored rows that a request finds now, and those to which their delete rules
  /// cascade.
  ///
  /// Needs entities whose rules concern no remaining row, of which nothing is unsaved.
  ///
  /// - Returns: The objects among them that the context has, for the caller to delete; nil, with nothing
  ///   done, if the rows need an object each.
  /// - Throws: Errors of the fetch.
  package func delete(matching request: NSFetchRequest<NSManagedObject>) throws
    -> [NSManagedObject]?
  {
    context.checkQueue()
    context.processPendingChanges()
    var plan = try FetchPass(context).plan(for: request)
    let deletion = RowDeletion(context: context)
    guard context._parent == nil, context.overlay.layers.isEmpty, context._undo == nil,
      let coordinator = context.persistentStoreCoordinator,
      let model = context.frozen?.layout, let roots = deletion.rootsDeleted(with: plan.layout, model),
      coordinator.deletesRows(ofRoots: roots, model),
      !context.unsaved.contains(where: { roots.contains($0._layout.rootNumber) })
    else { return nil }
    plan.content = .identity
    plan.sort = []
    var found = FoundRows(context.unreadDeletions)
    if plan.layout.family.count == 1 {
      // Growing would take three times the memory for a moment.
      found.reserve(try coordinator.count(plan, in: request.affectedStores, at: context.readGeneration))
    }
    try coordinator.forEachKey(of: plan, in: request.affectedStores, at: context.readGeneration) {
      found.add($0)
    }
    var runs = found.runs
    var next = 0
    while next < runs.count {
      for slot in runs[next].space.layout.slots.indices where deletion.cascades(slot, runs[next].space.layout)
      {
        runs += try deletion.members(
          of: runs[next], slot, sparing: context.unreadDeletions + runs, coordinator)
      }
      next += 1
    }
    var registered: [NSManagedObject] = []
    context.table.forEach { object in
      if let key = object._key, runs.contains(key) { registered.append(object) }
    }
    for object in registered {
      let key = IdentityKey(of: object)
      if let index = runs.firstIndex(where: { $0.contains(key) }) { runs[index].remove(key) }
    }
    context.unreadDeletions += runs.filter { !$0.keys.isEmpty }
    return registered
  }

  /// Makes objects for the rows after all and deletes them, for what the keys alone do not tell.
  package func readAll() {
    let runs = context.unreadDeletions
    context.unreadDeletions = []
    for run in runs {
      for reference in run.keys {
        context.editing.delete(
          context.registry.object(for: ObjectKey(space: run.space, reference: reference)))
      }
    }
    if !runs.isEmpty { context.processPendingChanges() }
  }

  /// Makes an object for a row that the next save deletes, and deletes it; does nothing for other rows.
  package func read(_ id: NSManagedObjectID) {
    guard let key = id.key,
      let index = context.unreadDeletions.firstIndex(where: { $0.contains(IdentityKey(key)) })
    else { return }
    context.unreadDeletions[index].remove(IdentityKey(key))
    context.editing.delete(context.registry.object(for: key))
  }

  /// Merges the deletion of rows by another context.
  package func merge(_ runs: [KeyRun]) {
    var ids: [NSManagedObjectID] = []
    context.table.forEach { object in
      if let key = object._key, runs.contains(key) { ids.append(object._objectID) }
    }
    if ids.isEmpty { return }
    NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectIDsKey: ids], into: [context])
  }

  /// Whether the results of a fetch depend on more than the keys of the rows to be deleted: a relationship
  /// may lead to them.
  func mustRead(for plan: FetchPlan) -> Bool {
    guard let model = context.frozen?.layout else { return false }
    let names = plan.layout.family.flatMap { number in
      model.layout(numbered: number).slots.filter { $0.relationship != nil }.map(\.name)
    }
    if plan.sort.contains(where: { term in names.contains(term.keyPath.first ?? "") }) { return true }
    guard let predicate = plan.predicate else { return false }
    // A name in the text that is none, as in a constant, does no harm.
    let text = "\(predicate)"
    return names.contains { text.contains($0) }
  }
}

extension NSManagedObjectContext {
  /// The rows that the next save deletes without an object for each.
  package final var rowDeletions: RowDeletions { RowDeletions(context: self) }
}

/// Finds what goes with the rows that a request deletes.
private struct RowDeletion {
  let context: NSManagedObjectContext

  /// The roots whose rows may be deleted with those of an entity; nil if a rule concerns rows that remain.
  func rootsDeleted(with layout: PropertyLayout, _ model: ModelLayout) -> Set<Int>? {
    var roots: Set<Int> = [layout.rootNumber]
    var pending = [layout.rootNumber]
    while let root = pending.popLast() {
      for member in model.layouts where member.rootNumber == root {
        if !member.denyingSlots.isEmpty || !member.derivedSlots.isEmpty { return nil }
        for slot in member.slots.indices where cascades(slot, member) {
          let other = model.layout(numbered: member.slots[slot].relationship!.destination).rootNumber
          if roots.insert(other).inserted { pending.append(other) }
        }
      }
    }
    // A to-one that leads to a deleted row would have to be cleared, unless its own row is deleted as well.
    for other in model.layouts {
      for slot in other.toOneSlots where !other.slots[slot].isHidden {
        guard let relationship = other.slots[slot].relationship else { continue }
        let destination = model.layout(numbered: relationship.destination)
        guard roots.contains(destination.rootNumber) else { continue }
        guard let inverse = relationship.inverseSlot, cascades(inverse, destination) else { return nil }
      }
    }
    return roots
  }

  func cascades(_ slot: Int, _ layout: PropertyLayout) -> Bool {
    let description = layout.slots[slot]
    return description.relationship?.deleteRule == .cascade && !description.isTransient
      && !description.isHidden
  }

  func members(
    of owners: KeyRun, _ slot: Int, sparing known: [KeyRun], _ coordinator: NSPersistentStoreCoordinator
  ) throws -> [KeyRun] {
    var found = FoundRows(known)
    var start = 0
    while start < owners.keys.count {
      let end = min(start + 1000, owners.keys.count)
      let keys = owners.keys[start..<end].map { ObjectKey(space: owners.space, reference: $0) }
      for members in try coordinator.related(to: keys, slot: slot, at: context.readGeneration) {
        for member in members { found.add(member) }
      }
      start = end
    }
    return found.runs
  }
}

/// Collects the keys of rows by entity, without those that are known.
private struct FoundRows {
  private let _known: [KeyRun]
  private var _keys: [(space: ObjectIDSpace, keys: [Int64])] = []
  private var _seen: ObjectIDSpace?
  private var _capacity = 0

  init(_ known: [KeyRun]) { _known = known }

  mutating func reserve(_ count: Int) { _capacity = count }

  mutating func add(_ key: ObjectKey) {
    if !_known.isEmpty, _known.contains(key) { return }
    if let index = _keys.firstIndex(where: { $0.space === key.space }) {
      return _keys[index].keys.append(key.reference)
    }
    var keys: [Int64] = []
    keys.reserveCapacity(_capacity)
    keys.append(key.reference)
    _keys.append((key.space, keys))
  }

  /// The keys; the collection is empty afterwards.
  var runs: [KeyRun] {
    mutating get {
      defer { _keys = [] }
      return _keys.map { KeyRun($0.space, $0.keys) }
    }
  }
}

extension NSPersistentStoreCoordinator {
  /// Whether the stores of all entities of some roots delete rows by their keys.
  final func deletesRows(ofRoots roots: Set<Int>, _ model: ModelLayout) -> Bool {
    let entities = model.layouts.filter { roots.contains($0.rootNumber) }.map(\.entityName)
    return persistentStores.allSatisfy { store in
      guard entities.contains(where: store.takes) else { return true }
      return !store.isReadOnly && store.engine?.deletesRows ?? false
    }
  }
}
