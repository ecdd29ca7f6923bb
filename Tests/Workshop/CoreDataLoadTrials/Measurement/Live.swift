import AllocatedMemory
import CoreDataCSQLite
import Foundation

/// What the process holds.
package enum Live {
  /// Has SQLite count its allocations, so that `bytes` can leave them out. Call it before anything uses
  /// SQLite.
  package static func prepare() { count_sqlite_bytes() }

  /// Bytes in allocations that have not been freed, except SQLite's.
  ///
  /// Each connection caches up to 2 MB of pages, and the pool opens one more whenever so many threads read at
  /// once as never before, up to its limit: that may happen at any time.
  package static var bytes: Int { Int(allocated_bytes()) - Int(sqlite3_memory_used()) }

  /// Number of open descriptors.
  package static func descriptors() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
  }

  /// Number of threads.
  package static func threads() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
  }

  /// Waits until idle threads of Dispatch have ended, each of which keeps up to a thousand blocks for later.
  package static func settleThreads() throws {
    // They end after five seconds.
    var (last, quiet) = (try threads(), 0)
    for _ in 0..<30 where quiet < 6 {
      sleep(1)
      let now = try threads()
      quiet = now == last ? quiet + 1 : 0
      last = now
    }
  }

  /// Waits until threads have let go what they have finished with: until the number of bytes stays.
  package static func settle() {
    var last = bytes
    for _ in 0..<50 {
      usleep(50_000)
      let now = bytes
      if now == last { break }
      last = now
    }
    release_freed_bytes()
  }
}
