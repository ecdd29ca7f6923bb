import CoreData
import Foundation

/// The directory of a driver's rounds, and their shared state.
package final class TrialPlace {
  package let root: URL
  package let page: TrialPage
  package let template: StoreTemplate
  /// Whether children may write to standard error, and whether calls are listed there.
  package let isLoud: Bool
  /// The directory in which the files of a round are kept as its work left them; nil to keep none.
  package let findings: URL?
  private var _count = 0

  /// - Parameter root: A directory that does not exist yet.
  package init(_ root: URL, isLoud: Bool = false, findings: URL? = nil) throws {
    (self.root, self.isLoud, self.findings) = (root, isLoud, findings)
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
    page = try TrialPage()
    template = try StoreTemplate(in: root.appendingPathComponent("templates"))
    try _warmUp()
  }

  /// Does work once, before forking, that each child would repeat: above all hashing the models. It starts no
  /// thread and enqueues nothing, since neither survives a fork.
  private func _warmUp() throws {
    for version in TrialModel.allCases {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: version.model())
      try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    }
  }

  /// Removes all files.
  package func close() { try? FileManager.default.removeItem(at: root) }

  /// Path of a new directory for one round, not created yet.
  package func newDirectory() -> URL {
    _count += 1
    return root.appendingPathComponent("round-\(_count).")
  }

  package func clean(_ directory: URL) { try? FileManager.default.removeItem(at: directory) }

  /// Keeps a copy of a round's files if requested.
  package func keep(_ directory: URL, _ name: String) throws {
    guard let findings else { return }
    let kept = findings.appendingPathComponent(name.replacing("/", with: "."))
    try? FileManager.default.removeItem(at: kept)
    try FileManager.default.createDirectory(at: findings, withIntermediateDirectories: true)
    try FileManager.default.copyItem(at: directory, to: kept)
  }

  /// Runs the checks in a separate process; nil if all succeed.
  package func ask(_ questions: StoreQuestions, _ name: String, _ directory: URL) throws -> String? {
    let step = StoreQuestions.FirstStep(roundNamed: name)
    let ending = try ChildProcess(page, isLoud: isLoud) {
      setenv("TMPDIR", directory.appendingPathComponent("tmp").path, 1)
      try questions.ask(first: step)
    }.wait()
    guard ending != .killed else { return "afterwards: killed from outside" }
    return ending.failure.map { "afterwards, first \(step): \($0)" }
  }
}
