import SwiftData
import TestSupport
import Testing

/// Random edits through three contexts and an actor, mirrored in plain values: each context must show the
/// saved state with its own unsaved changes on top.
///
/// `SWIFTDATA_SOAK_STEPS` sets the number of steps for each seed, `SWIFTDATA_SOAK_SEEDS` the seeds, as in `6-200`;
/// `Scripts/stress soak-swiftdata` runs the long form.
struct SoakTests {
  private static let _seeds: ClosedRange<Int> = {
    let text = ProcessInfo.processInfo.environment["SWIFTDATA_SOAK_SEEDS"] ?? "1-5"
    let ends = text.split(separator: "-").compactMap { Int($0) }
    guard let first = ends.first, let last = ends.last, first <= last else { return 1...5 }
    return first...last
  }()
  private static let _steps =
    ProcessInfo.processInfo.environment["SWIFTDATA_SOAK_STEPS"].flatMap { Int($0) } ?? 300

  @Test(arguments: Self._seeds, [true, false])
  func `random edits leave contexts and store agreeing`(_ seed: Int, _ isInMemory: Bool) async throws {
    let configuration =
      isInMemory
      ? ModelConfiguration(isStoredInMemoryOnly: true)
      : ModelConfiguration(url: try TemporaryPlace.makeDirectory().appendingPathComponent("soak.store"))
    let container = try ModelContainer(for: Shelf.self, configurations: configuration)
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
