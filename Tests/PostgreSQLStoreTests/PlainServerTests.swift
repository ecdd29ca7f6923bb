import CoreData
import Foundation
import PostgreSQLServer
import Synchronization
import Testing

@testable import CoreDataPostgreSQL

/// A server that grants its roles less than PostgreSQL's defaults, as some managed ones do.
@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"), .serialized)
final class PlainServerTests {
  private let _server: PostgreSQLServer
  private let _session: ServerSession
  private let _url: URL

  init() throws {
    _server = try PostgreSQLServer.another()
    _session = try ServerSession(_server.newURL())
    for statement in [
      "CREATE ROLE plain LOGIN", "GRANT CREATE ON DATABASE postgres TO plain",
      "REVOKE EXECUTE ON FUNCTION pg_advisory_xact_lock(bigint) FROM PUBLIC",
      """
      CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN RAISE insufficient_privilege; END $$
      """,
      """
      CREATE EVENT TRIGGER refuse ON ddl_command_start WHEN TAG IN ('CREATE EXTENSION') EXECUTE FUNCTION refuse()
      """,
    ] { try _session.connection.execute(statement) }
    var components = URLComponents(url: _server.newURL(), resolvingAgainstBaseURL: false)!
    components.user = "plain"
    _url = components.url!
  }

  deinit { _server.stop() }

  private static func _model(_ more: String...) -> NSManagedObjectModel {
    let model = TestModel.make()
    let note = model.entitiesByName["Note"]!
    note.attributesByName["text"]!.userInfo = ["postgresql.index": "folded, trigram"]
    note.properties += more.map { TestModel.attribute($0, .stringAttributeType) }
    return model
  }

  @Test func `without advisory locks one program creates a store`() throws {
    let failures = Mutex<[String]>([])
    let threads = (0..<4).map { _ in
      Thread { [_url] in
        do {
          _ = try ServerStack(Self._model(), at: _url)
        } catch {
          failures.withLock { $0.append("\(error)") }
        }
      }
    }
    for thread in threads { thread.start() }
    for thread in threads { try thread.join() }
    #expect(failures.withLock { $0 } == [])
  }

  @Test func `without advisory locks one program migrates a store`() throws {
    let first = try ServerStack(Self._model(), at: _url)
    let context = first.context()
    try context.performAndWait {
      context.make("Note", ["text": "n"])
      try context.save()
    }
    try first.coordinator.remove(first.store)
    let failures = Mutex<[String]>([])
    let threads = (0..<3).map { _ in
      Thread { [_url] in
        do {
          let stack = try ServerStack(
            Self._model("added"), at: _url,
            options: [
              NSMigratePersistentStoresAutomaticallyOption: true,
              NSInferMappingModelAutomaticallyOption: true,
            ])
          let context = stack.context()
          let texts = try context.performAndWait { try context.texts("Note", "text") }
          if texts != ["n"] { failures.withLock { $0.append("\(texts)") } }
        } catch {
          failures.withLock { $0.append("\(error)") }
        }
      }
    }
    for thread in threads { thread.start() }
    for thread in threads { try thread.join() }
    #expect(failures.withLock { $0 } == [])
  }

  @Test func `without trigrams their index is left out`() throws {
    let context = try ServerStack(Self._model(), at: _url).context()
    try context.performAndWait {
      context.make("Note", ["text": "Ärger"])
      try context.save()
      let found = try context.texts("Note", "text", "text CONTAINS[cd] 'RGE'")
      #expect(found == ["Ärger"])
    }
    let indexes = try _session.number(
      "SELECT count(*) FROM pg_class WHERE relkind = 'i' AND relname LIKE $1::text", "note%fold_cd%")
    #expect(indexes == 1, "the folded one")
  }
}
