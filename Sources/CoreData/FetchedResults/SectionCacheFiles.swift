import Foundation

/// The files of fetched results caches: one per name, in a directory of the program in the user's cache
/// directory.
enum SectionCacheFiles {
  static var directory: URL {
    let base =
      FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
      ?? FileManager.default.temporaryDirectory
    return base.appendingPathComponent(ProcessInfo.processInfo.processName, isDirectory: true)
      .appendingPathComponent("FetchedResults", isDirectory: true)
  }

  /// Returns the file of a cache; any text may be a name.
  static func url(for name: String) -> URL {
    // Long or unusual names are encoded by their bytes, in a form that every file system accepts.
    let plain = name.utf8.allSatisfy {
      (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
    }
    let stem = plain && name.utf8.count <= 64 ? name : "x" + String(CacheSeal.of(Array(name.utf8)), radix: 16)
    return directory.appendingPathComponent("\(stem).cache")
  }

  static func write(_ data: Data, named name: String) {
    do {
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      try data.write(to: url(for: name), options: .atomic)
    } catch {
      Console.warn(
        "the cache '\(name)' of fetched results cannot be written, and does without: \(error.localizedDescription)"
      )
    }
  }

  /// Deletes one cache; nil deletes all.
  static func delete(_ name: String?) {
    // A missing file is fine.
    try? FileManager.default.removeItem(at: name.map(url(for:)) ?? directory)
  }
}
