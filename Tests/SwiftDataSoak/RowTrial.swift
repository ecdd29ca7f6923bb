import CoreDataLoadTrials
import Foundation
import SwiftData

/// The deletion of many rows by a predicate, which takes at most 16 bytes for each.
struct RowTrial {
  private static let _mostBytes = 16
  private let _count: Int
  private let _container: ModelContainer

  init(in place: URL, rows count: Int) throws {
    _count = count
    _container = try ModelContainer(
      for: Reading.self, configurations: .init(url: place.appendingPathComponent("readings.store")))
    var first = 0
    while first < count {
      let context = ModelContext(_container)
      for number in first..<min(first + 20_000, count) { context.insert(Reading(number)) }
      try context.save()
      first += 20_000
    }
  }

  /// Returns the faults.
  func run() throws -> [String] {
    // What the first deletion loads once stays out of the account.
    let warm = ModelContext(_container)
    try warm.delete(model: Reading.self, where: #Predicate { $0.value < 0 })
    Live.settle()
    let context = ModelContext(_container)
    let before = Live.bytes
    try context.delete(model: Reading.self)
    let marked = Live.bytes - before
    let left = try context.fetchCount(FetchDescriptor<Reading>())
    let counted = Live.bytes - before
    try context.save()
    let saved = Live.bytes - before
    say("\(_count) rows: \(marked) bytes after the call, \(counted) after a count, \(saved) after the save")
    let stored = try ModelContext(_container).fetchCount(FetchDescriptor<Reading>())
    var faults: [String] = []
    if left != 0 || stored != 0 {
      faults.append("\(left) rows are fetched before the save, \(stored) after it")
    }
    if max(marked, counted) > Self._mostBytes * _count {
      faults.append("a row takes more than \(Self._mostBytes) bytes")
    }
    return faults
  }
}
