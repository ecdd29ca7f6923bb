import Synchronization

/// The SQLite stores open in this process, by the path of their file.
final class OpenStores: Sendable {
  static let shared = OpenStores()

  private let _references = Mutex<[String: [Loose<SQLiteStoreEngine>]]>([:])

  /// Adds a store that was opened.
  func add(_ engine: SQLiteStoreEngine) {
    if engine.isInMemory { return }
    let reference = Loose(wrappedValue: engine)
    _references.withLock { $0[engine.path, default: []].append(reference) }
  }

  /// Removes a store that is closed, and those deallocated meanwhile.
  func remove(_ engine: SQLiteStoreEngine) {
    _references.withLock { references in
      references[engine.path]?.removeAll { $0.wrappedValue.map { $0 === engine } ?? true }
      if references[engine.path]?.isEmpty ?? false { references[engine.path] = nil }
    }
  }

  /// Returns the open stores with this path.
  func engines(at path: String) -> [SQLiteStoreEngine] {
    _references.withLock { $0[path] ?? [] }.compactMap(\.wrappedValue)
  }

  /// Call before opening a file: another file may have had its path and left its log there.
  func retireStrayLogs(at path: String) {
    for engine in engines(at: path) { engine.pool.retireLogIfMoved() }
  }
}
