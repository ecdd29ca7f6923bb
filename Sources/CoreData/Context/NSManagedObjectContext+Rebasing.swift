import CoreDataModelSchema

// Laying a child's changes over what this context knows of the objects by now.

extension NSManagedObjectContext {
  /// A child's layer, changes on top of the newest rows known here: what the child has not changed is not
  /// taken from it, as it may have read the object long ago.
  ///
  /// Reads nothing and waits for nobody. Objects with unsaved changes here are left out: what the child has
  /// changed is laid over them slot by slot anyway.
  final func rebased(_ layer: Layer, knowing known: KnownRows) -> Layer {
    let layers = overlay.layers
    var entries: [Layer.Entry]?
    for position in layer.entries.indices where layer.entries[position].kind == .updated {
      let entry = layer.entries[position]
      guard let base = entry.base else { continue }
      let key = ObjectTable.Key(entry.id)
      let object = table.object(for: entry.id)
      if object?._flags.contains(.listed) ?? false || layers.contains(key) { continue }
      guard let newest = known.row(for: entry, object, keeping: false), !(newest === base),
        let rebased = entry.rebased(on: newest)
      else { continue }
      if entries == nil { entries = layer.entries }
      entries![position] = rebased
    }
    return entries.map { Layer($0) } ?? layer
  }
}

/// The newest rows known in memory of objects that a child has changed, for as long as its layer is taken
/// over.
///
/// Ancestors and stores go on meanwhile. Whoever asks for an object again gets the row that he got before: a
/// link is settled and the change rebased on the same values, or nobody would tell the target that loses the
/// link.
final class KnownRows {
  private unowned let _context: NSManagedObjectContext
  /// Made for the first object that this context shows no values of; putting together what ancestors have
  /// takes a while.
  private lazy var _above = _context._parent.map { _ in ReadChain(peekingAbove: _context) }
  private lazy var _generation = _context.readGeneration
  private var _rows: [ObjectTable.Key: Row?] = [:]

  init(in context: NSManagedObjectContext) {
    _context = context
  }

  /// A row no older than the one that a child's update was made on, of an object without unsaved changes
  /// here: this context's, an ancestor's, the stores'. Nil if none is in memory. Its to-manys say nothing.
  ///
  /// - Parameter keeping: Whether somebody may ask for the same object again.
  func row(for entry: Layer.Entry, _ object: NSManagedObject?, keeping: Bool) -> Row? {
    guard entry.kind == .updated, let base = entry.base else { return nil }
    if let row = object?._row { return row.version >= base.version ? row : nil }
    let key = ObjectTable.Key(entry.id)
    if !_rows.isEmpty, let row = _rows[key] { return row }
    let row =
      _above?.entry(for: key)?.row
      ?? entry.id.key.flatMap {
        _context.persistentStoreCoordinator?.cachedRow(for: $0, at: _generation)
      }
    let known = row.flatMap { $0.version >= base.version ? $0 : nil }
    if keeping { _rows.updateValue(known, forKey: key) }
    return known
  }
}

extension Layer.Entry {
  /// The same changes made to a newer row; nil if that makes no difference.
  func rebased(on newer: Row) -> Layer.Entry? {
    guard let base, let row else { return nil }
    let slots = id.space.layout.slots
    let isSame = slots.indices.allSatisfy { slot in
      slots[slot].isToMany || slots[slot].isTransient || newer[slot] == base[slot]
    }
    if isSame, newer.version == base.version { return nil }
    let rebased = row.rebased(from: base, onto: newer, changed: changed, layout: id.space.layout)
    for slot in id.space.layout.toManySlots { rebased.set(row[slot], at: slot) }
    return Layer.Entry(kind: kind, id: id, base: newer, row: rebased, changed: changed, isWhole: isWhole)
  }
}
