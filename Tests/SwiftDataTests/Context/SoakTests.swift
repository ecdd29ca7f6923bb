import SwiftData
import Testing

/// Random edits through three contexts and an actor, mirrored in plain values: each context must show the
/// saved state with its own unsaved changes on top.
///
/// `SWIFTDATA_SOAK_STEPS` sets the number of steps for each seed; `Scripts/stress soak-swiftdata` runs the long
/// form.
struct SoakTests {
  private static let _steps =
    ProcessInfo.processInfo.environment["SWIFTDATA_SOAK_STEPS"].flatMap { Int($0) } ?? 300

  @Test(arguments: 1...5)
  func `random edits leave contexts and store agreeing`(_ seed: Int) async throws {
    let container = try ModelContainer(for: Shelf.self, configurations: .init(isStoredInMemoryOnly: true))
    let actor = Librarian(modelContainer: container)
    var soak = SoakEditor(container, seed: UInt64(seed))
    for step in 0..<Self._steps {
      if soak.dice.next() % 20 == 0 {
        _ = try await actor.add("actor \(step)")
        soak.expected.shelves["actor \(step)"] = ""
      } else {
        try soak.edit(step)
      }
      guard step % 25 == 0 else { continue }
      let found = try soak.differences()
      try #require(found.isEmpty, "after step \(step): \(found)")
    }
    try soak.saveAll()
    #expect(try soak.differences() == [])
    let store = ModelContext(container)
    #expect(try SoakPicture(of: store) == soak.expected)
    for volume in try store.fetch(FetchDescriptor<Volume>()) {
      if let shelf = volume.shelf { #expect(shelf.volumes.contains { $0 === volume }) }
      #expect(volume.topics.allSatisfy { topic in topic.volumes.contains { $0 === volume } })
    }
  }
}
