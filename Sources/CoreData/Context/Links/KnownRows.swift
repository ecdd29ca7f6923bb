import CoreDataModelSchema

/// Memoizes the newest in-memory row of each object in a child's layer while the layer is accepted. Ancestors
/// and stores change meanwhile; links must be resolved against the row that the change is rebased on.
final class KnownRows {
  private unowned let _context: NSManagedObjectContext
  private lazy var _above = ReadChain(peekingAbove: _context)
  private var _rows: [IdentityKey: Row?] = [:]

  init(in context: NSManagedObjectContext) {
    _context = context
  }

  /// Returns this context's or the ancestors' row, if it is no older than the base of the child's update. Nil
  /// if none is in memory. Ignore its to-manys.
  func row(for entry: ChangeLayer.Entry, _ object: NSManagedObject?) -> Row? {
    guard entry.kind == .updated, let base = entry.base else { return nil }
    if let row = object?._row { return row.version >= base.version ? row : nil }
    let key = IdentityKey(entry.id)
    if !_rows.isEmpty, let row = _rows[key] { return row }
    let row = _above.newestRow(for: entry.id).flatMap { $0.version >= base.version ? $0 : nil }
    _rows.updateValue(row, forKey: key)
    return row
  }
}
