import Foundation

/// A directory of one test, removed after it.
///
/// Its name has the process's ID and start time. The next run removes the directories of processes that have ended
/// otherwise, such as a test that crashed.
final class TestDirectory: Sendable {
  private static let _prefix = "CoreDataTesting-"
  private static let _number = Guarded(0)
  /// Sweeps once in a process.
  private static let _sweep: Void = removeLeftovers()

  let url: URL

  init() throws {
    _ = Self._sweep
    let number = Self._nextNumber()
    let process = ProcessIdentity.current
    url = FileManager.default.temporaryDirectory
      .appendingPathComponent("\(Self._prefix)\(process.id)-\(process.start)-\(number)", isDirectory: true)
    // Fails if anybody else has made it.
    try FileManager.default.createDirectory(
      at: url, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  /// Makes a directory inside, with a name of its own.
  func subdirectory(_ name: String) throws -> URL {
    let place = url.appendingPathComponent("\(name)-\(Self._nextNumber())", isDirectory: true)
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
    return place
  }

  private static func _nextNumber() -> Int {
    _number.withLock { number in
      number += 1
      return number
    }
  }

  func remove() { try? FileManager.default.removeItem(at: url) }

  /// Removes the directories of processes that have ended.
  static func removeLeftovers() {
    let place = FileManager.default.temporaryDirectory
    let names = (try? FileManager.default.contentsOfDirectory(atPath: place.path)) ?? []
    for name in names where name.hasPrefix(_prefix) {
      let parts = name.dropFirst(_prefix.count).split(separator: "-").compactMap { Int($0) }
      guard parts.count == 3,
        !ProcessIdentity(id: Int32(truncatingIfNeeded: parts[0]), start: parts[1]).isAlive
      else { continue }
      try? FileManager.default.removeItem(at: place.appendingPathComponent(name))
    }
  }
}
