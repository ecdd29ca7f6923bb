import SwiftData
import Testing

/// Random edits through three contexts and an actor: afterwards all show what the store has, and inverses agree.
///
/// `SWIFTDATA_SOAK_STEPS` sets the number of steps for each seed.
struct SoakTests {
  private static let _steps =
    ProcessInfo.processInfo.environment["SWIFTDATA_SOAK_STEPS"].flatMap { Int($0) } ?? 300

  private struct Dice: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var z = state
      z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
      return z ^ (z >> 31)
    }
  }

  @Test(arguments: 1...5)
  func `random edits leave contexts and store agreeing`(_ seed: Int) async throws {
    let container = try ModelContainer(for: Shelf.self, configurations: .init(isStoredInMemoryOnly: true))
    let contexts = (0..<3).map { _ in ModelContext(container) }
    let actor = Librarian(modelContainer: container)
    var dice = Dice(state: UInt64(seed))
    for step in 0..<Self._steps {
      if dice.next() % 20 == 0 {
        _ = try await actor.add("actor \(step)")
      } else {
        try _edit(contexts[Int(dice.next() % 3)], step, &dice)
      }
    }
    for context in contexts { try context.save() }
    let store = ModelContext(container)
    let expected = try _picture(of: store)
    for context in contexts { #expect(try _picture(of: context) == expected) }
    for volume in try store.fetch(FetchDescriptor<Volume>()) {
      if let shelf = volume.shelf { #expect(shelf.volumes.contains { $0 === volume }) }
      #expect(volume.topics.allSatisfy { topic in topic.volumes.contains { $0 === volume } })
    }
  }

  private func _edit(_ context: ModelContext, _ step: Int, _ dice: inout Dice) throws {
    let shelves = try context.fetch(FetchDescriptor<Shelf>(sortBy: [SortDescriptor(\.code)]))
    let volumes = try context.fetch(FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.title)]))
    let (shelf, volume) = (shelves.randomElement(using: &dice), volumes.randomElement(using: &dice))
    switch dice.next() % 12 {
    case 0: context.insert(Shelf(code: "s\(step)"))
    case 1, 2: context.insert(Volume(title: "v\(step)", pages: step))
    case 3: shelf?.room = "r\(step)"
    case 4: volume?.pages = step
    case 5: volume?.tags.append("t\(step)")
    case 6, 7: if let shelf, let volume { volume.shelf = shelf }
    case 8: volume?.shelf = nil
    case 9:
      let topic = Topic(name: "t\(step)")
      if let volume { volume.topics.append(topic) }
    case 10:
      if volumes.count > 20, let volume { context.delete(volume) }
      if dice.next() % 8 == 0 { context.rollback() }
    default: try context.save()
    }
  }

  /// Every model with its values and what it leads to.
  private func _picture(of context: ModelContext) throws -> Set<String> {
    var lines = Set(try context.fetch(FetchDescriptor<Shelf>()).map { "\($0.code) \($0.room)" })
    for volume in try context.fetch(FetchDescriptor<Volume>()) {
      let topics = volume.topics.map(\.name).sorted()
      lines.insert("\(volume.title) \(volume.pages) \(volume.tags) \(volume.shelf?.code ?? "-") \(topics)")
    }
    return lines
  }
}
