#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif
import Synchronization

/// Which connections of this process may write the shared memory of a database's write-ahead log.
///
/// SQLite maps that memory once for all connections of a process, with the rights of the first one. After a connection that
/// must not write it (`Connection.Mode.readOnlyBeside`) no connection of the process can write the database until all are
/// closed: "attempt to write a readonly database". So a connection for writing first has those in its way closed, and a
/// connection for reading uses the memory as any other while there is a writer, which writes it anyway.
final class SharedMemoryRights: Sendable {
  static let shared = SharedMemoryRights()

  private struct Uses {
    var readers = 0
    /// Connections for writing, those that wait included.
    var writers = 0
    /// Those that wait for readers to be closed.
    var waiting = 0
    /// Pools that may keep a reader idle.
    var pools: [WeakPool] = []
  }

  private struct WeakPool {
    let id: ObjectIdentifier
    weak var pool: ConnectionPool?
  }

  private let _uses = Mutex<[FileIdentity: Uses]>([:])

  /// The longest wait for readers, in milliseconds: they are lent for single reads, unless a query generation keeps one.
  private static let _patience = 10_000

  /// A connection's part; ends with it.
  final class Use: Sendable {
    let file: FileIdentity
    private let _writes: Bool
    /// Whether a reader was let in although a writer waits, and so may be lent once.
    let isTolerated: Bool

    fileprivate init(_ file: FileIdentity, writes: Bool, isTolerated: Bool = false) {
      self.file = file
      _writes = writes
      self.isTolerated = isTolerated
    }

    deinit {
      SharedMemoryRights.shared._change(file) {
        if _writes { $0.writers -= 1 } else { $0.readers -= 1 }
      }
    }
  }

  /// How long a reader lets a waiting writer go first, in milliseconds: not for ever, since the writer may wait for what the
  /// reader's thread is doing.
  private static let _courtesy = 250

  /// Begins a use by a connection that must not write the memory; nil if there is a writer, so that the connection may be
  /// opened as any other. One opened while readers remain would get and keep their rights, so a new one waits until the
  /// writer does not.
  func beginReading(path: String) -> Use? {
    guard let file = FileStatus(path)?.identity else { return nil }
    for attempt in 0... {
      let (isReader, mustWait) = _uses.withLock { uses -> (Bool, Bool) in
        let use = uses[file] ?? Uses()
        if use.waiting > 0, attempt < Self._courtesy { return (false, true) }
        guard use.writers == 0 || use.waiting > 0 else { return (false, false) }
        uses[file, default: Uses()].readers += 1
        return (true, false)
      }
      guard mustWait else {
        return isReader ? Use(file, writes: false, isTolerated: attempt == Self._courtesy) : nil
      }
      usleep(1000)
    }
    preconditionFailure("the loop ends by returning")
  }

  /// Begins a use by a connection for writing, after all readers are closed; nil for a file that does not exist yet.
  ///
  /// - Throws: `SQLiteError` with `isBusy` if a reader stays in use.
  func beginWriting(path: String, timeout: Double) throws -> Use? {
    guard let file = FileStatus(path)?.identity else { return nil }
    let use = Use(file, writes: true)
    _change(file) { uses in
      uses.writers += 1
      uses.waiting += 1
    }
    defer { _change(file) { $0.waiting -= 1 } }
    // A time limit may be any number, even none.
    for _ in 0...Int(min(Double(Self._patience), max(1, timeout * 1000))) {
      let (readers, pools) = _uses.withLock { ($0[file]?.readers ?? 0, $0[file]?.pools ?? []) }
      guard readers > 0 else { return use }
      for entry in pools { entry.pool?.closeUnwanted() }
      usleep(1000)
    }
    throw SQLiteError(
      code: 5,
      message:
        "a read-only store of this process keeps reading the database, and keeps others of the process from writing it"
    )
  }

  /// Whether a reader is in the way of a writer.
  func isUnwanted(_ use: Use) -> Bool { _uses.withLock { $0[use.file]?.writers ?? 0 } > 0 }

  /// Has a pool close its idle readers when a writer comes.
  func register(_ pool: ConnectionPool, for use: Use) {
    // Looked at outside the lock: the last reference to a pool closes its connections, which take the lock.
    let gone = _uses.withLock { $0[use.file]?.pools ?? [] }.filter { $0.pool == nil }.map(\.id)
    let id = ObjectIdentifier(pool)
    _change(use.file) { uses in
      uses.pools.removeAll { $0.id == id || gone.contains($0.id) }
      uses.pools.append(WeakPool(id: id, pool: pool))
    }
  }

  private func _change(_ file: FileIdentity, _ body: (inout Uses) -> Void) {
    _uses.withLock { uses in
      var use = uses[file] ?? Uses()
      body(&use)
      uses[file] = use.readers > 0 || use.writers > 0 ? use : nil
    }
  }
}
