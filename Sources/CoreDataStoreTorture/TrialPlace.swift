import CoreData
import Foundation

/// Where a driver's rounds take place, and what they share.
package final class TrialPlace {
  package let root: URL
  package let page: TrialPage
  package let template: StoreTemplate
  /// Whether children may write to the standard error, and calls are listed there.
  package let isLoud: Bool
  /// Where the files of a round are kept as its work left them; nil keeps none.
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

  /// Does once, in the process that forks, what each child would do again: above all hashing the models. It
  /// starts no thread and puts nothing on a queue, which no child could go on with.
  private func _warmUp() throws {
    for version in TrialModel.allCases {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: version.model())
      try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    }
  }

  /// Takes everything away.
  package func close() { try? FileManager.default.removeItem(at: root) }

  /// Path of a directory for one round, which is not there yet.
  package func newDirectory() -> URL {
    _count += 1
    return root.appendingPathComponent("round-\(_count).")
  }

  package func clean(_ directory: URL) { try? FileManager.default.removeItem(at: directory) }

  /// Keeps a copy of a round's files if that is wanted.
  package func keep(_ directory: URL, _ name: String) throws {
    guard let findings else { return }
    let kept = findings.appendingPathComponent(name.replacing("/", with: "."))
    try? FileManager.default.removeItem(at: kept)
    try FileManager.default.createDirectory(at: findings, withIntermediateDirectories: true)
    try FileManager.default.copyItem(at: directory, to: kept)
  }

  /// Asks the questions in a separate process; nil when all answers are right.
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
