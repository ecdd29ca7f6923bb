import CoreDataSQLiteBinding
import Dispatch
import Foundation

/// Deletes external data files that no row references, as left by a program killed during a save.
///
/// Reads all cells of external attributes, and therefore runs at most once a day, in the background. The
/// modification time of the support directory, otherwise unused, records the last run.
struct OrphanSweep {
  /// Age in seconds from which an unreferenced file is an orphan; younger files may belong to a save in
  /// progress.
  static let grace: Double = 86_400

  private let _engine: SQLiteStoreEngine
  private let _now: Date

  init(_ engine: SQLiteStoreEngine, now: Date = Date()) {
    _engine = engine
    _now = now
  }

  /// Starts a sweep in the background if one is due.
  static func startIfDue(_ engine: SQLiteStoreEngine) {
    guard !engine.isInMemory, !engine.options.isReadOnly, OrphanSweep(engine).isDue else { return }
    let reference = Loose(wrappedValue: engine)
    DispatchQueue.global(qos: .utility).async {
      if let engine = reference.wrappedValue { OrphanSweep(engine).run() }
    }
  }

  private var _directory: ExternalDataDirectory { _engine.context.externalData }

  /// Whether there is external data that has not been swept for a day.
  var isDue: Bool {
    var status = stat()
    guard lstat(_directory.supportPath, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      return false
    }
    return _now.timeIntervalSince1970 - Double(FileState.modified(status).tv_sec) >= Self.grace
  }

  /// Deletes the orphans if they can be identified reliably.
  func run() {
    let old = _directory.names.filter(_isOld)
    if !old.isEmpty, !_isSharedInProcess {
      guard let named = _namedFiles(), let others = ExternalDataNeighbours(of: _engine.location).names()
      else {
        return
      }
      _directory.remove(old.filter { !named.contains($0) && !others.contains($0) })
    }
    utimes(_directory.supportPath, nil)
  }

  /// Whether an older state of the store, which may reference other files, is in use.
  private var _isSharedInProcess: Bool {
    OpenStores.shared.engines(at: _engine.path).contains { $0 !== _engine || $0.generations.isHeld }
  }

  private func _isOld(_ name: String) -> Bool {
    var status = stat()
    guard lstat("\(_directory.path)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      return false
    }
    // Copying or restoring a file keeps its modification time but updates its status change time.
    let latest = max(FileState.modified(status).tv_sec, FileState.changed(status).tv_sec)
    return _now.timeIntervalSince1970 - Double(latest) >= Self.grace
  }

  /// Names in cells of external attributes; nil if not all can be read.
  private func _namedFiles() -> Set<String>? {
    var names: Set<String> = []
    do {
      for table in _engine.mapping.tables {
        for column in table.columns where column.content == .externalData {
          try _engine.pool.read { connection in
            try connection.query(
              "SELECT \(column.name) FROM \(table.name) WHERE typeof(\(column.name)) = 'blob' "
                + "AND length(\(column.name)) BETWEEN 37 AND 64"
            ) { row in
              if let name = row.withBytes(0, { ExternalDataDirectory.file(named: $0) }) { names.insert(name) }
            }
          }
        }
      }
      return names
    } catch {
      return nil
    }
  }
}
