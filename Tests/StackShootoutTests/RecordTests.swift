import CoreData
import CoreDataStoreTools
import CoreDataToolKit
import Foundation
import Testing

@testable import CoreDataStackShootout

/// Records that are imported into a user's model.
@Suite struct RecordTests {
  private let _scratch: ScratchDirectory
  private var _model: String { _scratch.file("Shop.sqlite") }

  init() throws {
    _scratch = try ScratchDirectory()
    try RecordShop.makeStore(at: _scratch.file("Shop.sqlite"))
  }

  private func _file(_ name: String, _ text: String) throws -> String {
    let path = _scratch.file(name)
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    return path
  }

  private func _shootout(_ words: String...) throws -> ToolProcess.Outcome {
    try ToolProcess.run(["shootout", "--model", _model, "--runs", "1"] + words)
  }

  private func _plan(keys: [String] = ["number", "Tag.word"]) throws -> RecordPlan {
    try RecordPlan(modelPath: _model, entity: "Order", keys: keys)
  }

  private func _feed(_ text: String, _ form: ExchangeForm = .ndjson) throws -> RecordFeed {
    try RecordReader(plan: _plan()).read(SpooledInput(path: try _file("input", text)), form)
  }

  @Test func `a store without its model is not taken for one`() throws {
    let path = _scratch.file("Bare.sqlite")
    try RecordShop.makeStore(at: path)
    _ = try PlainSQLite(path: path, readOnly: false).rows("DROP TABLE Z_MODELCACHE")
    let failure = #expect(throws: ToolFailure.self) {
      try RecordPlan(modelPath: path, entity: "Order", keys: ["number"])
    }
    #expect(failure?.message.contains("--model FILE") ?? false)
  }

  // MARK: The import

  @Test(arguments: ImportMode.allCases, [1, 3, 100])
  func `all designs and the floor make equal stores`(_ mode: ImportMode, _ saveEvery: Int) throws {
    let data = try _file("orders.ndjson", RecordShop.lines)
    let outcome = try _shootout(
      "--data", data, "--entity", "Order", "--key", "number", "--key", "Tag.word", "--mode", mode.rawValue,
      "--save-every", "\(saveEvery)", "--live-list", "--format", "json")
    #expect(outcome.code == 0, "\(outcome.error)")
    let document = try #require(
      try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
    let stacks = try #require(document["stacks"] as? [[String: Any]])
    #expect(stacks.count == StackDesign.allCases.count)
    #expect(stacks.allSatisfy { $0["rows"] as? Int == (mode == .insert ? 7 : 4) })
    let workload = try #require(document["workload"] as? [String: Any])
    #expect(workload["records"] as? Int == 7 && workload["entity"] as? String == "Order")
  }

  @Test func `what is imported is in the store`() throws {
    let data = try _file("orders.ndjson", RecordShop.lines)
    let stores = _scratch.file("stores")
    let outcome = try _shootout(
      "--data", data, "--entity", "Order", "--key", "number", "--key", "Tag.word", "--stacks", "nested3",
      "--stores",
      stores)
    #expect(outcome.code == 0, "\(outcome.error)")
    try RecordShop.withOrders(of: stores + "/floor.sqlite") { orders, names in
      #expect(orders.map(\.entity.name) == ["Order", "Order", "RushOrder", "Order"])
      #expect(
        orders.map { ($0.value(forKey: "customer") as? NSManagedObject)?.value(forKey: "code") as? String }
          == ["B", "A", "B", nil])
      #expect(
        orders[0].value(forKey: "total") == nil && orders[1].value(forKey: "total") as? NSDecimalNumber == 1)
      #expect(orders[0].value(forKey: "scan") as? Data == Data([1, 2, 3]))
      #expect(names(0, "favorites", "code") == ["C", "A", "B"] && names(2, "favorites", "code") == ["A"])
      #expect(names(0, "lines", "text") == ["new"] && names(0, "tags", "word") == ["z"])
      #expect(names(1, "tags", "word").sorted() == ["w", "x", "y"])
      #expect(names(0, "remarks", "text").isEmpty)
      let customer = orders[1].value(forKey: "customer") as? NSManagedObject
      #expect(
        (customer?.value(forKey: "badge") as? NSManagedObject)?.value(forKey: "title") as? String == "iron")
    }
  }

  @Test(arguments: ["", #"{"number": 1, "favorites": ["C", "B"]}"# + "\n"])
  func `a member that a list names twice is where it is first`(_ before: String) throws {
    let data = try _file("twice.ndjson", before + #"{"number": 1, "favorites": ["B", "C", "B"]}"#)
    let outcome = try _shootout("--data", data, "--entity", "Order", "--key", "number", "--save-every", "1")
    #expect(outcome.code == 0, "\(outcome.error)")
  }

  @Test(arguments: ["Order=40", "RushOrder=40", "Customer=40", "Line=40"])
  func `made records are imported by all designs`(_ made: String) throws {
    let key = ["--key", made.hasPrefix("Line") ? "text" : made.hasPrefix("Customer") ? "code" : "number"]
    let outcome = try ToolProcess.run(
      ["shootout", "--model", _model, "--runs", "1", "--make", made, "--save-every", "7"] + key)
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(outcome.output.contains("40 \(made.dropLast(3)) records of the invention of"))
  }

  @Test func `made records are the same each time`() throws {
    let plan = try _plan()
    var (one, other) = (try RecordMaker(plan, count: 30), try RecordMaker(plan, count: 30))
    let text = try one.text()
    #expect(try other.text() == text)
    #expect(text.split(separator: "\n").count == 30)
    #expect(text.contains("\"lines\": [{") && text.contains("\"customer\": {"))
  }

  // MARK: The comparison

  /// The digest of a store that the floor has made of some records.
  private func _digest(_ text: String) throws -> StoreDigest {
    let work = RecordWork(plan: try _plan(), feed: try _feed(text))
    let store = SQLiteFiles().store(named: _scratch.file("\(UUID().uuidString).sqlite"))
    let floor = try work.makeFloor(on: store, in: SQLiteFiles())
    _ = try floor.run(mode: .findOrCreate, saveEvery: 2) { _ in }
    floor.close()
    return try #require(try work.check(store, in: SQLiteFiles(), mode: .findOrCreate).digest)
  }

  @Test(arguments: [
    ("\"count\": 2", "\"count\": 3", ["Line"]), ("\"customer\": null", "\"customer\": \"A\"", ["Order"]),
    ("\"fee\": 2.5", "\"fee\": 2.25", ["RushOrder"]),
    ("[\"C\", \"A\", \"B\"]", "[\"C\", \"B\", \"A\"]", ["Customer.fans"]),
    ("\"tags\": [\"z\"]", "\"tags\": [\"y\"]", ["Order.tags"]),
    ("\"title\": \"iron\"", "\"title\": \"lead\"", ["Badge", "Customer"]),
    ("{\"number\": 4, \"customer\": null, \"tags\": []}", "", ["Order"]),
  ])
  func `a difference is found and named`(_ old: String, _ new: String, _ parts: [String]) throws {
    #expect(RecordShop.lines.contains(old))
    let difference = try _digest(RecordShop.lines.replacing(old, with: new)).differences(
      from: try _digest(RecordShop.lines))
    for part in parts { #expect(difference.contains(part), "\(difference)") }
    #expect(try _digest(RecordShop.lines).differences(from: try _digest(RecordShop.lines)).isEmpty)
  }

  // MARK: The input

  @Test func `a record that does not fit is counted, and the rest read`() throws {
    let feed = try _feed(
      """
      {"number": 1}
      {"number": "one"}

      {"note": "no key"}
      {"number": 2, "customer": ["A"]}
      {"number": 3, "lines": "pen"}
      {"number": 4, "$entity": "Tag"}
      {"number": 5, "number": 6}
      """)
    #expect(feed.records.count == 1 && feed.skipped == 6)
    #expect(
      feed.problems[0].hasSuffix("input:2: 'number': a whole number of 64 bits was expected, not 'one'"))
    #expect(feed.problems[1].hasSuffix("input:4: there is no 'number', which is the key"))
    #expect(feed.problems[2].hasSuffix("input:5: 'customer' leads to one object, not to several"))
  }

  @Test func `an object is found among all of the entity that has the key, and stays what it is`() throws {
    let feed = try _feed(
      """
      {"number": 1}
      {"$entity": "RushOrder", "number": 1, "fee": 2}
      {"$entity": "RushOrder", "number": 2, "fee": 2}
      {"number": 2, "note": "found"}
      """)
    #expect(feed.records.map(\.entity.entityName) == ["Order", "RushOrder", "Order"])
    #expect(
      feed.problems.first?.hasSuffix(
        "input:2: the 'Order' of this 'number' is a 'Order' already, and no 'RushOrder'") == true,
      "\(feed.problems)")
    let data = try _file(
      "kinds.ndjson", #"{"$entity":"RushOrder","number":2,"fee":2}"# + "\n" + #"{"number":2,"note":"x"}"#)
    for mode in ["bulk", "find-or-create"] {
      let outcome = try _shootout("--data", data, "--entity", "Order", "--key", "number", "--mode", mode)
      #expect(outcome.code == 0, "\(outcome.error)")
    }
  }

  @Test(arguments: [
    ("{\"nummer\": 1}", "input:1: 'Order' has no property 'nummer'. Did you mean 'number'?"),
    (
      "{\"number\": 1, \"lines\": [\"pen\"]}",
      "'lines' names a 'Line' by a key, and no attribute of it is one"
    ),
    ("{\"number\": 1,", "input:1:"), ("[1]", "input:1: an object was expected"),
  ])
  func `an input of another model fails and says what was found`(_ text: String, _ message: String) throws {
    let failure = #expect(throws: ToolFailure.self) { try _feed(text) }
    #expect(failure?.message.contains(message) == true, "\(failure?.message ?? "")")
  }

  @Test func `CSV and an array of JSON give the same records as lines`() throws {
    let lines = try _digest("{\"number\": 1, \"note\": \"a\", \"tags\": [\"x\", \"y\"]}\n{\"number\": 2}\n")
    func digest(_ feed: RecordFeed) throws -> StoreDigest {
      let work = RecordWork(plan: try _plan(), feed: feed)
      let store = SQLiteFiles().store(named: _scratch.file("\(UUID().uuidString).sqlite"))
      let floor = try work.makeFloor(on: store, in: SQLiteFiles())
      _ = try floor.run(mode: .findOrCreate, saveEvery: 1) { _ in }
      floor.close()
      return try #require(try work.check(store, in: SQLiteFiles(), mode: .findOrCreate).digest)
    }
    #expect(try digest(_feed("number,note,tags\n1,a,x;y\n2,,\n", .csv)) == lines)
    #expect(
      try digest(
        _feed("[{\"number\": 1, \"note\": \"a\", \"tags\": [\"x\", \"y\"]}, {\"number\": 2}]", .json))
        == lines)
    #expect(ExchangeForm.told(byPath: "a.txt", Array(" [".utf8)) == .json)
    #expect(ExchangeForm.told(byPath: "-", Array("{".utf8)) == .ndjson)
    #expect(ExchangeForm.told(byPath: "a.txt", Array("number,".utf8)) == .csv)
  }

  @Test func `a key is an attribute that can be looked up, of a known entity`() throws {
    for (keys, message) in [
      (["nummer"], "Did you mean 'number'?"), (["Customr.code"], "Did you mean 'Customer'?"),
      (["scan"], "cannot be the key"), (["lines"], "has no attribute 'lines'"),
    ] {
      let failure = #expect(throws: ToolFailure.self) { try _plan(keys: keys) }
      #expect(failure?.message.contains(message) == true, "\(failure?.message ?? "")")
    }
    #expect(try _plan(keys: ["number", "Customer.code"]).unindexedKeys == ["Order.number"])
    #expect(try _plan(keys: []).key(of: _plan().entity("Customer", at: "")) != nil, "its constraint")
  }

  @Test(arguments: [
    (["--make", "Order=10", "--data", "x"], 64, "'--make' and '--data' cannot be given together"),
    (["--make", "Order"], 64, "needs the form 'Order=10000'"), (["--make", "Order=0"], 64, "must be from 1"),
    ([], 64, "'--model' needs '--data FILE, --make NAME=N or --from STORE' as well"),
    (["--data", "x"], 64, "'--data' needs '--entity NAME' as well"),
    (["--make", "Order=10", "--stops", "x"], 64, "cannot be given together"),
    (["--make", "Order=10", "--store", "postgresql://x/y", "--stores", "z"], 64, "cannot be given together"),
    (["--make", "Order=10", "--from-keys", "z"], 64, "'--from-keys' needs '--replay' as well"),
    (["--make", "Order=10"], 64, "Which attribute tells one 'Order' from another?"),
    (["--make", "Ordre=10"], 65, "Did you mean 'Order'?"),
    (["--data", "/no/such", "--entity", "Order", "--key", "number"], 66, "Cannot read '/no/such'"),
  ])
  func `a command line that cannot be meant is answered`(_ words: [String], _ code: Int32, _ message: String)
    throws
  {
    let outcome = try ToolProcess.run(["shootout", "--model", _model] + words)
    #expect(outcome.code == code, "\(outcome.error)")
    #expect(outcome.error.contains(message), "\(outcome.error)")
  }

  @Test func `options of records need a model`() throws {
    let outcome = try ToolProcess.run(["shootout", "--data", "x"])
    #expect(outcome.code == 64 && outcome.error.contains("'--data' needs '--model' as well"))
  }
}
