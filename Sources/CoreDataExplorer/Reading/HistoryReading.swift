import CoreData
import CoreDataModelSchema
import CoreDataSQLiteBinding
import CoreDataStoreTools

/// Reads a store's history a page at a time, latest transactions first.
struct HistoryReading {
  /// What is asked for.
  struct Request: Sendable {
    /// Only transactions with smaller numbers; nil for the latest.
    var before: Int64?
    /// Only transactions of this author; nil for all.
    var author: String?
    var transactions = 30
    /// Changes of a transaction that are listed.
    var changes = 25
  }

  /// A transaction with as many of its changes as are listed.
  struct Entry: Sendable {
    let transaction: StoredTransaction
    /// Numbers of inserted, updated and deleted objects.
    let inserted: Int
    let updated: Int
    let deleted: Int
    var changeCount: Int { inserted + updated + deleted }
  }

  /// A stretch of time on the timeline.
  struct Span: Sendable {
    let transactions: Int
    let lastNumber: Int64
    let begin: Double
  }

  struct Page: Sendable {
    let entries: [Entry]
    let hasMore: Bool
    let transactionCount: Int
    let authors: [String]
    let spans: [Span]
    /// What the objects of the changes are called now; nothing for those that are gone.
    let links: [StoredReference: ObjectLink]
  }

  private let _store: ExploredStore
  private let _reader: StoreReader
  private var _connection: Connection { _reader.connection }

  /// Nil for a store that keeps no history.
  init?(_ store: ExploredStore, _ reader: StoreReader) throws {
    (_store, _reader) = (store, reader)
    let tables = try reader.connection.firstValue(
      "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name IN ('ATRANSACTION', 'ACHANGE')")
    guard tables == .int(2) else { return nil }
  }

  func page(_ request: Request) throws -> Page {
    let (condition, values) = try _condition(request)
    var numbers: [Int64] = []
    try _connection.query(
      "SELECT Z_PK FROM ATRANSACTION t WHERE \(condition) ORDER BY Z_PK DESC LIMIT \(request.transactions + 1)", values
    ) { numbers.append($0.int64(0)) }
    let hasMore = numbers.count > request.transactions
    numbers = Array(numbers.prefix(request.transactions))
    let entries = try _entries(numbers, request.changes)
    var count = 0
    try _connection.query("SELECT COUNT(*) FROM ATRANSACTION") { count = Int(clamping: $0.int64(0)) }
    return Page(
      entries: entries, hasMore: hasMore, transactionCount: count, authors: try _authors(), spans: try _spans(),
      links: try _links(entries))
  }

  /// The latest changes of one object.
  func changes(of reference: StoredReference, limit: Int) throws -> [Entry] {
    var numbers: [Int64] = []
    try _connection.query(
      """
      SELECT DISTINCT ZTRANSACTIONID FROM ACHANGE WHERE ZENTITY = ? AND ZENTITYPK = ? \
      ORDER BY ZTRANSACTIONID DESC LIMIT \(limit)
      """, [.int(Int64(_reader.anatomy.storedNumber(of: reference.entity))), .int(reference.key)]
    ) { numbers.append($0.int64(0)) }
    return try numbers.compactMap { number in
      let found = try _reader.history(in: number...number, isChangeWanted: { $0 == reference })
      return found.first.map { Entry(transaction: $0, inserted: 0, updated: 0, deleted: 0) }
    }
  }

  // MARK: Parts

  private func _hasColumn(_ name: String) throws -> Bool {
    try _connection.firstValue("SELECT 1 FROM pragma_table_info('ATRANSACTION') WHERE name = ?", [.text(name)]) != nil
  }

  private func _condition(_ request: Request) throws -> (String, [Binding]) {
    var (conditions, values) = (["1"], [Binding]())
    if let before = request.before {
      conditions.append("t.Z_PK < ?")
      values.append(.int(before))
    }
    if let author = request.author {
      // Later stores keep texts in a table of their own.
      if try _hasColumn("ZAUTHORTS") {
        conditions.append("(t.ZAUTHOR = ? OR t.ZAUTHORTS IN (SELECT Z_PK FROM ATRANSACTIONSTRING WHERE ZNAME = ?))")
        values += [.text(author), .text(author)]
      } else {
        conditions.append("t.ZAUTHOR = ?")
        values.append(.text(author))
      }
    }
    return (conditions.joined(separator: " AND "), values)
  }

  private func _entries(_ numbers: [Int64], _ limit: Int) throws -> [Entry] {
    guard let first = numbers.min(), let last = numbers.max() else { return [] }
    var counts: [Int64: [Int]] = [:]
    try _connection.query(
      """
      SELECT ZTRANSACTIONID, ZCHANGETYPE, COUNT(*) FROM ACHANGE WHERE ZTRANSACTIONID BETWEEN ? AND ? GROUP BY 1, 2
      """, [.int(first), .int(last)]
    ) { row in
      let kind = Int(clamping: row.int64(1))
      guard (0...2).contains(kind) else { return }
      counts[row.int64(0), default: [0, 0, 0]][kind] = Int(clamping: row.int64(2))
    }
    let wanted = Set(numbers)
    let found = try _reader.history(in: first...last, changeLimit: limit, isWanted: { wanted.contains($0) })
    return found.reversed().map { transaction in
      let count = counts[transaction.number] ?? [0, 0, 0]
      return Entry(transaction: transaction, inserted: count[0], updated: count[1], deleted: count[2])
    }
  }

  private func _authors() throws -> [String] {
    var authors: [String] = []
    let source =
      try _hasColumn("ZAUTHORTS")
      ? "SELECT DISTINCT IFNULL(s.ZNAME, t.ZAUTHOR) a FROM ATRANSACTION t LEFT JOIN ATRANSACTIONSTRING s ON s.Z_PK = t.ZAUTHORTS"
      : "SELECT DISTINCT t.ZAUTHOR a FROM ATRANSACTION t"
    try _connection.query("SELECT a FROM (\(source)) WHERE a IS NOT NULL ORDER BY a LIMIT 40") {
      authors.append($0.string(0))
    }
    return authors
  }

  /// The store's time in sixty equal parts.
  private func _spans() throws -> [Span] {
    var range: (Double, Double)?
    try _connection.query("SELECT MIN(ZTIMESTAMP), MAX(ZTIMESTAMP) FROM ATRANSACTION") { row in
      if !row.isNull(0) { range = (row.double(0), row.double(1)) }
    }
    guard let (begin, end) = range, begin.isFinite, end.isFinite, end >= begin else { return [] }
    let width = max((end - begin) / 60, 1e-6)
    var spans = (0..<60).map { Span(transactions: 0, lastNumber: 0, begin: begin + Double($0) * width) }
    try _connection.query(
      """
      SELECT MIN(59, CAST((ZTIMESTAMP - ?1) / ?2 AS INTEGER)), COUNT(*), MAX(Z_PK) FROM ATRANSACTION GROUP BY 1
      """, [.double(begin), .double(width)]
    ) { row in
      let place = Int(clamping: row.int64(0))
      guard spans.indices.contains(place) else { return }
      spans[place] = Span(
        transactions: Int(clamping: row.int64(1)), lastNumber: row.int64(2), begin: spans[place].begin)
    }
    return spans
  }

  private func _links(_ entries: [Entry]) throws -> [StoredReference: ObjectLink] {
    var links: [StoredReference: ObjectLink] = [:]
    let references = Set(entries.flatMap { $0.transaction.changes.map(\.reference) })
    let members = MemberQuery(_store, _reader)
    for (entity, group) in Dictionary(grouping: references, by: \.entity) {
      let layout = _store.layout.layout(numbered: entity)
      for link in try members.links(layout, group.map(\.key)) {
        links[StoredReference(entity: entity, key: link.key)] = link
      }
    }
    return links
  }
}
