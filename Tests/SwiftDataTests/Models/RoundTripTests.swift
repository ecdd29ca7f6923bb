import CoreData
import PostgreSQLServer
import SwiftData
import TestSupport
import Testing

private enum TripMood: Codable, CaseIterable { case sad, glad, wild }
private enum TripLevel: Int, Codable { case low = 3, high = 9 }

private struct TripPlace: Codable, Equatable {
  var x: Int
  var note: String?
}

/// A property of each form, required and optional.
@Model private final class Trip {
  var name: String
  var title: String?
  var flag: Bool
  var likely: Bool?
  var number: Int
  var count: Int?
  var small: Int16
  var long: Int64?
  var weight: Double
  var ratio: Float?
  var code: UUID
  var former: UUID?
  var day: Date
  var night: Date?
  var link: URL
  var page: URL?
  var price: Decimal
  var tax: Decimal?
  var image: Data
  var scan: Data?
  var mood: TripMood
  var past: TripMood?
  var level: TripLevel
  var peak: TripLevel?
  var place: TripPlace
  var spot: TripPlace?
  @Attribute(.codable) var whole: TripPlace
  var words: [String]
  var marks: [Int]?
  var table: [String: Int]
  @Attribute(.transformable(by: "TripColor")) var color: TripColor

  init() {
    name = "n"
    flag = false
    number = 1
    small = 2
    weight = 3
    code = UUID(uuidString: "00000000-0000-0000-0000-000000000001")!
    day = Date(timeIntervalSinceReferenceDate: 1)
    link = URL(string: "https://example.org/1")!
    price = 1
    image = Data([1])
    mood = .sad
    level = .low
    place = TripPlace(x: 1, note: "a")
    whole = TripPlace(x: 2, note: nil)
    words = ["one"]
    table = ["a": 1]
    color = TripColor(1)
  }
}

private final class TripColor: NSObject, @unchecked Sendable {
  // Unchecked: immutable.
  let number: UInt8
  init(_ number: UInt8) { self.number = number }
  override func isEqual(_ object: Any?) -> Bool { (object as? TripColor)?.number == number }
  override var hash: Int { Int(number) }
}

private final class TripColorTransformer: ValueTransformer {
  override class func allowsReverseTransformation() -> Bool { true }
  override func transformedValue(_ value: Any?) -> Any? { (value as? TripColor).map { Data([$0.number]) } }
  override func reverseTransformedValue(_ value: Any?) -> Any? {
    (value as? Data)?.first.map { TripColor($0) }
  }
}

/// A step of the table: how a property is changed and read.
private struct Passage: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// Sets the property to another value than the initial one.
  let change: @Sendable (Trip) -> Void
  /// Sets an optional property to nil.
  let clear: (@Sendable (Trip) -> Void)?
  /// The property's value as text.
  let text: @Sendable (Trip) -> String

  static func required<Value>(
    _ name: String, _ path: @escaping @Sendable () -> ReferenceWritableKeyPath<Trip, Value>,
    _ value: @escaping @Sendable () -> Value
  ) -> Passage {
    Passage(
      testDescription: name, change: { $0[keyPath: path()] = value() }, clear: nil,
      text: { "\($0[keyPath: path()])" })
  }

  static func optional<Value>(
    _ name: String, _ path: @escaping @Sendable () -> ReferenceWritableKeyPath<Trip, Value?>,
    _ value: @escaping @Sendable () -> Value
  ) -> Passage {
    Passage(
      testDescription: name, change: { $0[keyPath: path()] = value() },
      clear: { $0[keyPath: path()] = nil }, text: { $0[keyPath: path()].map { "\($0)" } ?? "nil" })
  }

  static let all: [Passage] = [
    required("String", { \.name }, { "ü" }), optional("String?", { \.title }, { "t" }),
    required("Bool", { \.flag }, { true }), optional("Bool?", { \.likely }, { false }),
    required("Int", { \.number }, { -7 }), optional("Int?", { \.count }, { .max }),
    required("Int16", { \.small }, { -300 }), optional("Int64?", { \.long }, { .min }),
    required("Double", { \.weight }, { 0.25 }), optional("Float?", { \.ratio }, { 1.5 }),
    required("UUID", { \.code }, { UUID(uuidString: "00000000-0000-0000-0000-000000000002")! }),
    optional("UUID?", { \.former }, { UUID(uuidString: "00000000-0000-0000-0000-000000000003")! }),
    required("Date", { \.day }, { Date(timeIntervalSinceReferenceDate: 100.25) }),
    optional("Date?", { \.night }, { Date(timeIntervalSinceReferenceDate: -5) }),
    required("URL", { \.link }, { URL(string: "https://example.org/2")! }),
    optional("URL?", { \.page }, { URL(string: "file:///tmp/x")! }),
    required("Decimal", { \.price }, { Decimal(string: "12345.6789")! }),
    optional("Decimal?", { \.tax }, { Decimal(string: "-0.19")! }),
    required("Data", { \.image }, { Data([2, 3]) }), optional("Data?", { \.scan }, { Data([4]) }),
    required("enum", { \.mood }, { .wild }), optional("enum?", { \.past }, { .glad }),
    required("enum with raw values", { \.level }, { .high }),
    optional("enum with raw values?", { \.peak }, { .low }),
    required("struct", { \.place }, { TripPlace(x: 8, note: nil) }),
    optional("struct?", { \.spot }, { TripPlace(x: 9, note: "s") }),
    required("coded struct", { \.whole }, { TripPlace(x: 5, note: "w") }),
    required("member of a struct", { \.place.x }, { 77 }),
    required("array", { \.words }, { ["two", ""] }), optional("array?", { \.marks }, { [3, 1, 2] }),
    required("dictionary", { \.table }, { ["b": 2] }),
  ]
}

/// Where trips are stored.
private enum TripStore: String, CaseIterable, CustomTestStringConvertible {
  case memory, file, server, custom

  static let allCases: [TripStore] =
    [.memory, .file, .custom] + (PostgreSQLServer.shared == nil ? [] : [.server])

  var testDescription: String { rawValue }

  /// A way to open containers over one new store.
  func opener() throws -> () throws -> ModelContainer {
    switch self {
    case .memory:
      let container = try ModelContainer(
        for: Trip.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
      return { container }
    case .file:
      let url = try TemporaryPlace.makeDirectory().appendingPathComponent("Trips.store")
      return { try ModelContainer(for: Trip.self, configurations: ModelConfiguration(url: url)) }
    case .server:
      let url = try #require(PostgreSQLServer.shared).newURL()
      return { try ModelContainer(for: Trip.self, configurations: ModelConfiguration(url: url)) }
    case .custom:
      let box = MemoStore.Box()
      return {
        try ModelContainer(for: Schema([Trip.self]), configurations: [MemoStore.Configuration(box: box)])
      }
    }
  }
}

/// Each form of attribute through set, save, another context, a further change, roll back, undo and nil, in each kind of
/// store.
@Suite struct RoundTripTests {
  private static let _register: Void = ValueTransformer.setValueTransformer(
    TripColorTransformer(), forName: NSValueTransformerName("TripColor"))

  init() { Self._register }

  private func _read(_ passage: Passage, _ container: ModelContainer) throws -> String {
    let context = ModelContext(container)
    return try withExtendedLifetime(context) {
      passage.text(try #require(try context.fetch(FetchDescriptor<Trip>()).first))
    }
  }

  /// A context over a new store, and a saved trip.
  private func _saved(_ container: ModelContainer) throws -> (ModelContext, Trip) {
    let context = ModelContext(container)
    context.autosaveEnabled = false
    let trip = Trip()
    context.insert(trip)
    try context.save()
    return (context, trip)
  }

  @Test(arguments: Passage.all, TripStore.allCases)
  fileprivate func `a value is stored, changed, rolled back and taken away`(
    _ passage: Passage, _ store: TripStore
  ) throws {
    let expected = Trip()
    let initial = passage.text(expected)
    passage.change(expected)
    let changed = passage.text(expected)
    #expect(initial != changed)

    let open = try store.opener()
    let container = try open()
    let (context, trip) = try _saved(container)
    #expect(try _read(passage, container) == initial)

    passage.change(trip)
    #expect(passage.text(trip) == changed)
    #expect(context.hasChanges)
    context.rollback()
    #expect(passage.text(trip) == initial)
    #expect(try _read(passage, container) == initial)

    passage.change(trip)
    try context.save()
    #expect(try _read(passage, container) == changed)
    #expect(try _read(passage, open()) == changed)

    guard let clear = passage.clear else { return }
    clear(trip)
    #expect(passage.text(trip) == "nil")
    try context.save()
    #expect(try _read(passage, container) == "nil")
    #expect(try _read(passage, open()) == "nil")
    passage.change(trip)
    try context.save()
    #expect(try _read(passage, container) == changed)
  }

  @Test(arguments: Passage.all, TripStore.allCases)
  fileprivate func `a change is undone and done again`(_ passage: Passage, _ store: TripStore) throws {
    let expected = Trip()
    let initial = passage.text(expected)
    passage.change(expected)
    let changed = passage.text(expected)

    let (context, trip) = try _saved(try store.opener()())
    let undo = UndoManager()
    undo.groupsByEvent = false
    context.undoManager = undo
    undo.beginUndoGrouping()
    passage.change(trip)
    context.processPendingChanges()
    undo.endUndoGrouping()
    undo.undo()
    #expect(passage.text(trip) == initial)
    undo.redo()
    #expect(passage.text(trip) == changed)
  }

  @Test(arguments: Passage.all)
  fileprivate func `an observer is told before a value changes`(_ passage: Passage) throws {
    let (context, saved) = try _saved(try TripStore.memory.opener()())
    defer { withExtendedLifetime(context) {} }
    // The closure is called by the change, in this thread.
    nonisolated(unsafe) let trip = saved
    nonisolated(unsafe) var seen: [String] = []
    let before = passage.text(trip)
    withObservationTracking {
      _ = passage.text(trip)
    } onChange: {
      seen.append(passage.text(trip))
    }
    passage.change(trip)
    #expect(seen == [before])
  }

  @Test(arguments: Passage.all, [false, true])
  fileprivate func `an observer of a model without context is told, also after its insertion`(
    _ passage: Passage, _ isInserted: Bool
  ) throws {
    let context = ModelContext(try TripStore.memory.opener()())
    defer { withExtendedLifetime(context) {} }
    // The closure is called by the change, in this thread.
    nonisolated(unsafe) let trip = Trip()
    nonisolated(unsafe) var told = 0
    withObservationTracking {
      _ = passage.text(trip)
    } onChange: {
      told += 1
    }
    if isInserted { context.insert(trip) }
    #expect(told == 0)
    passage.change(trip)
    #expect(told == 1)
  }

  @Test(arguments: TripStore.allCases)
  fileprivate func `a transformable value is replaced`(_ store: TripStore) throws {
    let container = try store.opener()()
    let (context, trip) = try _saved(container)
    trip.color = TripColor(200)
    try context.save()
    let other = ModelContext(container)
    #expect(try other.fetch(FetchDescriptor<Trip>()).first?.color == TripColor(200))
  }
}
