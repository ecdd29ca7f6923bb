import CoreData
import CoreDataModelSchema
import CoreDataSQLiteBinding
import CoreDataToolKit
import Foundation

/// Writes the objects of an export into a store in three passes over the input: their names, their rows, the
/// members of their to-many relationships. Memory use does not depend on the size of the input.
final class StoreImporter {
  /// The outcome of an import.
  struct Outcome {
    var objects = 0
    /// Number of omitted references to objects that the input lacks.
    var skipped = 0
    /// Number of links of relationships that are their own inverse which the input has one way only, and the
    /// store both ways.
    var completed = 0
    /// Number of objects that lack a mandatory value, and the location of the first one.
    var incomplete = 0
    var firstIncomplete: String?
  }

  private let _writer: StoreWriter
  private let _input: SpooledInput
  private let _form: ExchangeForm
  private let _skipsMissing: Bool
  private let _keys: ImportKeys
  private let _converter: RecordConverter
  private let _progress: (Double, String) -> Void
  private var _outcome = Outcome()
  private static let _batchSize = 1000

  /// - Parameters:
  ///   - skipsMissing: Whether to skip references to objects that the input lacks, instead of failing.
  ///   - progress: Called with the progress of the import, 0 to 1.
  init(
    _ input: SpooledInput, _ form: ExchangeForm, into writer: StoreWriter, skipsMissing: Bool,
    progress: @escaping (Double, String) -> Void
  ) throws {
    _input = input
    _form = form
    _writer = writer
    _skipsMissing = skipsMissing
    _progress = progress
    _keys = try ImportKeys(writer.layout, keepsKeys: writer.isNew)
    _converter = RecordConverter(writer.layout, _keys, skipsMissing: skipsMissing)
  }

  /// - Throws: `ToolFailure` with the location in the input; a Cocoa error from the store.
  func run() throws -> Outcome {
    try _eachRecord(0, "names") { record, entity in
      guard try _keys.add(record.identifier, entity) else {
        throw ToolFailure(
          .badInput, "\(record.place): the $id '\(record.identifier ?? "")' occurs a second time.")
      }
    }
    try _keys.finish(_writer)
    let hasMembers = try _writeRows()
    if hasMembers { try _writeMembers() }
    // Values in the input are kept; an omitted side follows the other.
    if _converter.omitsToOnes {
      try _writer.write { try StoreRepairer.completeInverses(_writer.anatomy, on: $0) }
    }
    _outcome.skipped = _converter.skipped
    if hasMembers, !_writer.keepsOneSided { _outcome.completed = try _writer.completedLinkCount() }
    return _outcome
  }

  private func _eachRecord(
    _ run: Double, _ label: String, _ body: (InputRecord, PropertyLayout) throws -> Void
  ) throws {
    let source = try RecordSources.open(_input, _form)
    while let record = try source.next() {
      try body(record, try _converter.entity(of: record))
      _progress((run + source.fraction) / 3, label)
    }
  }

  // MARK: Rows

  private func _writeRows() throws -> Bool {
    var hasMembers = false
    var batch: [(row: StoredRow, place: String)] = []
    var run = ImportKeys.Run(_keys)
    var moments: [(row: StoredReference, column: String, table: String, seconds: Double)] = []
    func flush() throws {
      try _insert(batch)
      batch.removeAll(keepingCapacity: true)
      try _write(moments)
      moments.removeAll(keepingCapacity: true)
    }
    try _eachRecord(1, "objects") { record, entity in
      let reference = try run.reference(record.identifier, entity)
      let converted = try _converter.convert(record, entity, reference)
      if converted.hasMembers { hasMembers = true }
      if converted.isIncomplete {
        _outcome.incomplete += 1
        if _outcome.firstIncomplete == nil { _outcome.firstIncomplete = record.place }
      }
      for (slot, seconds) in converted.moments {
        let table = _writer.anatomy.table(of: entity.entityNumber)
        let name = entity.slots[slot].name, owner = entity.slots[slot].owner
        if let column = table.attributes.first(where: { $0.owner == owner && $0.property == name })?.column {
          moments.append((reference, column, table.name, seconds))
        }
      }
      batch.append((converted.row, record.place))
      _outcome.objects += 1
      if batch.count == Self._batchSize { try flush() }
    }
    try flush()
    return hasMembers
  }

  private func _insert(_ batch: [(row: StoredRow, place: String)]) throws {
    guard let first = batch.first, let last = batch.last else { return }
    do {
      try _writer.insert(batch.map(\.row))
    } catch let error as CocoaError where error.errorCode == NSManagedObjectConstraintMergeError {
      let message = error.debugText
      throw ToolFailure(.badInput, "\(first.place) to \(last.place): \(message)")
    }
  }

  /// Restores times from the input after a trigger has set them to now.
  private func _write(_ moments: [(row: StoredReference, column: String, table: String, seconds: Double)])
    throws
  {
    if moments.isEmpty { return }
    try _writer.write { connection in
      for moment in moments {
        try connection.query(
          "UPDATE \(moment.table) SET \(moment.column) = ? WHERE Z_PK = ?",
          [.double(moment.seconds), .int(moment.row.key)])
      }
    }
  }

  // MARK: Members

  private func _writeMembers() throws {
    var lists: [StoreWriter.Members] = []
    var places: [StoredReference: String] = [:]
    var run = ImportKeys.Run(_keys)
    func flush() throws {
      do {
        try _writer.connect(lists)
      } catch let error as StoreWriter.Contradiction {
        let entity = _writer.layout.layout(numbered: error.owner.entity)
        throw ToolFailure(
          .badInput,
          "\(places[error.owner] ?? _input.name): '\(entity.slots[error.slot].name)' has a member whose own side of "
            + "the relationship says another owner.")
      }
      lists.removeAll(keepingCapacity: true)
      places.removeAll(keepingCapacity: true)
    }
    try _eachRecord(2, "relationships") { record, entity in
      let reference = try run.reference(record.identifier, entity)
      let found = try _converter.members(record, entity, reference)
      if found.isEmpty { return }
      lists += found
      places[reference] = record.place
      if lists.count >= Self._batchSize { try flush() }
    }
    try flush()
  }
}
