import Foundation
import SwiftData
import Testing

/// Has a property of every type that is stored as itself, required and optional.
@Model final class Measure {
  var n8: Int8
  var n32: Int32
  var u16: UInt16
  var u32: UInt32
  var u64: UInt64
  var real: Float
  var width: CGFloat
  var flag: Bool
  var day: Date
  var bytes: Data
  var key: UUID
  var place: URL
  var price: Decimal
  var text: String
  var n8OrNone: Int8?
  var length: Double?
  var u32OrNone: UInt32?
  var widthOrNone: CGFloat?
  var flagOrNone: Bool?
  var dayOrNone: Date?
  var bytesOrNone: Data?
  var keyOrNone: UUID?
  var placeOrNone: URL?
  var priceOrNone: Decimal?
  var textOrNone: String?
  @Relationship(inverse: \Measure.previous) var next: Measure?
  var previous: Measure?

  /// All values grow with the number. Optional ones are missing at 0.
  init(_ number: Int) {
    (n8, n32, u16, u32, u64) = (
      Int8(number - 1), Int32(number * 70_000), UInt16(40_000 + number), UInt32(3_000_000_000 + number),
      UInt64(number) << 40
    )
    (real, width, flag) = (Float(number) / 2, CGFloat(number) / 4, number > 0)
    (day, bytes) = (Date(timeIntervalSinceReferenceDate: Double(number)), Data([1, UInt8(number)]))
    key = UUID(uuid: (7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(number)))
    (place, price, text) = (
      URL(string: "https://example.org/\(number)")!, Decimal(number) / 10, "text \(number)"
    )
    guard number > 0 else { return }
    (n8OrNone, u32OrNone, widthOrNone, flagOrNone) = (n8, u32, width, flag)
    length = Double(number) * 1.5
    (dayOrNone, bytesOrNone, keyOrNone, placeOrNone) = (day, bytes, key, place)
    (priceOrNone, textOrNone) = (price, text)
  }

  /// All values, as a text.
  var summary: String {
    let required: [Any] = [
      n8, n32, u16, u32, u64, real, width, flag, day, bytes.count, key, place, price, text,
    ]
    let others: [Any?] = [
      n8OrNone, length, u32OrNone, widthOrNone, flagOrNone, dayOrNone, bytesOrNone?.last, keyOrNone,
      placeOrNone,
      priceOrNone, textOrNone,
    ]
    return required.map { "\($0)" }.joined(separator: " ") + " | "
      + others.map { $0.map { "\($0)" } ?? "-" }.joined(separator: " ")
  }
}

/// Properties of the types that are stored as themselves.
@Suite struct BasicTypeTests {
  /// Where the models are.
  enum Place: CaseIterable, Sendable {
    case memory, custom
  }

  private let _box = MemoStore.Box()

  private func _context(_ place: Place) throws -> ModelContext {
    let container =
      switch place {
      case .memory:
        try ModelContainer(
          for: Measure.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
      case .custom:
        try ModelContainer(
          for: Schema([Measure.self]), configurations: [MemoStore.Configuration(box: _box)])
      }
    return ModelContext(container)
  }

  /// Saves four models, each of which has the one before it as its next, in an order that is no property's.
  private func _filled(_ place: Place) throws -> ModelContext {
    let context = try _context(place)
    let models = (0..<4).map { Measure($0) }
    for index in [2, 0, 3, 1] {
      context.insert(models[index])
      if index > 0 { models[index].next = models[index - 1] }
    }
    try context.save()
    return context
  }

  @Test(arguments: Place.allCases) func `values of every type are saved and read`(_ place: Place) throws {
    let context = try _filled(place)
    let other = place == .custom ? try _context(place) : ModelContext(context.container)
    let read = try other.fetch(FetchDescriptor<Measure>(sortBy: [SortDescriptor(\.n32)]))
    #expect(read.map(\.summary) == (0..<4).map { Measure($0).summary })
    #expect(read.map { $0.next?.n8 } == [nil, -1, 0, 1])
  }

  @Test(arguments: Place.allCases) func `models are sorted by each of them`(_ place: Place) throws {
    let context = try _filled(place)
    let orders: [SortDescriptor<Measure>] = [
      SortDescriptor(\.n8), SortDescriptor(\.n32), SortDescriptor(\.u16), SortDescriptor(\.u32),
      SortDescriptor(\.u64), SortDescriptor(\.real), SortDescriptor(\.width), SortDescriptor(\.day),
      SortDescriptor(\.key), SortDescriptor(\.price), SortDescriptor(\.text), SortDescriptor(\.n8OrNone),
      SortDescriptor(\.length),
      SortDescriptor(\.u32OrNone), SortDescriptor(\.widthOrNone), SortDescriptor(\.dayOrNone),
      SortDescriptor(\.keyOrNone), SortDescriptor(\.priceOrNone), SortDescriptor(\.textOrNone),
    ]
    for order in orders {
      let found = try context.fetch(FetchDescriptor<Measure>(sortBy: [order])).map(\.n8)
      #expect(found == [-1, 0, 1, 2], "\(order)")
    }
  }

  @Test func `models are sorted by each of another model's`() throws {
    let context = try _filled(.memory)
    let orders: [SortDescriptor<Measure>] = [
      SortDescriptor(\.next?.n8), SortDescriptor(\.next?.n32), SortDescriptor(\.next?.u16),
      SortDescriptor(\.next?.u32), SortDescriptor(\.next?.u64), SortDescriptor(\.next?.real),
      SortDescriptor(\.next?.width), SortDescriptor(\.next?.day), SortDescriptor(\.next?.key),
      SortDescriptor(\.next?.price), SortDescriptor(\.next?.text),
    ]
    for order in orders {
      let found = try context.fetch(FetchDescriptor<Measure>(sortBy: [order])).map(\.n8)
      #expect(found == [-1, 0, 1, 2], "\(order)")
    }
    let optional: [SortDescriptor<Measure>] = [
      SortDescriptor(\.next?.n8OrNone), SortDescriptor(\.next?.dayOrNone), SortDescriptor(\.next?.textOrNone),
    ]
    for order in optional {
      let found = try context.fetch(
        FetchDescriptor<Measure>(sortBy: [order, SortDescriptor(\.n8)])
      ).map(\.n8)
      #expect(found == [-1, 0, 1, 2], "\(order)")
    }
  }

  @Test func `a snapshot with all of them is coded and decoded`() throws {
    _ = try _filled(.custom)
    for (id, snapshot) in _box.snapshots {
      let decoded = try JSONDecoder().decode(DefaultSnapshot.self, from: JSONEncoder().encode(snapshot))
      _box.snapshots[id] = decoded
    }
    let read = try _context(.custom).fetch(FetchDescriptor<Measure>(sortBy: [SortDescriptor(\.n8)]))
    #expect(read.map(\.summary) == (0..<4).map { Measure($0).summary })
  }

  @Test(arguments: [false, true]) func `each is set and read by its key path`(_ isInserted: Bool) throws {
    let context = try _context(.memory)
    let (model, wanted) = (Measure(0), Measure(3))
    if isInserted { context.insert(model) }
    func take<Value: Codable>(_ path: ReferenceWritableKeyPath<Measure, Value>) {
      model.setValue(forKey: path, to: wanted[keyPath: path])
      #expect("\(model.getValue(forKey: path))" == "\(wanted[keyPath: path])")
    }
    take(\.n8)
    take(\.n32)
    take(\.u16)
    take(\.u32)
    take(\.u64)
    take(\.real)
    take(\.width)
    take(\.flag)
    take(\.day)
    take(\.bytes)
    take(\.key)
    take(\.place)
    take(\.price)
    take(\.text)
    take(\.n8OrNone)
    take(\.length)
    take(\.u32OrNone)
    take(\.widthOrNone)
    take(\.flagOrNone)
    take(\.dayOrNone)
    take(\.bytesOrNone)
    take(\.keyOrNone)
    take(\.placeOrNone)
    take(\.priceOrNone)
    take(\.textOrNone)
    #expect(model.summary == wanted.summary)
    model.setValue(forKey: \.length, to: nil)
    model.setValue(forKey: \.flagOrNone, to: nil)
    #expect(model.length == nil && model.flagOrNone == nil)
  }
}
