import CoreData
import CoreDataPostgreSQL
import Foundation
import PostgreSQLServer
import TestSupport
import Testing

/// `coredata shootout` with records, stores and recordings of a server's.
// In turn: each counts the schemas that are left.
@Suite(.serialized, .enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
final class ServerShootoutTests {
  private let _tool: BuiltTool
  private let _url: URL
  /// The key of the person p1, who has a company, two tags and a place in a list.
  private let _key: Int64

  init() throws {
    _tool = try BuiltTool()
    _url = try #require(PostgreSQLServer.shared).newURL()
    let context = try ServerStack(at: _url).context()
    _key = try context.performAndWait {
      let gone = context.make("Person", ["firstName": "gone"])
      try context.save()
      context.delete(gone)
      let company = context.make("Company", ["name": "Ä"])
      let list = context.make("PlayList", ["title": "l"])
      let tags = ["x", "y", "z"].map { context.make("Tag", ["name": $0]) }
      var people: [NSManagedObject] = []
      for number in 0..<4 {
        let person = context.make(
          number == 3 ? "Student" : "Person",
          [
            "firstName": "p\(number)", "age": number, "wage": NSDecimalNumber(string: "0.1"),
            "total": Int64.max,
          ])
        person.setValue(company, forKey: "employer")
        person.setValue(Set(tags[(number % 2)...]), forKey: "tags")
        people.append(person)
      }
      list.setValue(NSOrderedSet(array: people.reversed()), forKey: "fans")
      list.setValue(
        NSOrderedSet(array: ["b", "a", "c"].map { context.make("Track", ["title": $0]) }), forKey: "tracks")
      try context.save()
      let last = people[1].objectID.uriRepresentation().lastPathComponent
      return try #require(Int64(last.dropFirst()))
    }
  }

  private var _secret: String { _url.withPassword }

  private func _start(_ arguments: [String]) throws -> ChildProcess {
    try _tool.start(["shootout", "--runs", "1"] + arguments)
  }

  private func _run(_ arguments: [String]) throws -> [String: Any] {
    let outcome = try _start(["--format", "json"] + arguments).wait()
    try #require(outcome.code == 0, "\(outcome.error)")
    #expect(!(outcome.error + outcome.output).contains("s3cret"))
    return try #require(
      try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
  }

  private func _stacks(_ document: [String: Any]) throws -> [[String: Any]] {
    try #require(document["stacks"] as? [[String: Any]])
  }

  private func _schemas() throws -> Int64 {
    try ServerSession(_url).number(
      "SELECT count(*) FROM pg_namespace WHERE nspname LIKE $1::text", "coredata_shootout_%")
  }

  private func _expectNothingLeft() throws { #expect(try _schemas() == 0) }

  @Test(arguments: ["find-or-create", "bulk", "insert"])
  func `stops are imported on a server, whose stores are dropped`(_ mode: String) throws {
    let result = try _run(["--store", _secret, "--objects", "300", "--mode", mode])
    let stacks = try _stacks(result)
    #expect(stacks.map { $0["id"] as? String } == ["main", "nested2", "nested3", "shared", "shared-store"])
    #expect(stacks.allSatisfy { $0["rows"] as? Int == 300 })
    #expect(((result["machine"] as? [String: Any])?["engine"] as? String)?.hasPrefix("PostgreSQL") == true)
    #expect((result["workload"] as? [String: Any])?["synchronous"] as? String == "on")
    try _expectNothingLeft()
  }

  @Test func `an interrupted shootout drops its stores`() throws {
    let tool = try _start(["--store", _secret, "--objects", "100000"])
    let process = tool.process
    // The tool makes its feed first, which takes many seconds on a busy machine.
    while process.isRunning, try _schemas() == 0 { usleep(20_000) }
    let error = try tool.error()
    try #require(process.isRunning, "\(error)")
    process.interrupt()
    try #expect(tool.wait().code == 130)
    try _expectNothingLeft()
  }

  @Test(arguments: [
    ("s3cret.sqlite", 64, "postgresql://"),
    ("postgresql://me:s3cret@/none?host=/nowhere", 66, "cannot be reached"),
  ])
  func `a shootout on no server is refused without its URL`(_ url: String, _ code: Int32, _ message: String)
    throws
  {
    let outcome = try _start(["--store", url]).wait()
    #expect(outcome.code == code && outcome.error.contains(message), "\(outcome.error)")
    #expect(!outcome.error.contains("s3cret"))
  }

  @Test func `a store on a server is imported into files and into a server`() throws {
    let files = try _stacks(try _run(["--from", _secret, "--entity", "Person"]))
    #expect(files.map { $0["rows"] as? Int } == [4, 4, 4, 4, 4])
    let server = try _stacks(
      try _run(["--from", _secret, "--entity", "Person", "--store", _secret]))
    #expect(server.map { $0["rows"] as? Int } == [4, 4, 4, 4, 4])
    #expect(server.allSatisfy { $0["ratio_to_floor"] as? Double == 0 })
    try _expectNothingLeft()
  }

  @Test func `records are imported on a server, where all designs must leave the same`() throws {
    let data = _tool.directory.appendingPathComponent("people.ndjson")
    try Data(
      """
      {"firstName": "Ada", "age": 36, "employer": {"name": "Analytical"}, "tags": ["x", {"name": "y"}]}
      {"$entity": "Student", "firstName": "Bob", "tags": ["y"]}
      {"firstName": "Ada", "age": 37, "tags": []}
      """.utf8
    ).write(to: data)
    let stacks = try _stacks(
      try _run([
        "--model", _secret, "--data", data.path, "--entity", "Person", "--key", "firstName",
        "--store", _secret, "--screens", "model", "--save-every", "2", "--live-list",
      ]))
    #expect(stacks.map { $0["rows"] as? Int } == [2, 2, 2, 2, 2])
    #expect(stacks.allSatisfy { ($0["screens"] as? [[String: Any]])?.isEmpty == false })
    try _expectNothingLeft()
  }

  /// What a program has done that has read p1 by its key on the server.
  private func _recording() throws -> String {
    let path = _tool.directory.appendingPathComponent("trace.ndjson").path
    let person = "Person/p\(_key)"
    try Data(
      """
      {"kind":"recording","version":1,"program":"desk","process":1,"values":true,"begin":1796032714.5,"processors":2}
      {"kind":"request","request":1,"entity":"Person","result":"objects","where":"firstName == ?"}
      {"t":0.001,"ms":0.0,"thread":0,"context":1,"kind":"context","role":"private"}
      {"t":0.002,"ms":0.1,"thread":0,"context":1,"kind":"fetch","request":1,"found":1,"ids":["\(person)"],"where":"firstName == \\"p1\\""}
      {"t":0.003,"ms":0.1,"thread":0,"context":1,"kind":"fault","id":"\(person)","rows":1}
      {"t":0.004,"ms":0.0,"thread":0,"context":1,"kind":"changes","changes":[{"insert":"Company/t5","values":{"name":"New"}},{"update":"\(person)","values":{"age":77,"employer":"Company/t5"}}]}
      {"t":0.005,"ms":0.1,"thread":0,"context":1,"kind":"save","objects":2,"store":true,"named":{"Company/t5":"Company/p2"}}

      """.utf8
    ).write(to: URL(fileURLWithPath: path))
    return path
  }

  private func _check(_ stacks: [[String: Any]]) throws {
    for stack in stacks {
      let replay = try #require(stack["replay"] as? [String: Any])
      #expect(replay["fetches"] as? Int == 1 && replay["equal"] as? Int == 1, "\(stack)")
      #expect((replay["left_out"] as? [String: Any])?.isEmpty != false, "\(stack)")
      // Four people, two companies, a list, three tracks, three tags.
      #expect(stack["rows"] as? Int == 13)
    }
  }

  @Test func `a recording made on a server is replayed on files, whose objects have other keys`() throws {
    let stores = _tool.directory.appendingPathComponent("stores")
    try _check(
      _stacks(
        _run([
          "--replay", try _recording(), "--from", _secret, "--stacks", "shared,nested3",
          "--stores", stores.path,
        ])))
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: TestModel.make())
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: stores.appendingPathComponent("nested3.sqlite"),
      options: [NSIgnorePersistentStoreVersioningOption: true])
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    func people(_ condition: String) throws -> [String] {
      try context.performAndWait { try context.texts("Person", "firstName", condition) }
    }
    let (changed, others) = (
      try people("age == 77 AND employer.name == 'New'"), try people("employer.name == 'Ä'")
    )
    #expect(changed == ["p1"] && others == ["p0", "p2", "p3"])
  }

  @Test func `a copy that was made with its keys stands for the store that a recording was made on`() throws {
    let (copy, keys) = (_tool.directory.path + "/before.sqlite", _tool.directory.path + "/before.keys")
    let made = try _tool.run(["postgres", "copy", copy, "--keys", keys], input: _secret)
    try #require(made.code == 0, "\(made.error)")
    let told = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: keys)))
    let people = try #require((told as? [String: [String: Int]])?["Person"])
    #expect(people.count == 4 && people["\(_key)"] != nil && people["\(_key)"] != Int(_key))
    // In the meantime, the program has changed the store.
    let context = try ServerStack(at: _url).context()
    try context.performAndWait {
      for person in try context.all("Person") { context.delete(person) }
      try context.save()
    }
    try _check(
      _stacks(
        _run([
          "--replay", try _recording(), "--from", copy, "--from-keys", keys, "--stacks", "shared,nested3",
        ])))
  }

  @Test func `a file that has no keys is refused`() throws {
    let outcome = try _start([
      "--replay", try _recording(), "--from", _secret, "--from-keys", try _recording(),
    ]).wait()
    #expect(outcome.code == 65 && outcome.error.contains("has no keys of a copy"), "\(outcome.error)")
  }

  @Test func `a recording is replayed on a server, into which each run copies the store`() throws {
    try _check(
      _stacks(
        _run(["--replay", try _recording(), "--from", _secret, "--store", _secret])))
    try _expectNothingLeft()
  }
}
