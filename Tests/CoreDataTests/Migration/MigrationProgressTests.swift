import CoreDataSQLiteBinding
import Foundation
import Testing

@testable import CoreData

@Suite("Progress of a migration")
struct MigrationProgressTests {
  private static let _old =
    "<entity name=\"A\"><attribute name=\"x\" optional=\"YES\" attributeType=\"String\"/></entity>"
  private static let _new =
    "<entity name=\"A\"><attribute name=\"x\" optional=\"YES\" attributeType=\"String\"/>"
    + "<attribute name=\"y\" optional=\"YES\" attributeType=\"String\"/></entity>"

  /// Returns a store of the old version with three rows whose keys are far apart.
  private func _fixture() throws -> MigrationFixture {
    let fixture = try MigrationFixture()
    try fixture.open(try fixture.model(Self._old), options: nil) { context in
      for text in ["1", "2", "3"] { context.make("A", ["x": text]) }
      try context.save()
    }
    let connection = try Connection(path: fixture.url.path, mode: .readWrite)
    try connection.execute("UPDATE ZA SET Z_PK = 1 + (CAST(ZX AS INTEGER) - 1) * 60000")
    try connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 120001")
    return fixture
  }

  private func _open(_ fixture: MigrationFixture, _ model: String, _ progress: Progress) throws -> [String] {
    progress.becomeCurrent(withPendingUnitCount: 1)
    defer { progress.resignCurrent() }
    return try fixture.open(try fixture.model(model)) { try $0.texts("A", "x") }
  }

  @Test(.ofFiles) func `Rows copied in several slices are complete`() throws {
    let progress = Progress(totalUnitCount: 1)
    #expect(try _open(_fixture(), Self._new, progress) == ["1", "2", "3"])
    #expect(progress.isFinished)
  }

  @Test(.ofFiles)
  func `A migration that is cancelled takes everything back`() throws {
    let fixture = try _fixture()
    let progress = Progress(totalUnitCount: 1)
    progress.cancel()
    #expect {
      try _open(fixture, Self._new, progress)
    } throws: {
      ($0 as? CocoaError)?.code == .userCancelled
    }
    let old = try fixture.model(Self._old)
    try #expect(fixture.open(old, options: nil) { try $0.texts("A", "x") } == ["1", "2", "3"])
  }

  @Test(
    .ofFiles,
    arguments: [0, 1, 20_000, 39_999, 40_000, 1_000_001, .max] as [Int64])
  func `Slices meet without gap or overlap, and there are never many`(_ largest: Int64) throws {
    let slices = MigrationProgress.slices(of: "Z_PK", largestKey: largest)
    #expect(slices.count <= 64)
    let connection = try Connection(path: ":memory:")
    try connection.execute("CREATE TABLE t (Z_PK INTEGER PRIMARY KEY)")
    let keys = Set((0...100).map { largest / 100 * $0 } + [-5, 0, 1, largest, largest > 0 ? largest - 1 : 0])
    for key in keys { try connection.query("INSERT INTO t VALUES (?)", [.int(key)]) }
    let sum = slices.map { "(SELECT COUNT(*) FROM t WHERE \($0))" }.joined(separator: " + ")
    let distinct = slices.map { "SELECT Z_PK FROM t WHERE \($0)" }.joined(separator: " UNION ")
    #expect(try connection.firstValue("SELECT \(sum)") == .int(Int64(keys.count)))
    #expect(try connection.firstValue("SELECT COUNT(*) FROM (\(distinct))") == .int(Int64(keys.count)))
  }
}
