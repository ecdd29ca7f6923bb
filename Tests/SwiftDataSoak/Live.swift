import AllocatedMemory
import CoreDataCSQLite
import Foundation

/// What the process holds.
enum Live {
  /// Bytes in allocations that have not been freed, except SQLite's.
  ///
  /// Each connection caches up to 2 MB of pages, and the pool opens one more whenever so many threads read at once as
  /// never before, up to its limit: that may happen at any time.
  static var bytes: Int { Int(allocated_bytes()) - Int(sqlite3_memory_used()) }

  /// Number of open descriptors.
  static func descriptors() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
  }

  /// Waits until threads have let go what they have finished with: until the number of bytes stays.
  static func settle() {
    var last = bytes
    for _ in 0..<50 {
      usleep(50_000)
      let now = bytes
      if now == last { return }
      last = now
    }
  }
}
