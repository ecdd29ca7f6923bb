import Foundation

/// Directories for the stores of tests, which are gone when the process is.
///
/// A test that shows how its process is stopped leaves what it made: the process that started it takes that
/// away.
package enum TemporaryPlace {
  private static let _prefix = "coredata-test-"

  /// A new name for a directory, which is yet to be created.
  package static func make() -> URL {
    _ = _sweepsAtExit
    return FileManager.default.temporaryDirectory.appendingPathComponent(
      "\(_prefix)\(getpid())-\(UUID().uuidString)", isDirectory: true)
  }

  /// A new directory.
  package static func makeDirectory() throws -> URL {
    let directory = make()
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    return directory
  }

  private static let _sweepsAtExit: Void = { _ = atexit { TemporaryPlace._sweep() } }()

  /// Removes what this process has left, and every process that is no more.
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
