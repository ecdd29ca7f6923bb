import CoreData
import CoreDataToolKit
import Foundation

/// Damages copies of stores, or of compiled models, in every way and reads them in child processes, each file
/// within a time limit.
package struct HostileRun {
  /// The kind of file to damage.
  package enum Subject: Sendable {
    case stores
    case models
  }

  package var subject = Subject.stores
  /// Original files; those larger than `sizeLimit` are skipped.
  package var originals: [URL]
  package var fileCount: Int
  package var seed: UInt64
  /// The directory for files that fail.
  package var findings: URL
  /// Limit of processor time per file, in seconds.
  package var timeLimit = 10.0
  package static let sizeLimit = 400_000

  /// A file that crashed or hung its reader, or that reading changed.
  package struct Finding: Sendable {
    package let file: URL
    package let reason: String
  }

  package init(originals: [URL], fileCount: Int, seed: UInt64, findings: URL) {
    self.originals = originals.filter {
      let size = try? FileManager.default.attributesOfItem(atPath: $0.path)[.size] as? NSNumber
      return (size?.intValue ?? .max) <= HostileRun.sizeLimit
    }
    self.fileCount = fileCount
    self.seed = seed
    self.findings = findings
  }

  /// Runs everything; calls `note` with a line now and then.
  ///
  /// - Parameter reader: Program and first arguments of the child process, which receives pairs of a damaged
  ///   file and its original, and writes a tab-separated line for each: success, the file, and the outcome.
  package func run(reader: [String], note: (String) -> Void) throws -> (
    outcomes: [String: Int], findings: [Finding]
  ) {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
      "hostile-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    var outcomes: [String: Int] = [:]
    var found: [Finding] = []
    var done = 0
    while done < fileCount {
      var pairs: [(file: URL, original: URL)] = []
      for number in done..<min(fileCount, done + 50) {
        var numbers = SeededRandom(seed: seed &+ UInt64(number))
        let original = originals[Int.random(in: 0..<originals.count, using: &numbers)]
        pairs.append((try _make(number, from: original, in: directory, &numbers), original))
      }
      try _read(pairs, reader, &outcomes, &found)
      done += pairs.count
      for pair in pairs {
        for suffix in ["", "-wal", "-shm", "-journal"] {
          try? FileManager.default.removeItem(atPath: pair.file.path + suffix)
        }
      }
      note("\(done) files, \(found.count) findings")
    }
    return (outcomes, found)
  }

  private func _make(
    _ number: Int, from original: URL, in directory: URL, _ numbers: inout SeededRandom
  ) throws -> URL {
    switch subject {
    case .stores:
      let mutation = Mutation.allCases[number % Mutation.allCases.count]
      let file = directory.appendingPathComponent("\(number)-\(mutation.rawValue).sqlite")
      try mutation.make(file, from: original, &numbers)
      return file
    case .models:
      let mutation = ModelMutation.allCases[number % ModelMutation.allCases.count]
      let file = directory.appendingPathComponent("\(number)-\(mutation.rawValue).mom")
      try mutation.make(file, from: original, &numbers)
      return file
    }
  }

  private func _read(
    _ pairs: [(file: URL, original: URL)], _ reader: [String], _ outcomes: inout [String: Int],
    _ found: inout [Finding]
  ) throws {
    var rest = pairs[...]
    while !rest.isEmpty {
      let child = try ReaderProcess(
        reader + rest.flatMap { [$0.file.path, $0.original.path] }, timeLimit: timeLimit)
      let result = child.wait()
      for outcome in result.outcomes {
        outcomes[outcome.words, default: 0] += 1
        if outcome.isFailure, let pair = rest.first(where: { $0.file.path == outcome.file }) {
          found.append(try _keep(pair.file, outcome.words))
        }
      }
      rest = rest.dropFirst(result.outcomes.count)
      if let reason = result.failure, let pair = rest.popFirst() {
        found.append(try _keep(pair.file, reason))
      }
      if result.failure == nil, result.outcomes.isEmpty {
        throw TrialFailure("the reader does nothing: \(reader)")
      }
    }
  }

  private func _keep(_ file: URL, _ reason: String) throws -> Finding {
    try FileManager.default.createDirectory(at: findings, withIntermediateDirectories: true)
    let kept = findings.appendingPathComponent(file.lastPathComponent)
    for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: file.path + suffix) {
      try? FileManager.default.removeItem(atPath: kept.path + suffix)
      try FileManager.default.copyItem(atPath: file.path + suffix, toPath: kept.path + suffix)
    }
    return Finding(file: kept, reason: reason)
  }
}
