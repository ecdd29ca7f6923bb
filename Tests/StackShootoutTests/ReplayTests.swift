import CoreData
import CoreDataToolKit
import Foundation
import Testing

@testable import CoreDataStackShootout

/// Programs that are recorded and replayed on every design.
@Suite struct ReplayTests {
  private let _scratch: ScratchDirectory

  init() throws { _scratch = try ScratchDirectory() }

  /// Records an import of orders with links of all kinds, which finds and changes some of them, through a stack.
  ///
  /// - Returns: The recording, and the store as it was before: without objects.
  private func _recording(_ design: StackDesign, values: Bool) throws -> (trace: String, store: String) {
    let shop = _scratch.file("Shop.sqlite")
    if !FileManager.default.fileExists(atPath: shop) { try RecordShop.makeStore(at: shop) }
    let data = _scratch.file("orders.ndjson")
    try Data(RecordShop.lines.utf8).write(to: URL(fileURLWithPath: data))
    let work = _scratch.file("\(design.rawValue)-\(values)")
    try FileManager.default.createDirectory(atPath: work, withIntermediateDirectories: true)
    let outcome = try ToolProcess.run(
      [
        "shootout", "--model", shop, "--data", data, "--entity", "Order", "--key", "number", "--key",
        "Tag.word", "--runs", "1",
        "--stacks", design.rawValue, "--save-every", "2", "--live-list",
      ],
      variables: ["COREDATA_RECORD": work + "/trace-%p.ndjson", "COREDATA_RECORD_VALUES": values ? "1" : "0"])
    #expect(outcome.code == 0, "\(outcome.error)")
    // The processes of the floor and of the tool itself have contexts of their own.
    let traces = try FileManager.default.contentsOfDirectory(atPath: work).map { work + "/" + $0 }
    let trace = try #require(
      traces.first {
        (try? String(contentsOfFile: $0, encoding: .utf8))?.contains("\"kind\":\"save\"") == true
      })
    return (trace, shop)
  }

  private func _replay(_ trace: String, _ store: String, _ options: [String] = []) throws -> [[String: Any]] {
    let outcome = try ToolProcess.run(
      ["shootout", "--replay", trace, "--from", store, "--runs", "1", "--format", "json"] + options)
    #expect(outcome.code == 0, "\(outcome.error)")
    let document = try #require(
      try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
    return try #require(document["stacks"] as? [[String: Any]])
  }

  @Test(arguments: StackDesign.allCases)
  func `with values each design finds as many objects as were found`(_ design: StackDesign) throws {
    let (trace, store) = try _recording(design, values: true)
    let before = try Data(contentsOf: URL(fileURLWithPath: store))
    let stacks = try _replay(trace, store)
    #expect(stacks.count == StackDesign.allCases.count)
    for stack in stacks {
      let replay = try #require(stack["replay"] as? [String: Any])
      let fetches = try #require(replay["fetches"] as? Int)
      #expect(fetches > 20 && replay["equal"] as? Int == fetches, "\(stack)")
      #expect(replay["by_id"] as? Int == 0)
      // What the import has made: 4 orders, 3 customers, 3 lines, 4 tags, 3 badges, 2 remarks, some of them without an owner.
      #expect(stack["rows"] as? Int == stacks[0]["rows"] as? Int)
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before, "the store is only copied")
  }

  @Test func `with values the objects are what they were`() throws {
    let (trace, store) = try _recording(.shared, values: true)
    let stores = _scratch.file("replayed")
    _ = try _replay(trace, store, ["--stacks", "nested3", "--stores", stores])
    try RecordShop.withOrders(of: stores + "/nested3.sqlite") { orders, names in
      #expect(orders.map(\.entity.name) == ["Order", "Order", "RushOrder", "Order"])
      #expect(orders[0].value(forKey: "scan") as? Data == Data([1, 2, 3]))
      #expect(orders[0].value(forKey: "placed") as? Date == Date(timeIntervalSince1970: 1_709_208_000))
      #expect(orders[0].value(forKey: "total") == nil && orders[0].value(forKey: "isPaid") as? Bool == true)
      #expect(names(0, "favorites", "code") == ["C", "A", "B"] && names(0, "tags", "word") == ["z"])
      #expect(names(0, "lines", "text") == ["new"] && names(1, "tags", "word").sorted() == ["w", "x", "y"])
      #expect(
        (orders[1].value(forKey: "customer") as? NSManagedObject)?.value(forKey: "name") as? String == "Anna")
    }
  }

  @Test func `without values fetches read the recorded objects by ID, which is told`() throws {
    let (trace, store) = try _recording(.nested3, values: false)
    let text = try String(contentsOfFile: trace, encoding: .utf8)
    #expect(!text.contains("Anna") && !text.contains("AQID"), "no value is recorded")
    #expect(text.contains("\"where\":\"number == ?\""))
    let outcome = try ToolProcess.run(
      ["shootout", "--replay", trace, "--from", store, "--runs", "1", "--stacks", "shared,nested3"])
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(outcome.output.contains("read the recorded objects by ID, since values were not recorded"))
    #expect(outcome.output.contains("replayed on copies of Shop.sqlite without pauses"))
  }

  @Test func `a store whose relationships are mandatory is replayed without values, too`() throws {
    let model = RecordShop.model()
    let order = try #require(model.entitiesByName["Order"])
    order.relationshipsByName["customer"]?.isOptional = false
    let path = _scratch.file("Strict.sqlite")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: path), options: nil)
    try coordinator.remove(store)
    let (trace, _) = try _recording(.shared, values: false)
    let stacks = try _replay(trace, path, ["--stacks", "shared,nested3"])
    #expect(stacks.count == 2)
  }

  @Test func `a store with a history keeps it`() throws {
    let (trace, _) = try _recording(.shared, values: true)
    let path = _scratch.file("History.sqlite")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: RecordShop.model())
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: path),
      options: [NSPersistentHistoryTrackingKey: true])
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      _ = NSEntityDescription.insertNewObject(forEntityName: "Remark", into: context)
      try context.save()
    }
    try coordinator.remove(store)
    let stores = _scratch.file("kept")
    _ = try _replay(trace, path, ["--stacks", "nested3", "--stores", stores])
    let transactions = try PlainSQLite(path: stores + "/nested3.sqlite").rows(
      "SELECT count(*) FROM ATRANSACTION")
    #expect(transactions.first?.first.flatMap { $0 }.flatMap { Int($0) } ?? 0 > 1)
  }

  @Test func `a recording of another model is replayed as far as the model goes`() throws {
    let (trace, _) = try _recording(.shared, values: true)
    let text = try String(contentsOfFile: trace, encoding: .utf8).replacing("Badge/", with: "Medal/")
      .replacing("\"entity\":\"Tag\"", with: "\"entity\":\"Mark\"").replacing(
        "\"customer\":\"Customer/", with: "\"customer\":\"Tag/")
    let other = _scratch.file("other.ndjson")
    try Data(text.utf8).write(to: URL(fileURLWithPath: other))
    let stacks = try _replay(other, _scratch.file("Shop.sqlite"), ["--stacks", "shared"])
    let left = try #require((stacks[0]["replay"] as? [String: Any])?["left_out"] as? [String: Int])
    #expect(left["fetches of entities that the model does not have"] != nil, "\(left)")
    #expect(
      left["links that the model does not have"] != nil || left["objects that the store does not have"] != nil
    )
  }

  @Test func `pauses are kept where that is asked for`() throws {
    let (trace, store) = try _recording(.shared, values: true)
    let head = try String(contentsOfFile: trace, encoding: .utf8)
    // A second is inserted before the last save.
    let lines = head.split(separator: "\n")
    let last = try #require(lines.lastIndex { $0.contains("\"kind\":\"save\"") })
    let late = lines[last].replacing(/"t":[0-9.]+/, with: "\"t\":1.0")
    let paused = _scratch.file("paused.ndjson")
    let text = (lines[..<last] + [late[...]] + lines[(last + 1)...]).joined(separator: "\n")
    try Data(text.utf8).write(to: URL(fileURLWithPath: paused))
    let stacks = try _replay(paused, store, ["--stacks", "shared", "--pauses"])
    #expect((stacks[0]["total_s"] as? Double ?? 0) > 0.9)
  }

  @Test func `the tool shows what a recording tells, with the plans of a store`() throws {
    let (trace, store) = try _recording(.nested3, values: false)
    let outcome = try ToolProcess.run(["trace", "show", trace, "--from", store])
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(outcome.output.contains("Order WHERE number == ? LIMIT 1") && outcome.output.contains("SCAN t0"))
    #expect(outcome.output.contains("saves on main"))
    let json = try ToolProcess.run(["trace", "show", trace, "--json"])
    let document = try #require(
      try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
    #expect((document["requests"] as? [Any])?.isEmpty == false && document["contexts"] as? Int == 3)
  }

  @Test func `a recording that cannot be written is said, and the program goes on`() throws {
    let outcome = try ToolProcess.run(
      ["shootout", "--objects", "5", "--runs", "1", "--stacks", "main"],
      variables: ["COREDATA_RECORD": "/no/such/trace.ndjson"])
    #expect(outcome.code == 0)
    #expect(
      outcome.error.contains(
        "COREDATA_RECORD: '/no/such/trace.ndjson' cannot be created: No such file or directory"))
  }

  @Test func `a recording on a full disk ends and says so, and the program goes on`() throws {
    let outcome = try ToolProcess.run(
      ["shootout", "--objects", "50", "--runs", "1", "--stacks", "shared"],
      variables: ["COREDATA_RECORD": "/dev/full"])
    #expect(outcome.code == 0)
    #expect(outcome.error.contains("COREDATA_RECORD: the recording ends here: No space left on device."))
  }

  @Test(arguments: [
    (["--replay", "x"], 64, "'--replay' needs '--from STORE' as well"),
    (
      ["--replay", "x", "--from", "y", "--mode", "bulk"], 64,
      "'--replay' and '--mode' cannot be given together"
    ),
    (["--pauses"], 64, "'--pauses' needs '--replay' as well"),
    (["--replay", "/no/such", "--from", "/no/such.sqlite"], 66, "/no/such"),
  ])
  func `a command line that cannot be meant is answered`(_ words: [String], _ code: Int32, _ message: String)
    throws
  {
    let outcome = try ToolProcess.run(["shootout"] + words)
    #expect(outcome.code == code && outcome.error.contains(message), "\(outcome.code) \(outcome.error)")
  }
}
