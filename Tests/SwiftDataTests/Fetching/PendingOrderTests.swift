import Foundation
import SwiftData
import Testing

private struct Spot: Codable, Hashable {
  var lat = 0.0
  var label: String?
}

private enum Rank: Int, Codable { case low = 1, high = 2 }
private enum Tone: String, Codable { case dark, light }
private enum Mood: Codable { case calm, merry, wild }

@Model private final class Trip {
  var title: String
  var spot: Spot
  var rank: Rank
  var tone: Tone?
  var mood: Mood

  init(_ title: String, _ spot: Spot, _ rank: Rank, _ tone: Tone?, _ mood: Mood) {
    self.title = title
    self.spot = spot
    self.rank = rank
    self.tone = tone
    self.mood = mood
  }
}

/// Orders that include unsaved models are those of the store.
struct PendingOrderTests {
  @Test func `a predicate compares the raw values of enumerations`() throws {
    let container = try ModelContainer(for: Trip.self, configurations: .init(isStoredInMemoryOnly: true))
    let context = ModelContext(container)
    for number in 0..<6 {
      context.insert(
        Trip(
          "\(number)", Spot(), number < 2 ? .low : .high, [.dark, .light, nil][number % 3], .calm))
    }
    for isSaved in [false, true] {
      if isSaved { try context.save() }
      func count(_ predicate: Predicate<Trip>) throws -> Int {
        try context.fetchCount(FetchDescriptor(predicate: predicate))
      }
      #expect(try count(#Predicate { $0.rank.rawValue == 2 }) == 4)
      #expect(try count(#Predicate { $0.rank.rawValue < 2 }) == 2)
      #expect(try count(#Predicate { $0.tone?.rawValue == "dark" }) == 2)
      #expect(try count(#Predicate { $0.tone?.rawValue == nil }) == 2)
    }
  }

  @Test func `members of structures and enumerations sort unsaved models as stored ones`() throws {
    let container = try ModelContainer(for: Trip.self, configurations: .init(isStoredInMemoryOnly: true))
    let context = ModelContext(container)
    context.autosaveEnabled = false
    func orders() throws -> [[String]] {
      func titles(_ order: SortDescriptor<Trip>) throws -> [String] {
        try context.fetch(FetchDescriptor<Trip>(sortBy: [order, SortDescriptor(\.title)])).map(\.title)
      }
      return [
        try titles(SortDescriptor(\.spot.lat, order: .reverse)), try titles(SortDescriptor(\.spot.label)),
        try titles(SortDescriptor(\.rank.rawValue)), try titles(SortDescriptor(\.rank)),
        try titles(SortDescriptor(\.tone, order: .reverse)), try titles(SortDescriptor(\.mood)),
      ]
    }
    for number in 0..<12 {
      context.insert(
        Trip(
          "t\(number % 10)\(number)",
          Spot(lat: Double(number * 7 % 12), label: number % 3 == 0 ? nil : "l\(number % 5)"),
          number % 2 == 0 ? .low : .high, [.dark, .light, nil][number % 3],
          [.calm, .merry, .wild][number % 3]))
    }
    let before = try orders()
    try context.save()
    #expect(try orders() == before)
    context.insert(Trip("x", Spot(lat: 5.5, label: "l2"), .low, .light, .calm))
    let mixed = try orders()
    try context.save()
    #expect(try orders() == mixed)
    #expect(mixed[0].first == "t55" && mixed[0].contains("x"))
  }
}

extension Rank: Comparable {
  static func < (left: Rank, right: Rank) -> Bool { left.rawValue < right.rawValue }
}

extension Tone: Comparable {
  static func < (left: Tone, right: Tone) -> Bool { left.rawValue < right.rawValue }
}

extension Mood: Comparable {}
