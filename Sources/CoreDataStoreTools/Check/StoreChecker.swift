import CoreData
import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation

/// Checks a whole store file for deviations from Core Data's format. Reads only.
package final class StoreChecker {
  let connection: Connection
  let path: String
  /// Nil if the file does not match the model; only model-independent checks run then.
  let anatomy: StoreTableLayout?
  let metadata: [String: Any]
  private let _limit: Int
  private(set) var findings: [StoreFinding] = []

  /// Checks the file.
  ///
  /// - Parameters:
  ///   - limit: Maximum number of rows that a finding lists.
  ///   - progress: Called with the progress of the check, 0 to 1, and the current step.
  /// - Returns: The findings, most serious first.
  /// - Throws: A Cocoa error or `SQLiteError` for an unreadable file.
  package static func findings(
    in path: String, model: ModelSchema, metadata: [String: Any], limit: Int = 10,
    progress: (Double, String) -> Void = { _, _ in }
  ) throws -> [StoreFinding] {
    let checker: StoreChecker
    do {
      let reader = try StoreReader(path: path, model: model)
      checker = StoreChecker(reader.connection, path, reader.anatomy, metadata, limit)
    } catch let error as CocoaError where error.errorCode == 134020 {
      checker = StoreChecker(try StoreFileFacts.open(path: path), path, nil, metadata, limit)
      let message = error.debugText
      checker.add(
        StoreFinding(
          .schema, .error, table: "", message,
          advice: "give the model that the store was written with, or restore the file from a backup"))
    }
    try checker._run(progress)
    return checker.findings.enumerated().sorted {
      ($0.element.severity == .error ? 0 : 1, $0.offset) < ($1.element.severity == .error ? 0 : 1, $1.offset)
    }.map(\.element)
  }

  private init(
    _ connection: Connection, _ path: String, _ anatomy: StoreTableLayout?, _ metadata: [String: Any],
    _ limit: Int
  ) {
    self.connection = connection
    self.path = path
    self.anatomy = anatomy
    self.metadata = metadata
    _limit = limit
  }

  private func _run(_ progress: (Double, String) -> Void) throws {
    try checkForeignSchema()
    progress(0, "pages")
    let isWhole = try checkIntegrity()
    checkMetadata()
    // Queries on a damaged file are unreliable.
    guard isWhole, let anatomy else { return }
    try checkSpatialIndexes()
    try checkEntityTable(anatomy)
    for (index, table) in anatomy.tables.enumerated() {
      progress(0.2 + 0.7 * Double(index) / Double(anatomy.tables.count), table.name)
      try checkRows(table, anatomy)
      try checkAttributes(table, anatomy)
      try checkReferences(table, anatomy)
      try checkOrders(table, anatomy)
    }
    try checkConstraints(anatomy)
    progress(0.9, "join tables")
    for join in anatomy.joins { try checkJoin(join, anatomy) }
    progress(0.95, "external data")
    try checkExternalData(anatomy)
    try checkHistory()
  }

  func add(_ finding: StoreFinding) { findings.append(finding) }

  /// Adds a finding if any rows satisfy the condition.
  func find(
    _ kind: StoreFinding.Kind, _ severity: StoreFinding.Severity, _ condition: RowCondition, advice: String,
    isMendable: Bool = false, _ message: (Int) -> String
  ) throws {
    let (keys, count) = try condition.rows(connection, listing: _limit)
    guard count > 0 else { return }
    add(
      StoreFinding(
        kind, severity, table: condition.table, rows: keys, count: count, message(count), advice: advice,
        isMendable: isMendable))
  }
}
