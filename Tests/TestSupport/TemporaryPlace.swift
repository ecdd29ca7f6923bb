import Foundation

/// Directories for the stores of tests, removed when the process ends.
///
/// A test that traps on purpose leaves its files, which the process that started it removes.
package enum TemporaryPlace {
  private static let _prefix = "coredata-test-"

  /// Returns a new name for a directory, without creating it.
  package static func make() -> URL {
    _ = _sweepsAtExit
    return FileManager.default.temporaryDirectory.appendingPathComponent(
      "\(_prefix)\(getpid())-\(UUID().uuidString)", isDirectory: true)
  }

  /// Creates a new directory.
  package static func makeDirectory() throws -> URL {
    let directory = make()
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    return directory
  }

  private static let _sweepsAtExit: Void = { _ = atexit { TemporaryPlace._sweep() } }()

  /// Removes the directories of this process and of all processes that have ended.
  private static func _sweep() {
    let place = FileManager.default.temporaryDirectory
    for name in (try? FileManager.default.contentsOfDirectory(atPath: place.path)) ?? [] {
      guard name.hasPrefix(_prefix), let owner = pid_t(name.dropFirst(_prefix.count).prefix { $0 != "-" })
      else {
        continue
      }
      guard owner == getpid() || kill(owner, 0) != 0 && errno == ESRCH else { continue }
      try? FileManager.default.removeItem(at: place.appendingPathComponent(name))
    }
  }
}
