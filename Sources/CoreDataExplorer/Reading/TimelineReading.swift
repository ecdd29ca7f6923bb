import CoreData
import CoreDataModelSchema
import CoreDataSQLiteBinding
import CoreDataStoreTools

/// Reads what a store has moments of: the dates of objects, and the transactions of its history.
struct TimelineReading {
  /// The number of moments in equal parts of a span of time.
  struct Axis: Sendable {
    let begin: Double
    let end: Double
    var counts: [Int]
    var width: Double { (end - begin) / Double(counts.count) }
    var total: Int { counts.reduce(0, +) }
  }

  struct Event: Sendable {
    let moment: Double
    let reference: StoredReference
    let property: String
    /// Number of a transaction, which has no object.
    let transaction: Int64?
  }

  /// A column with dates.
  private struct Source {
    let table: String
    let column: String
    /// A condition on the rows; empty for none.
    let condition: String
    let property: String
    /// Nil for transactions.
    let root: Int?
    let hasSubentities: Bool
  }

  /// From 1970 to 2100: moments beyond are mostly marks for "never", and would make one bar of all others.
  static let plausible = -978_307_200.0...3_155_760_000.0
  static let partCount = 80

  private let _reader: StoreReader
  private let _sources: [Source]

  /// - Parameter entity: Only objects of this entity and its subentities; nil for all, and transactions.
  init(_ reader: StoreReader, _ entity: PropertyLayout?) throws {
    _reader = reader
    var sources: [Source] = []
    for table in reader.anatomy.tables where entity.map({ $0.rootNumber == table.root }) ?? true {
      for column in table.attributes where column.attribute.type == .date && !column.attribute.isTransient {
        var condition = ""
        if let entity, table.hasSubentities {
          let numbers = entity.family.map { String(reader.anatomy.storedNumber(of: $0)) }
          condition = " AND Z_ENT IN (\(numbers.joined(separator: ", ")))"
        }
        sources.append(
          Source(
            table: table.name, column: column.column, condition: condition, property: column.property,
            root: table.root, hasSubentities: table.hasSubentities))
      }
    }
    if entity == nil,
      try reader.connection.firstValue(
        "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = 'ATRANSACTION'") == .int(1)
    {
      sources.append(
        Source(
          table: "ATRANSACTION", column: "ZTIMESTAMP", condition: "", property: "transaction", root: nil,
          hasSubentities: false))
    }
    _sources = sources
  }

  var isEmpty: Bool { _sources.isEmpty }

  /// Moments that are kept in memory, so that they are read once.
  private static let _mostKept = 2_000_000

  /// The axis between two moments; nil stands for the first or the last plausible one.
  ///
  /// - Returns: The axis, and the number of moments that are not plausible if the axis has none of them. Nil if there are no
  ///   moments.
  func axis(from begin: Double?, to end: Double?) throws -> (axis: Axis, others: Int)? {
    if let begin, let end { return (try _axis(begin, end, nil), 0) }
    var (first, last, others) = (Double.infinity, -Double.infinity, 0)
    var kept: [Double]? = []
    try _forEachMoment(nil) { moment in
      if Self.plausible.contains(moment) {
        first = min(first, moment)
        last = max(last, moment)
      } else {
        others += 1
      }
      if kept?.count == Self._mostKept { kept = nil }
      kept?.append(moment)
    }
    guard first <= last else { return nil }
    return (try _axis(begin ?? first, end ?? last, kept), others)
  }

  /// - Parameter kept: All moments, if they are known.
  private func _axis(_ begin: Double, _ end: Double, _ kept: [Double]?) throws -> Axis {
    // Of a single moment, too, a bar is shown. In remote years neighbouring numbers are more than a millisecond apart.
    let last = max(end, begin + max(1e-3, 100 * begin.ulp))
    var axis = Axis(begin: begin, end: last, counts: Array(repeating: 0, count: Self.partCount))
    let width = axis.width
    func add(_ moment: Double) {
      guard moment >= begin, moment <= end else { return }
      axis.counts[min(Int((moment - begin) / width), Self.partCount - 1)] += 1
    }
    if let kept { kept.forEach(add) } else { try _forEachMoment(begin...max(begin, end), add) }
    return axis
  }

  /// In no order: grouping or sorting a million moments in SQLite takes three times as long as reading them.
  private func _forEachMoment(_ range: ClosedRange<Double>?, _ body: (Double) -> Void) throws {
    for source in _sources {
      let condition = range == nil ? "\(source.column) IS NOT NULL" : "\(source.column) BETWEEN ?1 AND ?2"
      try _reader.connection.query(
        "SELECT \(source.column) FROM \(source.table) WHERE \(condition)\(source.condition)",
        range.map { [.double($0.lowerBound), .double($0.upperBound)] } ?? []
      ) { row in
        let moment = row.double(0)
        if moment.isFinite { body(moment) }
      }
    }
  }

  /// The events between two moments, the first of them first.
  func events(from begin: Double, to end: Double, after offset: Int, limit: Int) throws -> [Event] {
    var events: [Event] = []
    for source in _sources {
      let number = source.hasSubentities ? "Z_ENT" : "NULL"
      try _reader.connection.query(
        """
        SELECT \(source.column), Z_PK, \(number) FROM \(source.table) \
        WHERE \(source.column) BETWEEN ?1 AND ?2\(source.condition) ORDER BY 1, 2 LIMIT \(offset + limit)
        """, [.double(begin), .double(end)]
      ) { row in
        let own = row.isNull(2) ? source.root : _reader.anatomy.entity(stored: row.int64(2))
        guard let entity = source.root == nil ? 0 : own else { return }
        events.append(
          Event(
            moment: row.double(0), reference: StoredReference(entity: entity, key: row.int64(1)),
            property: source.property, transaction: source.root == nil ? row.int64(1) : nil))
      }
    }
    events.sort {
      ($0.moment, $0.reference.entity, $0.reference.key) < ($1.moment, $1.reference.entity, $1.reference.key)
    }
    return Array(events.dropFirst(offset).prefix(limit))
  }
}
