import Synchronization

/// The SQLite stores that this process has open, by the path of their file.
final class OpenStores: Sendable {
  static let shared = OpenStores()

  private let _references = Mutex<[String: [Loose<SQLiteStoreEngine>]]>([:])

  /// Notes a store that was opened.
  func add(_ engine: SQLiteStoreEngine) {
    if engine.isInMemory { return }
    let reference = Loose(wrappedValue: engine)
    _references.withLock { $0[engine.path, default: []].append(reference) }
  }

  /// Forgets a store that is closed, and those that are no more.
  func remove(_ engine: SQLiteStoreEngine) {
    _references.withLock { references in
      references[engine.path]?.removeAll { $0.wrappedValue.map { $0 === engine } ?? true }
      if references[engine.path]?.isEmpty ?? false { references[engine.path] = nil }
    }
  }

  /// The open stores with this path.
  func engines(at path: String) -> [SQLiteStoreEngine] {
    _references.withLock { $0[path] ?? [] }.compactMap(\.wrappedValue)
  }

  /// To be called before a file is opened: another one may have had its path, and left its log there.
  func retireStrayLogs(at path: String) {
    for engine in engines(at: path) { engine.pool.retireLogIfMoved() }
  }
}
