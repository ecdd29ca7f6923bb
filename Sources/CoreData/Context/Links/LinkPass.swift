import CoreDataModelSchema

/// Objects for what children have saved, and both ends of links: follows in memory what changes them elsewhere.
///
/// Runs on the context's queue.
struct LinkPass {
  let context: NSManagedObjectContext

  init(_ context: NSManagedObjectContext) { self.context = context }

  // MARK: Objects

  /// Creates the object for an entry that a child saved into this context.
  ///
  /// - Parameter isNew: Whether `awakeFromInsert()` is called for an inserted object.
  func materialize(_ entry: ChangeLayer.Entry, isNew: Bool = true) -> NSManagedObject {
    if let object = context.table.object(for: entry.id) { return object }
    return materialize(
      entry, as: IdentityKey(entry.id), over: KnownRows(in: context).row(for: entry, nil), isNew: isNew)
  }

  /// Creates the object for an entry that a child saved into this context, which has no object of this key.
  ///
  /// - Parameter below: The newest known row, which serves as the base of the change.
  func materialize(
    _ entry: ChangeLayer.Entry, as key: IdentityKey, over below: Row?, isNew: Bool = true
  ) -> NSManagedObject {
    let object = ObjectMaker.make(entry.id.entity)
    object.identify(as: entry.id)
    object.beginAsAdopted(entry, over: below ?? entry.base, in: context)
    context.table.insert(object, as: key)
    if object._layout.hasRelationships, let row = entry.row {
      for slot in object._layout.toOneSlots where entry.sets(slot) {
        move(object, slot, from: object._row?[slot] ?? .null, to: row[slot])
      }
      adoptMembers(of: object, from: row, changed: entry.changed)
      adoptOrders(from: entry, at: object)
    }
    if isNew, entry.kind == .inserted, object._shape.hasOwnClass { object.awakeFromInsert() }
    return object
  }

  /// Creates the objects for all entries of children's saves. Called before sets of objects are returned.
  func materializeAdopted() {
    let layers = context.overlay.layers
    guard !layers.isEmpty else { return }
    for entry in layers.composedEntries where entry.kind != .insertedThenDeleted { _ = materialize(entry) }
  }

  /// Adopts the to-many changes of a child's row.
  func adoptMembers(of object: NSManagedObject, from row: Row, changed: SlotSet) {
    // A child's IDs belong to this context's coordinator.
    func member(_ id: NSManagedObjectID) -> NSManagedObject {
      context.table.object(for: id) ?? context.registry.makeFault(id)
    }
    for slot in object._layout.toManySlots where changed.contains(slot) {
      if object._layout.slots[slot].relationship!.isOneToMany {
        object.makeMembers(slot).touch()
        continue
      }
      // The members of an object deleted here are not linked to it again.
      guard case .toMany(let delta) = row[slot], !object._flags.contains(.deleted) else { continue }
      let state = object.makeMembers(slot)
      if object._row == nil, !state.isRealised { state.realise([]) }
      let known = state.isOrdered && !state.isRealised ? object.members(slot) : state
      // Record even changes that restore what was read here: the child may remove a member that it did not
      // add.
      func set(_ id: NSManagedObjectID, isLinked: Bool) {
        ManyToManyPair(known: object, slot, known, with: member(id)).set(
          isLinked: isLinked, recordedAnyway: true)
      }
      delta.removed.forEachUnretained { if mayExist($0) { set($0, isLinked: false) } }
      delta.added.forEachUnretained { set($0, isLinked: true) }
      if let order = delta.order, known.isRealised { known.reorder(asFarAsKnown: order.map(member)) }
    }
  }
}

extension NSManagedObjectContext {
  /// What follows links.
  @inline(__always)
  final var links: LinkPass { LinkPass(self) }
}
