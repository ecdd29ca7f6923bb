import CoreData
import CoreDataStoreTrials
import Foundation
import Testing

/// Spoilt files end in data or an error. The long form is `Scripts/fuzz store`.
@Suite struct HostileFileTests {
  /// The built program, beside the one that runs the tests.
  private static func _reader() throws -> String {
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent("store-trials").path
  }

  @Test func everyKindOfSpoiltFileEndsInDataOrAnError() throws {
    let sample = try SampleStore()
    let findings = FileManager.default.temporaryDirectory.appendingPathComponent(
      "findings-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: findings) }
    let run = HostileRun(
      originals: [sample.url], fileCount: Mutation.allCases.count * 4, seed: 20, findings: findings)
    let (outcomes, found) = try run.run(reader: [Self._reader(), "read"]) { _ in }
    #expect(found.map { "\($0.file.lastPathComponent): \($0.reason)" } == [])
    #expect(outcomes.values.reduce(0, +) == Mutation.allCases.count * 4)
  }
}
