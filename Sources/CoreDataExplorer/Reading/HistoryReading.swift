import CoreData
import CoreDataModelSchema
import CoreDataSQLiteBinding
import CoreDataStoreTools

/// Reads a store's history a page at a time, latest transactions first.
struct HistoryReading {
  /// The requested part of the history.
  struct Request: Sendable {
    /// Only transactions with smaller numbers; nil for the latest.
    var before: Int64?
    /// Only transactions of this author; nil for all.
    var author: String?
    var transactions = 30
    /// Changes of a transaction that are listed.
    var changes = 10
  }

  /// A transaction with those of its changes that are listed.
  struct Entry: Sendable {
    let transaction: StoredTransaction
    /// Numbers of inserted, updated and deleted objects.
    let inserted: Int
    let updated: Int
    let deleted: Int
    var changeCount: Int { inserted + updated + deleted }
    /// Maximum number of changes to count per transaction.
    static let mostCounted = 2000
    var isMore: Bool { changeCount > Self.mostCounted }
  }

  /// A span of time on the timeline.
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
    /// The moment of the last transaction.
    let end: Double
    /// Current labels of the changed objects; empty for deleted ones.
    let links: [StoredReference: ObjectLink]
  }

  private let _store: ExploredStore
  private let _reader: StoreReader
  private var _connection: Connection { _reader.connection }

  /// Nil for a store without history.
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
      "SELECT Z_PK FROM ATRANSACTION t WHERE \(condition) ORDER BY Z_PK DESC LIMIT \(request.transactions + 1)",
      values
    ) { numbers.append($0.int64(0)) }
    let hasMore = numbers.count > request.transactions
    numbers = Array(numbers.prefix(request.transactions))
    let entries = try _entries(numbers, request.changes)
    let (spans, end) = try _spans()
    var count = 0
    try _connection.query("SELECT COUNT(*) FROM ATRANSACTION") { count = Int(clamping: $0.int64(0)) }
    return Page(
      entries: entries, hasMore: hasMore, transactionCount: count, authors: try _authors(),
      spans: spans, end: end,
      links: try _links(entries))
  }

  /// The latest changes of one object, and whether all of the history was searched: its table has no index by objects, and
  /// may have millions of rows.
  func changes(
    of reference: StoredReference, limit: Int, _ budget: QueryBudget
  ) throws -> (changes: [(transaction: StoredTransaction, change: StoredChange)], isWhole: Bool) {
    var found: [(change: Int64, transaction: Int64)] = []
    var isWhole = true
    do {
      try budget.part(seconds: 0.15).run {
        try _connection.query(
          """
          SELECT Z_PK, ZTRANSACTIONID FROM ACHANGE WHERE ZENTITYPK = ? AND ZENTITY = ? ORDER BY Z_PK DESC LIMIT \(limit)
          """, [.int(reference.key), .int(Int64(_reader.anatomy.storedNumber(of: reference.entity)))]
        ) { found.append(($0.int64(0), $0.int64(1))) }
      }
    } catch QueryBudget.Exceeded.time {
      isWhole = false
    }
    let changes = try found.compactMap { number, transaction in
      let read = try _reader.history(in: transaction...transaction, change: number).first
      return read.flatMap { read in read.changes.first.map { (read, $0) } }
    }
    return (changes, isWhole)
  }

  // MARK: Parts

  private func _hasColumn(_ name: String) throws -> Bool {
    try _connection.firstValue(
      "SELECT 1 FROM pragma_table_info('ATRANSACTION') WHERE name = ?", [.text(name)]) != nil
  }

  private func _condition(_ request: Request) throws -> (String, [Binding]) {
    var (conditions, values) = (["1"], [Binding]())
    if let before = request.before {
      conditions.append("t.Z_PK < ?")
      values.append(.int(before))
    }
    if let author = request.author {
      // Newer stores keep texts in a separate table.
      if try _hasColumn("ZAUTHORTS") {
        conditions.append(
          "(t.ZAUTHOR = ? OR t.ZAUTHORTS IN (SELECT Z_PK FROM ATRANSACTIONSTRING WHERE ZNAME = ?))")
        values += [.text(author), .text(author)]
      } else {
        conditions.append("t.ZAUTHOR = ?")
        values.append(.text(author))
      }
    }
    return (conditions.joined(separator: " AND "), values)
  }

  private func _entries(_ numbers: [Int64], _ limit: Int) throws -> [Entry] {
    try numbers.compactMap { number in
      guard let transaction = try _reader.history(in: number...number, changeLimit: limit).first else {
        return nil
      }
      var counts = [0, 0, 0]
      try _connection.query(
        """
        SELECT ZCHANGETYPE, COUNT(*) FROM \
        (SELECT ZCHANGETYPE FROM ACHANGE WHERE ZTRANSACTIONID = ? LIMIT \(Entry.mostCounted + 1)) GROUP BY 1
        """, [.int(number)]
      ) { row in
        let kind = Int(clamping: row.int64(0))
        if counts.indices.contains(kind) { counts[kind] = Int(clamping: row.int64(1)) }
      }
      return Entry(transaction: transaction, inserted: counts[0], updated: counts[1], deleted: counts[2])
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
  private func _spans() throws -> ([Span], end: Double) {
    var range: (Double, Double)?
    try _connection.query("SELECT MIN(ZTIMESTAMP), MAX(ZTIMESTAMP) FROM ATRANSACTION") { row in
      if !row.isNull(0) { range = (row.double(0), row.double(1)) }
    }
    guard let (begin, end) = range, begin.isFinite, end.isFinite, end >= begin else { return ([], 0) }
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
    return (spans, end)
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
