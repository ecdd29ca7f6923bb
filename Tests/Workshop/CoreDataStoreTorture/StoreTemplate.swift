import CoreDataCTorture
import Foundation

/// Initial stores of rounds: created once, copied for each round.
package final class StoreTemplate {
  package enum Kind: String, Sendable {
    case nothing
    /// Without a save.
    case empty
    /// With saves, and another store beside it.
    case filled
  }

  package static let storeName = "Store.sqlite"
  package static let otherName = "Other.sqlite"
  /// Where a round moves the store.
  package static let movedName = "Moved.sqlite"
  /// Numbers of saves in a filled store, and in the one next to it.
  package static let saveCount: Int64 = 6
  package static let otherCount: Int64 = 9

  /// Names of all files that a store of this name may have.
  package static func files(named name: String) -> Set<String> {
    let base = (name as NSString).deletingPathExtension
    return ["", "-wal", "-shm", "-journal"].reduce(into: [".\(base)_SUPPORT"]) { $0.insert(name + $1) }
  }

  private let _directory: URL
  private let _page: TrialPage
  private var _made: Set<String> = []

  package init(in directory: URL) throws {
    _directory = directory
    _page = try TrialPage()
  }

  /// Copies the template to a new directory, and records its saves on the page.
  ///
  /// - Parameter isLive: whether the store is as a killed process leaves it: with a log that contains saves.
  package func copy(_ kind: Kind, _ form: StoreForm, isLive: Bool, to target: URL, _ page: TrialPage) throws {
    let files = FileManager.default
    try files.createDirectory(at: target, withIntermediateDirectories: true)
    if kind != .nothing {
      let source = try _template(kind, form, isLive)
      for name in try files.contentsOfDirectory(atPath: source.path) {
        try files.copyItem(
          at: source.appendingPathComponent(name), to: target.appendingPathComponent(name))
      }
    }
    try files.createDirectory(
      at: target.appendingPathComponent("tmp"), withIntermediateDirectories: true)
    guard kind == .filled else { return }
    page.setSaved(0, Self.saveCount)
  }

  private func _template(_ kind: Kind, _ form: StoreForm, _ isLive: Bool) throws -> URL {
    let name = "\(kind.rawValue)-\(form.name)\(isLive ? "-live" : "")"
    let directory = _directory.appendingPathComponent(name)
    guard _made.insert(name).inserted else { return directory }
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let ending = try ChildProcess(_page) {
      if kind == .filled {
        let other = try TrialStore(directory.appendingPathComponent(Self.otherName), form)
        for _ in 0..<Self.otherCount { try other.save(writer: WorkRun.laterWriter, on: nil) }
        try other.close()
      }
      let store = try TrialStore(directory.appendingPathComponent(Self.storeName), form)
      if kind == .filled {
        for _ in 0..<Self.saveCount { try store.save(writer: 0, on: nil) }
      }
      if isLive { kill(getpid(), SIGKILL) }
      try store.close()
    }.wait()
    if let failure = ending.failure { throw TortureFailure("no template \(name): \(failure)") }
    return directory
  }
}
