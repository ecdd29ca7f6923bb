import CoreData
import CoreDataStoreTrials
import Foundation
import TestSupport
import Testing

/// Corrupted files yield data or an error. The long form is `Scripts/stress fuzz store`.
@Suite struct HostileFileTests {
  private static let _reader = ChildProcess.built("store-trials")

  @Test func `every kind of spoilt file ends in data or an error`() throws {
    let sample = try SampleStore()
    let findings = FileManager.default.temporaryDirectory.appendingPathComponent(
      "findings-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: findings) }
    let run = HostileRun(
      originals: [sample.url], fileCount: Mutation.allCases.count * 4, seed: 20, findings: findings)
    let (outcomes, found) = try run.run(reader: [Self._reader, "read"]) { _ in }
    #expect(found.map { "\($0.file.lastPathComponent): \($0.reason)" } == [])
    #expect(outcomes.values.reduce(0, +) == Mutation.allCases.count * 4)
  }

  @Test func `Every kind of spoilt model ends in a model or an error`() throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
      "models-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let model = directory.appendingPathComponent("Sample.mom")
    try SampleStore.compiledModel().write(to: model)
    let count = ModelMutation.allCases.count * 3
    var run = HostileRun(originals: [model], fileCount: count, seed: 20, findings: directory)
    run.subject = .models
    let (outcomes, found) = try run.run(reader: [Self._reader, "read-models"]) { _ in }
    #expect(found.map { "\($0.file.lastPathComponent): \($0.reason)" } == [])
    #expect(outcomes.values.reduce(0, +) == count)
  }
}
