import CoreData
import CoreDataPostgreSQLBinding
import Foundation
import PostgreSQLServer
import Synchronization
import Testing

@testable import CoreDataPostgreSQL

/// Indexes that are built while programs read and write.
@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct IndexBuildingTests {
  private let _url: URL
  private let _administration: PostgreSQLAdministration

  init() throws {
    _url = try ServerSession.newDatabaseURL()
    _administration = try PostgreSQLAdministration(_url)
  }

  /// Books with some attributes, and indexes of lists of them; an attribute that follows a minus sign descends.
  private static func _model(_ attributes: [String] = ["title", "year"], indexes: [[String]] = [])
    -> NSManagedObjectModel
  {
    let book = TestModel.entity("Book")
    book.properties = attributes.map { TestModel.attribute($0, .stringAttributeType) }
    book.indexes = indexes.enumerated().map { number, names in
      NSFetchIndexDescription(
        name: "index\(number)",
        elements: names.map { name in
          let element = NSFetchIndexElementDescription(
            property: book.attributesByName[name.replacingOccurrences(of: "-", with: "")]!,
            collationType: .binary)
          element.isAscending = !name.hasPrefix("-")
          return element
        })
    }
    let model = NSManagedObjectModel()
    model.entities = [book]
    return model
  }

  /// Makes a store whose table is too large to be locked while an index is built.
  private func _makeLarge() throws -> ServerSession {
    _ = try ServerStack(Self._model(), at: _url)
    let session = try ServerSession(_url)
    try session.connection.execute(
      """
      INSERT INTO \(session.schema).book (id, entity, version, title) \
      SELECT n, 1, 1, repeat('title ', 30) || n FROM generate_series(1, 50000) AS n
      """)
    return session
  }

  private func _options(_ observer: Steps? = nil) -> [AnyHashable: Any] {
    var options: [AnyHashable: Any] = [
      NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
    ]
    options[NSPostgreSQLObserverOption] = observer
    return options
  }

  private final class Steps: PostgreSQLObserver {
    let sql = Mutex<[String]>([])
    func observe(_ event: PostgreSQLEvent) {
      if event.kind == .step { sql.withLock { $0.append(event.sql ?? "") } }
    }
  }

  @Test func `a migration builds the indexes of a large table beside the programs`() throws {
    let session = try _makeLarge()
    let model = Self._model(["title", "year", "rating"], indexes: [["rating"], ["title", "rating"]])
    let steps = Steps()
    _ = try ServerStack(model, at: _url, options: _options(steps))
    #expect(
      steps.sql.withLock { $0 } == [
        "CREATE INDEX CONCURRENTLY ON \(session.schema).\"book\" (\"rating\" NULLS FIRST)",
        "CREATE INDEX CONCURRENTLY ON \(session.schema).\"book\" (\"title\" NULLS FIRST, \"rating\" NULLS FIRST)",
      ])
    try #expect(_administration.missingIndexes(of: model) == [])
  }

  @Test func `a migration builds the indexes of a small table at once`() throws {
    _ = try ServerStack(Self._model(), at: _url)
    let model = Self._model(["title", "year", "rating"], indexes: [["rating"]])
    let steps = Steps()
    _ = try ServerStack(model, at: _url, options: _options(steps))
    #expect(steps.sql.withLock { $0 } == [])
    try #expect(_administration.missingIndexes(of: model) == [])
  }

  @Test func `programs write while an index is built`() throws {
    let session = try _makeLarge()
    // A build waits for transactions with older snapshots.
    try session.connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    _ = try session.number("SELECT count(*) FROM \(session.schema).book WHERE title = $1::text", "")
    let model = Self._model(indexes: [["year"]])
    let problems = Mutex<[String]>([])
    let url = _url
    let builder = Thread {
      do {
        let model = Self._model(indexes: [["year"]])
        try PostgreSQLAdministration(url).buildMissingIndexes(of: model) { _ in }
      } catch {
        problems.withLock { $0.append("\(error)") }
      }
    }
    builder.start()
    let monitor = try ServerSession(_url)
    // Of this table: other tests build indexes, too.
    try #expect(
      monitor.waits {
        try $0.number(
          "SELECT count(*) FROM pg_stat_progress_create_index WHERE phase LIKE 'waiting for old snapshots' "
            + "AND relid = $1::text::regclass", "\(session.schema).book") > 0
      })
    try #expect(_administration.status().unfinishedIndexes.map(\.isBeingBuilt) == [true])
    let context = try ServerStack(Self._model(), at: _url).context()
    try context.performAndWait {
      try context.all("Book").first?.setValue("written", forKey: "year")
      try context.save()
    }
    #expect(!builder.isFinished)
    try session.connection.execute("COMMIT")
    try builder.join()
    #expect(problems.withLock { $0 } == [])
    try #expect(_administration.missingIndexes(of: model) == [])
    try #expect(_administration.status().unfinishedIndexes.isEmpty)
  }

  @Test func `an index whose build has ended early is built again`() throws {
    let model = Self._model(indexes: [["year"]])
    _ = try ServerStack(model, at: _url)
    let session = try ServerSession(_url)
    try session.connection.execute(
      """
      UPDATE pg_index SET indisvalid = false \
      WHERE indrelid = '\(session.schema).book'::regclass AND NOT indisprimary
      """)
    try #expect(_administration.status().unfinishedIndexes.map(\.table) == ["book"])
    try #expect(_administration.missingIndexes(of: model) == ["book (year)"])
    var begun: [String] = []
    try _administration.buildMissingIndexes(of: model) { begun.append($0) }
    #expect(begun == ["book (year)"])
    try #expect(_administration.status().unfinishedIndexes.isEmpty)
    try #expect(
      session.number(
        "SELECT count(*) FROM pg_index WHERE indrelid = $1::text::regclass", "\(session.schema).book") == 2)
  }

  @Test func `a migration leaves indexes to another program that builds some`() throws {
    let session = try _makeLarge()
    try session.connection.execute("BEGIN")
    let name = PostgreSQLNames.plain(session.schema)
    _ = try session.connection.run(
      "SELECT pg_advisory_xact_lock(hashtextextended('coredata-indexes:\(name)', 0))")
    let model = Self._model(["title", "year", "rating"], indexes: [["rating"]])
    _ = try ServerStack(model, at: _url, options: _options())
    try #expect(_administration.missingIndexes(of: model) == ["book (rating)"])
    try session.connection.execute("COMMIT")
    try _administration.buildMissingIndexes(of: model) { _ in }
    try #expect(_administration.missingIndexes(of: model) == [])
  }

  @Test func `a new store lacks no index, whatever its columns and their order`() throws {
    let model = Self._model(
      ["title", "year", "Odd \"Näme\"", "select"],
      indexes: [["title"], ["-title"], ["title", "-year"], ["-year", "title"], ["Odd \"Näme\"", "select"]])
    _ = try ServerStack(model, at: _url)
    try #expect(_administration.missingIndexes(of: model) == [])
    let all = try #require(PostgreSQLServer.shared).newURL()
    _ = try ServerStack(at: all)
    try #expect(PostgreSQLAdministration(all).missingIndexes(of: TestModel.make()) == [])
  }

  @Test func `indexes of other columns, another order or a part of the rows do not count`() throws {
    _ = try ServerStack(Self._model(), at: _url)
    let session = try ServerSession(_url)
    for text in [
      "(title)", "(title DESC)", "(title NULLS FIRST, year)", "(title NULLS FIRST) WHERE title <> ''",
    ] {
      try session.connection.execute("CREATE INDEX ON \(session.schema).book \(text)")
    }
    let model = Self._model(indexes: [["title"]])
    try #expect(_administration.missingIndexes(of: model) == ["book (title)"])
    try session.connection.execute("CREATE INDEX ON \(session.schema).book (title NULLS FIRST)")
    try #expect(_administration.missingIndexes(of: model) == [])
  }
}
