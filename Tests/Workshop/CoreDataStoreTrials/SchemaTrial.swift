import CoreData
import CoreDataSQLiteBinding
import Foundation

/// Compares the tables, indexes and triggers of a new store created here with those of a file that Apple's
/// framework wrote, for the same model.
///
/// The text must be equal, and in the same order. Where Apple's own files differ from each other, by
/// framework version or because of a migration, rules convert both sides to one form; the trial reports which
/// rules were needed.
package struct SchemaTrial {
  /// A way in which Apple's files differ from each other.
  package enum Rule: String, CaseIterable, Sendable {
    /// A file that was rebuilt by the sqlite3 shell has names such as "Z_1BOOKS" in quotes.
    case quotes = "quoted names"
    /// Up to version 754 indexes are named after columns and have no collation; up to 851 unique ones are
    /// constraints.
    case oldIndexes = "indexes before 866"
    /// Up to version 754 tables and indexes are in no order.
    case oldOrder = "order before 847"
    /// Version 851 has no separate index for an attribute that an index covers alone.
    case noImpliedIndexes = "no implied index in 851"
    /// Up to version 866 a subentity repeats its parent's indexes.
    case repeatedIndexes = "inherited indexes up to 866"
    /// Names of join tables between an entity and itself follow no known rule.
    case selfJoins = "names of self-joins"
    /// The order of Z_FOK_ columns up to version 866.
    case orderColumns = "order of Z_FOK_ columns up to 866"
    /// A migration in place adds columns at the end, and keeps indexes and their order.
    case migrated = "migrated in place"
  }

  /// Statements of the file that a new store lacks, and the reverse.
  package private(set) var missing: [String] = []
  package private(set) var extra: [String] = []
  /// Whether the common statements are in the same order.
  package private(set) var isInOrder = false
  /// Rules without which both sides would differ.
  package private(set) var rules: [Rule] = []

  package var isEqual: Bool { missing.isEmpty && extra.isEmpty && isInOrder }

  package init(_ url: URL, model: NSManagedObjectModel, frameworkVersion: Int) throws {
    var file = try Self.statements(in: url)
    var ours = try NSPersistentStore.schemaStatements(for: model)
    _compare(file, ours)
    for rule in Rule.allCases where !isEqual {
      let before = missing.count + extra.count + (isInOrder ? 0 : 1)
      let form = SchemaForm(rule, model, frameworkVersion: frameworkVersion)
      let (newFile, newOurs) = form.applied(file, ours)
      guard newFile != file || newOurs != ours else { continue }
      (file, ours) = (newFile, newOurs)
      _compare(file, ours)
      if missing.count + extra.count + (isInOrder ? 0 : 1) != before { rules.append(rule) }
    }
  }

  private mutating func _compare(_ file: [String], _ ours: [String]) {
    let (inFile, inOurs) = (Set(file), Set(ours))
    missing = file.filter { !inOurs.contains($0) }
    extra = ours.filter { !inFile.contains($0) }
    isInOrder = file.filter(inOurs.contains) == ours.filter(inFile.contains)
  }

  /// The file's statements in their order, except those of the persistent history.
  package static func statements(in url: URL) throws -> [String] {
    var result: [String] = []
    try Connection(path: url.path, mode: .immutable).query(
      """
      SELECT sql FROM sqlite_master
      WHERE sql IS NOT NULL AND tbl_name NOT IN ('ACHANGE', 'ATRANSACTION', 'ATRANSACTIONSTRING') ORDER BY rowid
      """
    ) { result.append($0.string(0)) }
    return result
  }
}
