import CoreData
import CoreDataModelSchema
import CoreDataToolKit
import Foundation
import Testing

@testable import CoreDataStackShootout

/// Screens that main opens after an import.
@Suite struct ScreenTests {
  private let _scratch: ScratchDirectory

  init() throws { _scratch = try ScratchDirectory() }

  private func _layout() throws -> ModelLayout { try ModelLayout(ModelSchema(RecordShop.model())) }

  private func _screens(_ json: String) throws -> [Screen] {
    try ScreenFile(_layout(), name: "screens.json").screens(Array(json.utf8))
  }

  // MARK: The file

  @Test func `a screen is read with all that it says`() throws {
    let screens = try _screens(
      """
      [{"list": "Order", "name": "Open orders", "where": "isPaid == NO", "sort": ["-placed", "customer.name"], "batch": 50,
        "prefetch": "customer", "shows": ["number", "customer.name"], "rows": 5, "pages": 2, "search": {"note": ["p", "pe"]}},
       {"detail": "RushOrder", "shows": "lines.text", "objects": 7}, {"badge": "Order"}]
      """)
    var list = Screen(kind: .list, name: "Open orders", entity: "Order")
    (list.predicate, list.sort, list.batch) = ("isPaid == NO", ["-placed", "customer.name"], 50)
    (list.prefetch, list.shows, list.rows, list.pages) = (["customer"], ["number", "customer.name"], 5, 2)
    list.search = Screen.Search(attribute: "note", texts: ["p", "pe"])
    #expect(screens[0] == list)
    #expect(screens[1].kind == .detail && screens[1].shows == ["lines.text"] && screens[1].objects == 7)
    #expect(screens[2].name == "badge of Order" && screens[2].rows == 20)
  }

  @Test(arguments: [
    ("{}", "has no screens: an array of objects was expected"), ("[]", "has no screens"), ("[", "is no JSON"),
    ("[1]", "screen 1: an object was expected, not the number 1"),
    ("[{\"badge\": \"Order\"}, {\"rows\": 3}]", "screen 2: it needs one of"),
    ("[{\"rows\": 3}]", "it needs one of \"list\", \"detail\" and \"badge\""),
    ("[{\"list\": \"Order\", \"badge\": \"Order\"}]", "it needs one of"),
    ("[{\"list\": \"Ordre\"}]", "the model has no entity 'Ordre'; did you mean 'Order'?"),
    (
      "[{\"list\": \"Order\", \"shwos\": []}]",
      "there is no member 'shwos' of a screen; did you mean 'shows'?"
    ),
    (
      "[{\"list\": \"Order\", \"shows\": [\"customer.nam\"]}]",
      "'Customer' has no 'nam'; did you mean 'name'?"
    ),
    ("[{\"list\": \"Order\", \"sort\": [\"lines\"]}]", "'sort': 'lines' is no attribute"),
    ("[{\"list\": \"Order\", \"prefetch\": [\"note\"]}]", "'prefetch': 'note' is no relationship"),
    ("[{\"list\": \"Order\", \"where\": \"note ==\"}]", "'where' cannot be understood"),
    ("[{\"list\": \"Order\", \"where\": \"placed > 'soon'\"}]", "'where' cannot be understood"),
    ("[{\"list\": \"Order\", \"rows\": 0}]", "'rows': a number from 1 to 10000 was expected"),
    ("[{\"badge\": \"Order\", \"batch\": 2}]", "'search' and 'batch' are of a list"),
    ("[{\"list\": \"Order\", \"search\": {}}]", "'search' is an attribute with what is typed"),
    ("[{\"list\": \"Order\"}, {\"list\": \"Order\"}]", "screen 2: another one is called 'list of Order'"),
  ])
  func `what is no screen of the model is answered with its place`(_ json: String, _ message: String) throws {
    let failure = #expect(throws: ToolFailure.self) { try _screens(json) }
    #expect(failure?.message.contains(message) == true, "\(failure?.message ?? "")")
  }

  // MARK: Screens of a model

  private func _told(_ model: NSManagedObjectModel, _ listing: ImportListing) throws -> (
    screens: [Screen], problems: [String]
  ) {
    try ScreenInference(layout: ModelLayout(ModelSchema(model)), listing: listing).screens()
  }

  @Test func `a model's fetch requests are screens`() throws {
    let model = RecordShop.model()
    let paid = NSFetchRequest<any NSFetchRequestResult>(entityName: "Order")
    paid.predicate = NSPredicate(format: "isPaid == YES")
    paid.fetchBatchSize = 30
    model.setFetchRequestTemplate(paid, forName: "Paid")
    let count = NSFetchRequest<any NSFetchRequestResult>(entityName: "Tag")
    count.resultType = .countResultType
    model.setFetchRequestTemplate(count, forName: "Tags")
    let open = NSFetchRequest<any NSFetchRequestResult>(entityName: "Order")
    open.predicate = NSPredicate(format: "number == $NUMBER")
    model.setFetchRequestTemplate(open, forName: "ByNumber")
    let told = try _told(model, ImportListing(entity: "Order", label: "note", order: "number"))
    #expect(told.screens.map(\.name) == ["Paid", "Tags"] && told.screens.map(\.kind) == [.list, .badge])
    #expect(told.screens[0].batch == 30 && told.screens[0].sort == ["note"])
    #expect(told.screens[0].shows.contains("customer.code"))
    #expect(
      told.problems.count == 1 && told.problems[0].hasPrefix("the fetch request 'ByNumber' has variables"))
  }

  @Test func `without fetch requests what is imported is listed, opened and counted`() throws {
    let told = try _told(RecordShop.model(), ImportListing(entity: "Order", label: "note", order: "number"))
    #expect(told.screens.map(\.name) == ["list of Order", "detail of Order", "badge of Order"])
    #expect(told.screens[0].sort == ["note"] && told.screens[0].shows.first == "note")
    #expect(told.screens[1].shows.contains("lines.text") && told.screens[1].shows.contains("tags.word"))
  }

  // MARK: Opening

  /// A store of orders, each with a customer, two lines and a tag of its own.
  private func _work(orders: Int = 60) throws -> (run: (String) throws -> ScreenRun, store: ImportStore) {
    let model = _scratch.file("Shop.sqlite")
    try RecordShop.makeStore(at: model)
    let lines = (0..<orders).map {
      #"{"number": \#($0), "note": "n\#($0 % 7)", "customer": {"code": "c\#($0)", "name": "C"}, "lines": [{"text": "a"}, {"text": "b"}], "tags": ["t\#($0 % 3)"]}"#
    }
    let path = _scratch.file("orders.ndjson")
    try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: path))
    let input = RecordInput(
      modelPath: model, entity: "Order", keys: ["number", "Tag.word"], origin: .file(path: path))
    let work = try input.makeWork(path)
    let store = SQLiteFiles().store(named: _scratch.file("orders.sqlite"))
    let floor = try work.makeFloor(on: store, in: SQLiteFiles())
    _ = try floor.run(mode: .findOrCreate, saveEvery: 50) { _ in }
    floor.close()
    return ({ json in try ScreenRun(_screens(json), work) }, store)
  }

  private func _figures(_ json: String, _ design: StackDesign = .shared) throws -> ScreenFigures {
    let (run, store) = try _work()
    return try #require(try run(json).figures(design, on: store).first)
  }

  @Test func `a list without prefetching reads each row's customer by a statement of its own`() throws {
    let figures = try _figures(
      #"[{"list": "Order", "sort": "number", "shows": ["number", "customer.name"], "rows": 10, "pages": 3}]"#)
    #expect(figures.found == 60 && figures.faults == 30 && figures.statements == 31)
    #expect(figures.order == (0..<10).map { "\($0)" })
  }

  @Test func `a list that prefetches takes two statements`() throws {
    let figures = try _figures(
      #"[{"list": "Order", "sort": "-number", "shows": "customer.name", "prefetch": "customer", "rows": 10, "pages": 3}]"#
    )
    #expect(figures.faults == 0 && figures.statements == 2)
    #expect(figures.order.first == "59")
  }

  @Test func `a search fetches once for each text that is typed`() throws {
    let figures = try _figures(
      #"[{"list": "Order", "where": "number < 30", "sort": "number", "pages": 1, "search": {"note": ["n", "n3"]}}]"#
    )
    #expect(figures.found == 30 && figures.statements == 3)
  }

  @Test func `a detail screen reads what its relationships lead to`() throws {
    let figures = try _figures(
      #"[{"detail": "Order", "shows": ["note", "customer.name", "lines.text", "tags.word"], "objects": 5}]"#)
    #expect(figures.found == 5 && figures.faults >= 15)
  }

  @Test func `a badge counts`() throws {
    let figures = try _figures(#"[{"badge": "Order", "where": "note == 'n1'"}]"#)
    #expect(figures.found == 9 && figures.statements == 1 && figures.faults == 0)
  }

  @Test(arguments: StackDesign.allCases)
  func `all designs show the same`(_ design: StackDesign) throws {
    let screens = #"[{"list": "Order", "sort": ["note", "-number"], "shows": "tags.word"}, {"badge": "Tag"}]"#
    let (run, store) = try _work()
    let figures = try run(screens).figures(design, on: store)
    #expect(figures.map(\.found) == [60, 3])
    #expect(figures[0].order.prefix(4) == ["n0", "56", "n0", "49"])
  }

  @Test func `the floor reads the rows and columns that are on screen`() throws {
    let (run, store) = try _work()
    let screens = """
      [{"list": "Order", "where": "note IN {'n1', 'n2'}", "sort": ["number"], "shows": ["number", "customer.name"], "rows": 4,
        "pages": 2, "search": {"note": ["1"]}},
       {"detail": "Order", "shows": ["note", "customer.name", "lines.text", "tags.word"], "objects": 3}, {"badge": "Line"}]
      """
    let figures = try ScreenFloor(run: run(screens), store: store).figures()
    #expect(figures.map(\.found) == [18, 3, 120])
    #expect(figures.map(\.statements) == [2, 9, 1])
  }

  // MARK: Changes

  private func _trial(_ json: String) throws -> (trial: ScreenTrial, screen: Screen, query: ScreenQuery) {
    let (run, store) = try _work(orders: 5)
    let opened = try run(json)
    let trial = ScreenTrial(run: opened, store: store, place: SQLiteFiles())
    return (trial, opened.screens[0], try ScreenQuery(opened.screens[0], opened.layout))
  }

  @Test func `relationships that a list shows are tried with prefetching`() throws {
    let shown =
      #"[{"list": "Order", "shows": ["note", "customer.name", "tags.word", "lines"], "prefetch": "tags"}]"#
    let (trial, screen, _) = try _trial(shown)
    #expect(trial.unprefetched(screen) == ["customer", "lines"])
  }

  @Test(arguments: [
    (#"[{"list": "Order", "sort": "-placed"}]"#, ["placed"]),
    (#"[{"list": "Order", "where": "note == 'a' AND number > 3", "sort": "placed"}]"#, ["note", "placed"]),
    (#"[{"list": "Order", "where": "number > 3"}]"#, ["number"]),
    (#"[{"list": "Order", "where": "note CONTAINS 'x'"}]"#, nil),
    (#"[{"list": "Customer", "sort": "code"}]"#, nil),
  ])
  func `an index is tried where a plan reads or sorts all rows`(_ json: String, _ keys: [String]?) throws {
    let (trial, _, query) = try _trial(json)
    #expect(try trial.unindexed(query) == keys)
  }

  // MARK: The tool

  @Test func `the tool opens screens in every design, alone and beside an import`() throws {
    let screens = _scratch.file("screens.json")
    try Data(
      #"[{"list": "Stop", "sort": "name", "shows": ["name", "latitude"]}, {"detail": "Stop", "shows": "name"}]"#
        .utf8
    ).write(to: URL(fileURLWithPath: screens))
    let page = _scratch.file("page.html")
    let outcome = try ToolProcess.run([
      "shootout", "--objects", "300", "--runs", "1", "--screens", screens, "--format", "json", "--report",
      page,
    ])
    #expect(outcome.code == 0, "\(outcome.error)")
    let document = try #require(
      try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
    let stacks = try #require(document["stacks"] as? [[String: Any]])
    #expect(stacks.count == StackDesign.allCases.count && document["advice"] is [Any])
    let floor = document["floor"] as? [String: Any]
    for subject in stacks + [floor ?? [:]] {
      let screens = try #require(subject["screens"] as? [[String: Any]])
      #expect(screens.map { $0["found"] as? Int } == [300, 20])
    }
    let waits = (stacks[0]["screens"] as? [[String: Any]])?[0]["beside_import_ms"] as? [String: Any]
    #expect((waits?["openings"] as? Int ?? 0) > 0)
    let html = try String(contentsOfFile: page, encoding: .utf8)
    #expect(html.contains("<h3>list of Stop</h3>") && html.contains("Figures of detail of Stop"))
  }

  @Test(arguments: ImportMode.allCases)
  func `the stores that are left are those of the import`(_ mode: ImportMode) throws {
    let stores = _scratch.file("stores")
    let outcome = try ToolProcess.run([
      "shootout", "--objects", "40", "--runs", "1", "--screens", "model", "--stores", stores, "--mode",
      mode.rawValue,
    ])
    #expect(outcome.code == 0, "\(outcome.error)")
    let names = try FileManager.default.contentsOfDirectory(atPath: stores).filter { $0.hasSuffix(".sqlite") }
    #expect(Set(names) == Set((["floor"] + StackDesign.allCases.map(\.rawValue)).map { $0 + ".sqlite" }))
    for name in names { #expect(try SQLiteFiles.stops(path: "\(stores)/\(name)").count == 40, "\(name)") }
  }

  @Test func `a missing file of screens is answered before anything runs`() throws {
    let outcome = try ToolProcess.run(["shootout", "--screens", "/no/such.json"])
    #expect(outcome.code == 66, "\(outcome.error)")
  }
}
