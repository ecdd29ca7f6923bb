import Foundation
import Synchronization

/// The model files that this process has read in the last minute. Safe to use from any thread.
///
/// Programs read the model of their store once, and suites of migration tests all versions of it for each
/// test.
final class ModelFileCache: Sendable {
  static let shared = ModelFileCache(limit: 16 << 20, seconds: 60)

  /// A state of a file.
  struct Version: Hashable {
    private struct Time: Hashable {
      let seconds: Int
      let nanoseconds: Int

      init(_ time: timespec) { (seconds, nanoseconds) = (Int(time.tv_sec), Int(time.tv_nsec)) }
    }

    let path: String
    let size: Int64
    private let _device: UInt64
    private let _number: UInt64
    /// When its bytes changed.
    private let _modified: Time
    /// When its bytes, its name or its rights changed.
    private let _changed: Time

    /// The present state of the file at `path`; nil if there is none, or if a later change may leave these
    /// numbers the same: file systems store times in steps of some milliseconds, some of them of two seconds.
    init?(settledFileAt path: String) {
      var facts = stat()
      guard stat(path, &facts) == 0 else { return nil }
      #if canImport(Darwin)
      let (modified, changed) = (facts.st_mtimespec, facts.st_ctimespec)
      #else
      let (modified, changed) = (facts.st_mtim, facts.st_ctim)
      #endif
      let age = Date().timeIntervalSince1970 - Double(modified.tv_sec)
      guard abs(age) > 4 else { return nil }
      self.path = path
      size = Int64(facts.st_size)
      _device = UInt64(truncatingIfNeeded: facts.st_dev)
      _number = UInt64(facts.st_ino)
      (_modified, _changed) = (Time(modified), Time(changed))
    }
  }

  private struct Contents {
    var files: [Version: (file: ReadModelFile, used: ContinuousClock.Instant)] = [:]
    /// Sum of the files' sizes; what is held of a file takes about ten times as much.
    var bytes: Int64 = 0
    var isSweepDue = false

    mutating func remove(_ version: Version) {
      if files.removeValue(forKey: version) != nil { bytes -= version.size }
    }
  }

  private let _limit: Int64
  private let _seconds: Int
  private let _contents = Mutex(Contents())

  /// - Parameters:
  ///   - limit: The greatest sum of the sizes of the files that are kept.
  ///   - seconds: How long a file is kept after its last use, at least; at most twice as long.
  init(limit: Int64, seconds: Int) {
    _limit = limit
    _seconds = seconds
  }

  /// Returns the file of this version, read before or now.
  func file(_ version: Version, orRead read: () throws -> ReadModelFile) rethrows -> ReadModelFile {
    let known = _contents.withLock { contents -> ReadModelFile? in
      contents.files[version]?.used = .now
      return contents.files[version]?.file
    }
    if let known { return known }
    let file = try read()
    // Another program may have replaced the file while it was read.
    guard version.size <= _limit / 4, Version(settledFileAt: version.path) == version else { return file }
    return _contents.withLock { contents in
      if let other = contents.files[version]?.file { return other }
      contents.files[version] = (file, .now)
      contents.bytes += version.size
      while contents.bytes > _limit, let oldest = contents.files.min(by: { $0.value.used < $1.value.used }) {
        contents.remove(oldest.key)
      }
      if !contents.isSweepDue { _sweepLater(&contents) }
      return file
    }
  }

  private func _sweepLater(_ contents: inout Contents) {
    contents.isSweepDue = true
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .seconds(_seconds)) { [weak self] in
      self?._sweep()
    }
  }

  private func _sweep() {
    _contents.withLock { contents in
      let end = ContinuousClock.now - .seconds(_seconds)
      for (version, held) in contents.files where held.used <= end { contents.remove(version) }
      contents.isSweepDue = false
      if !contents.files.isEmpty { _sweepLater(&contents) }
    }
  }

  /// The number of files that are kept.
  var count: Int { _contents.withLock { $0.files.count } }
}
