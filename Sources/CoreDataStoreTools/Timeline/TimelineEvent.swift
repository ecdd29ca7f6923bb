import CoreData
import CoreDataModelSchema
import CoreDataSQLiteBinding
import CoreDataToolKit

/// Something that a store has a moment of: a date of an object, or a transaction of its history. Small, since a store may have
/// millions.
struct TimelineEvent {
  /// Seconds since 2001-01-01 00:00 UTC.
  let moment: Double
  /// Index of the store.
  let store: Int32
  /// Index of the date's column in the store, or -1 for a transaction.
  let column: Int32
  /// Primary key of the object, or number of the transaction.
  let key: Int64
  let entity: Int32

  static func isBefore(_ left: TimelineEvent, _ right: TimelineEvent) -> Bool {
    if left.moment != right.moment { return left.moment < right.moment }
    return (left.store, left.entity, left.key, left.column) < (
      right.store, right.entity, right.key, right.column
    )
  }
}

/// The moments of one store.
final class TimelineSource {
  let name: String
  let reader: StoreReader
  private let _text: ValueText
  /// The columns with dates, and the tables that they are in.
  private let _columns: [(table: StoreTableLayout.Table, column: StoreTableLayout.AttributeColumn)]
  /// For each table's root the query of the texts that tell objects apart; nil for an entity without one.
  private var _labels: [Int: (column: String, statement: Statement)?] = [:]
  private let _labelling: EntityLabels
  private var _transactions: [Int64: String] = [:]

  init(_ name: String, _ reader: StoreReader, _ zone: TimeZoneText) {
    (self.name, self.reader) = (name, reader)
    _text = ValueText(reader.layout, zone)
    _labelling = EntityLabels(reader.layout)
    _columns = reader.anatomy.tables.flatMap { table in
      table.attributes.filter { $0.attribute.type == .date && !$0.attribute.isTransient }.map { (table, $0) }
    }
  }

  /// Adds the events between two moments.
  ///
  /// - Parameter entity: Only objects of this entity and its subentities, and no transactions.
  func add(
    to events: inout [TimelineEvent], store: Int, from begin: Double, to end: Double, entity: PropertyLayout?
  ) throws {
    for (index, (table, column)) in _columns.enumerated() {
      let isWanted = entity.map { $0.rootNumber == table.root } ?? true
      guard isWanted else { continue }
      try reader.translating {
        try reader.connection.query(
          "SELECT Z_PK, Z_ENT, \(column.column) FROM \(table.name) WHERE \(column.column) BETWEEN ? AND ?",
          [.double(begin), .double(end)]
        ) { row in
          let number = table.hasSubentities ? reader.anatomy.entity(stored: row.int64(1)) : table.root
          guard let number, entity?.family.contains(number) ?? true else { return }
          let moment = row.double(2)
          guard moment.isFinite else { return }
          events.append(
            TimelineEvent(
              moment: moment, store: Int32(store), column: Int32(index), key: row.int64(0),
              entity: Int32(number)))
        }
      }
    }
    guard entity == nil else { return }
    // Only what the transactions are, not their changes.
    _ = try reader.history(after: nil) { transaction in
      if transaction.moment >= begin, transaction.moment <= end {
        events.append(
          TimelineEvent(
            moment: transaction.moment, store: Int32(store), column: -1, key: transaction.number, entity: 0))
        let author = transaction.author.map { "by \($0)" }
        let context = transaction.contextName.map { "in \($0)" }
        _transactions[transaction.number] = [author, context, transaction.bundleID].compactMap { $0 }
          .filter { !$0.isEmpty }.joined(separator: " ")
      }
      return false
    }
  }

  /// The object, the property and a text that tells the object apart.
  func words(_ event: TimelineEvent) throws -> (object: String, property: String, label: String) {
    guard event.column >= 0 else {
      return ("transaction/\(event.key)", "transaction", _transactions[event.key] ?? "")
    }
    let (table, column) = _columns[Int(event.column)]
    let reference = StoredReference(entity: Int(event.entity), key: event.key)
    return (_text.identifier(reference), column.property, try _label(reference, table))
  }

  private func _label(_ reference: StoredReference, _ table: StoreTableLayout.Table) throws -> String {
    let entry: (column: String, statement: Statement)?
    if let known = _labels[reference.entity] {
      entry = known
    } else {
      let name = _labelling.attribute(of: reader.layout.layout(numbered: reference.entity))
      let column = table.attributes.first { $0.property == name }?.column
      entry = try column.map { column in
        (column, try reader.connection.prepare("SELECT \(column) FROM \(table.name) WHERE Z_PK = ?"))
      }
      _labels[reference.entity] = .some(entry)
    }
    guard let statement = entry?.statement else { return "" }
    defer { statement.reset() }
    return try reader.translating {
      statement.bind(reference.key, at: 1)
      return try statement.step() && !statement.isNull(0) ? statement.string(0) : ""
    }
  }
}
