import CoreData
import CoreDataPostgreSQL
import Foundation
import PostgreSQLServer
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
import TestSupport
#endif

/// `coredata store` and `coredata explore` with the URL of a store, run by a shell.
@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
final class ServerStoreToolTests {
  private let _tool: BuiltTool
  private let _url: URL

  init() throws {
    _tool = try BuiltTool()
    _url = try #require(PostgreSQLServer.shared).newURL()
    let context = try ServerStack(at: _url).context()
    try context.performAndWait {
      let company = context.make("Company", ["name": "Ä"])
      for number in 0..<3 {
        let person = context.make("Person", ["firstName": "p\(number)", "wage": NSDecimalNumber(value: 0.1)])
        person.setValue(company, forKey: "employer")
        person.setValue(Set([context.make("Tag", ["name": "t\(number)"])]), forKey: "tags")
      }
      try context.save()
    }
  }

  private var _secret: String { _url.withPassword }

  private func _run(_ arguments: String...) throws -> ChildProcess.Outcome {
    try _tool.run(arguments)
  }

  @Test func `a store on a server is read by a copy`() throws {
    let info = try _run("store", "info", _secret)
    #expect(info.code == 0, "\(info.error)")
    #expect(info.output.contains("Person"))
    #expect(info.error.contains("Reading a copy of 'postgresql://coredata@"))
    let fetch = try _run(
      "store", "fetch", _secret, "Person", "--where", "employer.name ==[cd] 'a'", "--sort", "firstName",
      "--json")
    #expect(fetch.code == 0, "\(fetch.error)")
    #expect(fetch.output.contains("p0") && fetch.output.contains("p2"))
    let model = try _run("model", "show", _secret)
    #expect(model.code == 0 && model.output.contains("employer"), "\(model.error)")
    #expect(![info, fetch, model].contains { ($0.output + $0.error).contains("s3cret") })
    let left = try FileManager.default.contentsOfDirectory(atPath: _tool.directory.path)
    #expect(left == [], "no copy is left")
  }

  @Test func `an export of a copy has all objects and links`() throws {
    let file = _tool.directory.appendingPathComponent("Copy.sqlite")
    let made = try _run("store", "export", _secret, "--output", _tool.directory.path + "/all.ndjson")
    #expect(made.code == 0, "\(made.error)")
    let imported = try _run(
      "store", "import", _tool.directory.path + "/all.ndjson", "--model", _secret, "--output", file.path)
    #expect(imported.code == 0, "\(imported.error)")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestModel.make())
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: file, options: nil)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    let names = try context.performAndWait {
      try context.texts("Person", "firstName", "employer.name == 'Ä' AND tags.@count == 1")
    }
    #expect(names == ["p0", "p1", "p2"])
  }

  @Test func `a copy of a store on a server is explored until the end`() async throws {
    let explorer = try _tool.start(["explore", _secret])
    let process = explorer.process
    defer { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
    var address: URL?
    for _ in 0..<3_000 where address == nil && process.isRunning {
      let said = try explorer.output()
      if said.hasSuffix("\n") { address = URL(string: said.trimmingCharacters(in: .newlines)) }
      try await Task.sleep(for: .milliseconds(10))
    }
    let failure = try explorer.error()
    let start = try #require(address, "\(failure)")
    let session = URLSession(configuration: .ephemeral)
    func page(_ address: String) async throws -> String {
      let url = try #require(URL(string: address, relativeTo: start))
      return String(decoding: try await session.data(from: url).0, as: UTF8.self)
    }
    // The token's page sets the cookie.
    _ = try await page(start.absoluteString)
    let entities = try await page("/")
    #expect(entities.contains("Person") && entities.contains("Tag"), "\(entities)")
    let people = try await page("/entity?name=Person")
    #expect(people.contains("p0") && people.contains("p2"), "\(people)")
    process.interrupt()
    for _ in 0..<3_000 where process.isRunning { try await Task.sleep(for: .milliseconds(10)) }
    try #require(!process.isRunning, "the explorer goes on after an interrupt")
    let error = try explorer.error()
    #expect(error.contains("Serving a copy of 'postgresql://coredata@"))
    #expect(![entities, people, error].contains { $0.contains("s3cret") })
    let left = try FileManager.default.contentsOfDirectory(atPath: _tool.directory.path)
    #expect(left == [], "no copy is left")
  }

  @Test func `a URL is in the arguments of no process it is passed to`() throws {
    let session = try ServerSession(_url)
    try session.lock("company")
    let monitor = try ServerSession(_url)
    let tool = try _tool.start(["store", "info", _secret])
    try #require(try monitor.waits { try $0.waitingStatements("company") == 1 })
    var copies = 0
    for number in try FileManager.default.contentsOfDirectory(atPath: "/proc") where Int(number) != nil {
      let words = FileManager.default.contents(atPath: "/proc/\(number)/cmdline") ?? Data()
      let line = String(decoding: words, as: UTF8.self)
      guard line.contains("coredata-postgresql\0postgres\0copy") else { continue }
      copies += 1
      #expect(!line.contains("s3cret") && !line.contains("postgresql://"))
    }
    #expect(copies > 0)
    try session.connection.execute("ROLLBACK")
    try #expect(tool.wait().code == 0)
  }

  @Test(arguments: [
    (["store", "check", "URL"], "A copy would tell nothing of its tables"),
    (["store", "history", "URL"], "Copies have no history"),
    (["store", "migrate", "URL", "--to", "Any.mom", "--in-place"], "write a migrated copy"),
    (["store", "import", "-", "--model", "Any.mom", "--output", "URL"], "A store is written to a file"),
  ])
  func `what a copy is no good for is refused`(_ words: [String], _ message: String) throws {
    let outcome = try _tool.run(words.map { $0 == "URL" ? _secret : $0 })
    #expect(outcome.code == 64)
    #expect(outcome.error.contains(message), "\(outcome.error)")
    #expect(!outcome.error.contains("s3cret"))
  }

  @Test func `a server that cannot be reached is named`() throws {
    let found = try _run("store", "info", "postgresql://me:s3cret@/none?host=/nowhere&schema=x")
    #expect(found.code == 66)
    #expect(found.error.contains("'postgresql://me@/none?host=/nowhere&schema=x' cannot be copied"))
    #expect(!found.error.contains("s3cret"))
  }
}
