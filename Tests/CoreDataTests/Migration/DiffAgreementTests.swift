import CoreDataModelFiles
import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation
import Testing

@testable import CoreData

/// `coredata model diff` of two versions agrees with what happens when the store is opened.
@Suite("Comparison of versions and migration", .enabled(if: AppleCorpus.isThere))
struct DiffAgreementTests {
  /// Versions of one model, in order: by project and bundle, or those of one project's stores.
  private static let families: [String: [URL]] = {
    let files = (try? FileManager.default.subpathsOfDirectory(atPath: AppleCorpus.url.path)) ?? []
    let models = files.filter { $0.hasSuffix(".xcdatamodel.xml") }
    return Dictionary(grouping: models) { path in
      guard path.hasPrefix("models/") else { return (path as NSString).deletingLastPathComponent }
      return path.replacing(".xcdatamodel.xml", with: "").components(separatedBy: "__").prefix(2).joined(
        separator: "__")
    }.filter { $0.value.count > 1 }.mapValues { paths in
      paths.sorted { $0.compare($1, options: .numeric) == .orderedAscending }
        .map(AppleCorpus.url.appendingPathComponent)
    }
  }()

  /// All pairs of versions, or for a long series, pairs of neighbours.
  private static func pairs(_ count: Int) -> [(Int, Int)] {
    (0..<count).flatMap { old in (0..<count).map { (old, $0) } }
      .filter { $0 != $1 && (count < 7 || abs($0 - $1) == 1) }
  }

  private struct Outcome {
    var agreements = 0
    var possible = 0
    var rows = 0
    var disagreements: [String] = []
  }

  @Test(.ofFiles) func `The comparison predicts whether a store opens`() throws {
    var outcome = Outcome()
    for (family, files) in Self.families.sorted(by: { $0.key < $1.key }) {
      let versions = try files.map { (name: $0.lastPathComponent, schema: try ModelFile.load(path: $0.path)) }
      for (old, new) in Self.pairs(versions.count).map({ (versions[$0], versions[$1]) }) {
        if let wrong = try Self.compare(old.schema, new.schema, &outcome) {
          outcome.disagreements.append("\(family): \(old.name) to \(new.name): \(wrong)")
        }
      }
    }
    #expect(outcome.disagreements == [])
    #expect(outcome.agreements > 60)
    #expect(outcome.possible > 30 && outcome.possible < outcome.agreements)
    #expect(outcome.rows > 200)
    print("\(outcome.agreements) pairs of versions, \(outcome.possible) inferred, \(outcome.rows) rows")
  }

  /// Returns the disagreement for a pair; nil if there is none.
  private static func compare(
    _ old: ModelSchema, _ new: ModelSchema, _ outcome: inout Outcome
  ) throws -> String? {
    let changes = SchemaDiff(from: old, to: new).changes
    let blocked = changes.filter { $0.verdict == .blocked }
    // The only row of each entity has no values.
    let failing = changes.filter { $0.verdict == .fails }
    let fixture = try MigrationFixture()
    let (oldModel, newModel) = (try plain(old), try plain(new))
    guard oldModel.versionChecksum != newModel.versionChecksum else { return nil }
    try fixture.bundle(oldModel)
    try fixture.open(oldModel, options: nil) { _ in }
    let written = try fill(fixture.url, ModelLayout(old))
    var failure: (any Error)?
    do {
      try fixture.open(newModel) { _ in }
    } catch {
      failure = error
    }
    outcome.agreements += 1
    guard blocked.isEmpty else {
      guard let failure = failure as? CocoaError else { return "it was migrated, though it should not" }
      guard failure.code.rawValue == NSMigrationMissingMappingModelError else {
        return "another error: \(failure)"
      }
      for change in blocked where !failure.localizedDescription.contains(change.what) {
        return "the error does not say '\(change.what)'"
      }
      return try fixture.open(oldModel, options: nil) { _ in nil }
    }
    guard failing.isEmpty else {
      guard let failure = failure as? CocoaError else { return "it was migrated, though rows lack values" }
      guard failure.code.rawValue == NSMigrationError else { return "another error: \(failure)" }
      return try fixture.open(oldModel, options: nil) { _ in nil }
    }
    if let failure { return "it was not migrated: \(failure)" }
    outcome.possible += 1
    outcome.rows += written.count
    return try lost(fixture.url, written, from: old, to: new)
  }

  /// Returns a model without custom classes and transformers.
  private static func plain(_ schema: ModelSchema) throws -> NSManagedObjectModel {
    let model = try NSManagedObjectModel(schema: schema)
    for entity in model.entities { entity.managedObjectClassName = nil }
    return model
  }

  /// Inserts one row for every instantiable entity, bypassing validation.
  private static func fill(_ url: URL, _ layout: ModelLayout) throws -> [String] {
    let connection = try Connection(path: url.path, mode: .readWrite)
    try SQLFunctions.register(on: connection)
    var written: [String] = []
    for entity in layout.layouts where !entity.isAbstract {
      let table = "Z" + layout.layout(numbered: entity.rootNumber).entityName.uppercased()
      try connection.query(
        "INSERT INTO \(table) (Z_PK, Z_ENT, Z_OPT) VALUES (?, ?, 1)",
        [.int(Int64(entity.entityNumber)), .int(Int64(entity.entityNumber))])
      written.append(entity.entityName)
    }
    return written
  }

  /// Returns entities whose row is missing after the migration.
  private static func lost(
    _ url: URL, _ written: [String], from old: ModelSchema, to new: ModelSchema
  ) throws -> String? {
    let matching = SchemaMatching(from: old, to: new)
    let layout = try ModelLayout(new)
    let connection = try Connection(path: url.path, mode: .readOnly)
    for name in written {
      guard let target = matching.target(of: name), let entity = layout.layoutsByName[target] else {
        continue
      }
      let table = "Z" + layout.layout(numbered: entity.rootNumber).entityName.uppercased()
      let count = try connection.firstValue(
        "SELECT COUNT(*) FROM \(table) WHERE Z_ENT = ?", [.int(Int64(entity.entityNumber))])
      guard count == .int(1) else { return "the row of \(name) has not come along to \(target)" }
    }
    return nil
  }
}
