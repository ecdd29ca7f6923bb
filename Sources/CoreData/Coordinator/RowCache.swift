import Synchronization

/// Rows recently read or saved by the coordinator's contexts, by identity, up to a number of rows and of
/// bytes. Two generations: when the younger is full, the older one is dropped, with all rows not used
/// meanwhile.
final class RowCache: Sendable {
  private struct Generation {
    var rows: [IdentityKey: Row] = [:]
    /// When the rows were read or saved, of those whose time is known.
    var times: [IdentityKey: Int] = [:]
    /// At least what the rows take: rows that were replaced or removed count until `measure()`.
    var bytes = 0

    @inline(__always) mutating func set(_ row: Row, at time: Int, _ bytes: Int, for key: IdentityKey) {
      rows[key] = row
      account(at: time, bytes, for: key)
    }

    /// Records time and bytes of a row that is in `rows` already.
    @inline(__always) mutating func account(at time: Int, _ bytes: Int, for key: IdentityKey) {
      self.bytes += bytes
      if time != .min || !times.isEmpty { times[key] = time }
    }

    mutating func measure() { bytes = rows.values.reduce(0) { $0 + $1.footprint } }

    /// Returns the row of a key, unless it is from before a time.
    @inline(__always) func row(for key: IdentityKey, since earliest: Int) -> Row? {
      guard let row = rows[key] else { return nil }
      return earliest == .min || time(of: key) >= earliest ? row : nil
    }

    @inline(__always) func time(of key: IdentityKey) -> Int { times.isEmpty ? .min : times[key] ?? .min }

    mutating func remove(_ key: IdentityKey) {
      rows[key] = nil
      if !times.isEmpty { times[key] = nil }
    }

    mutating func removeAll() {
      rows.removeAll(keepingCapacity: true)
      times.removeAll(keepingCapacity: true)
      bytes = 0
    }
  }

  private struct Generations {
    var young = Generation()
    var old = Generation()
    var stripes = Stripes()
    /// Until when it is known what has changed in a table, by `ObjectIDSpace.number`: its rows were current then.
    var proven: [UInt64: Int] = [:]

    mutating func removeAll(at epoch: Int) {
      (young, old) = (Generation(), Generation())
      stripes.floor = epoch
    }
  }

  /// When rows were last replaced or dropped, in epochs, by groups of keys: what a read or a save has seen before may be
  /// older.
  private struct Stripes {
    private static let _count = 1024
    private var _epochs = [Int](repeating: 0, count: _count)
    /// When all rows were dropped.
    var floor = 0

    @inline(__always) static func place(of key: IdentityKey) -> Int { key.mixed & (_count - 1) }

    @inline(__always) subscript(place: Int) -> Int {
      get { max(_epochs[place], floor) }
      set { _epochs[place] = newValue }
    }
  }

  private let _rows = Mutex(Generations())
  /// Incremented by every commit, under the lock.
  private let _commits = Atomic<Int>(0)
  /// Whether any context lets rows age.
  private let _keepsTimes = Atomic<Bool>(false)
  /// Milliseconds for which contexts show rows unless they say otherwise; negative for no limit.
  private let _age = Atomic<Int>(-1)
  private let _capacity: Int
  private let _byteCapacity: Int

  /// - Parameters:
  ///   - capacity: Rows per generation.
  ///   - byteCapacity: Bytes per generation. A row that takes more than a quarter is not kept.
  init(capacity: Int = 4096, byteCapacity: Int = 8 << 20) {
    _capacity = capacity
    _byteCapacity = byteCapacity
  }

  /// - Parameter earliest: The time, by `CoarseClock`, before which a row is too old.
  func row(for key: ObjectKey, readSince earliest: Int = .min) -> Row? {
    let key = IdentityKey(key)
    return _rows.withLock { rows in
      if let row = rows.young.row(for: key, since: earliest) { return row }
      let isProven = earliest != .min && rows.proven[key.space].map { $0 >= earliest } ?? false
      let earliest = isProven ? .min : earliest
      if isProven, let row = rows.young.rows[key] { return row }
      // What the younger one has is not older than what the other has.
      guard let row = rows.old.row(for: key, since: earliest) else { return nil }
      rows.young.set(row, at: rows.old.time(of: key), row.footprint, for: key)
      return row
    }
  }

  /// Records from now on when rows are read or saved; called once the first context lets rows age. The times
  /// of earlier rows are unknown: they count as too old for any context that does.
  func keepTimes() { _keepsTimes.store(true, ordering: .relaxed) }

  /// Sets the seconds for which contexts show rows unless they say otherwise; nil for no limit.
  func setAge(_ seconds: Double?) {
    _age.store(seconds.map { Int(min(1e12, $0 * 1000)) } ?? -1, ordering: .relaxed)
  }

  /// The time, by `CoarseClock`, before which a row is too old for contexts that do not say otherwise.
  var earliestByAge: Int {
    let age = _age.load(ordering: .relaxed)
    return age < 0 ? .min : CoarseClock.now - age
  }

  private var _now: Int { _keepsTimes.load(ordering: .relaxed) ? CoarseClock.now : .min }

  /// The number of commits so far.
  @inline(__always)
  var epoch: Int { _commits.load(ordering: .acquiring) }

  /// The beginning of a read of a store.
  struct Moment {
    let epoch: Int
    /// By `CoarseClock`; `.min` if no context lets rows age.
    let time: Int
  }

  /// The current moment; take it before a read.
  @inline(__always)
  var moment: Moment { Moment(epoch: epoch, time: _now) }

  /// The rows and bytes in the cache, counting a row twice that both generations have.
  var size: (rows: Int, bytes: Int) {
    _rows.withLock { rows in
      rows.young.measure()
      rows.old.measure()
      return (rows.young.rows.count + rows.old.rows.count, rows.young.bytes + rows.old.bytes)
    }
  }

  /// What contradicts itself in the cache, for tests.
  var inconsistencies: [String] {
    _rows.withLock { rows in
      var found: [String] = []
      for generation in [rows.young, rows.old] {
        let bytes = generation.rows.values.reduce(0) { $0 + $1.footprint }
        if bytes > generation.bytes {
          found.append("the row cache counts \(generation.bytes) bytes of \(bytes)")
        }
        if !generation.times.keys.allSatisfy({ generation.rows[$0] != nil }) {
          found.append("the row cache has times of rows that it has not")
        }
      }
      if rows.young.rows.count > _capacity {
        found.append("the row cache has \(rows.young.rows.count) younger rows")
      }
      for (key, row) in rows.old.rows where rows.young.rows[key].map({ $0.version < row.version }) ?? false {
        found.append("the row cache has a younger row of an older version")
      }
      return found
    }
  }

  /// Caches rows that a read returned, but for those that a commit may have replaced or dropped since it began.
  func keep(_ found: [StoredObject], readAt moment: Moment) {
    _rows.withLock { rows in
      let isCurrent = epoch == moment.epoch
      for object in found {
        guard let row = object.row else { continue }
        let key = IdentityKey(object.key)
        if isCurrent || rows.stripes[Stripes.place(of: key)] <= moment.epoch {
          _keep(row, at: moment.time, key, &rows)
        }
      }
    }
  }

  /// Caches a row that a read returned, unless a commit may have replaced or dropped it since it began.
  func keep(_ row: Row, for key: ObjectKey, readAt moment: Moment) {
    let key = IdentityKey(key)
    _rows.withLock { rows in
      guard rows.stripes[Stripes.place(of: key)] <= moment.epoch else { return }
      _keep(row, at: moment.time, key, &rows)
    }
  }

  private func _keep(_ row: Row, at time: Int, _ key: IdentityKey, _ rows: inout Generations) {
    let bytes = row.footprint
    if bytes > _byteCapacity / 4 { return }
    rows.young.set(row, at: time, bytes, for: key)
    _ageIfFull(&rows)
  }

  /// What a commit has written and deleted.
  struct Commit {
    var entries: [ChangeLayer.Entry] = []
    /// Deleted rows whose keys alone are known.
    var runs: [KeyRun] = []
    /// Further rows that the store has written or deleted along with the entries.
    var written: [(ObjectKey, Row)] = []
    var deleted: [ObjectKey] = []
  }

  /// Applies what a commit has written and deleted.
  ///
  /// Commits to one server are made side by side, and may arrive here in another order: a row that was replaced or
  /// dropped since the commit began is not cached unless it is known to be the newer one.
  ///
  /// - Parameter begun: The moment before the commit's first statement; nil if commits arrive in their order.
  /// - Returns: The epoch after the commit.
  @discardableResult
  func commit(_ commit: Commit, begunAt begun: Moment? = nil) -> Int {
    let time = begun?.time ?? _now
    return _rows.withLock { rows in
      let epoch = _beginEpoch()
      var arrival = Arrival(begun: begun?.epoch, epoch: epoch, time: time)
      if !commit.runs.isEmpty { _remove(commit.runs, &rows) }
      commit.entries.forEachUnretained { entry in
        let key = IdentityKey(entry.id)
        if key.isTemporary { return }
        switch entry.kind {
        case .inserted, .updated: if let row = entry.row { _arrive(row, key, &arrival, &rows) }
        case .deleted, .insertedThenDeleted: _arrive(nil, key, &arrival, &rows)
        }
      }
      for (key, row) in commit.written { _arrive(row, IdentityKey(key), &arrival, &rows) }
      for key in commit.deleted { _arrive(nil, IdentityKey(key), &arrival, &rows) }
      // Runs have too many keys to note each. Last, so that the rows above are compared with other commits.
      if !commit.runs.isEmpty { rows.stripes.floor = epoch }
      return epoch
    }
  }

  /// A commit that is being applied.
  private struct Arrival {
    let begun: Int?
    let epoch: Int
    let time: Int
    /// Groups of keys to which another commit has come since this one began.
    var overtaken: Set<Int> = []

    /// Notes that a row of a group arrives.
    ///
    /// - Returns: Whether another commit may have written or deleted it after this one.
    @inline(__always) mutating func isOvertaken(_ place: Int, _ stripes: inout Stripes) -> Bool {
      guard let begun else {
        stripes[place] = epoch
        return false
      }
      let last = stripes[place]
      if last > begun, last != epoch { overtaken.insert(place) }
      stripes[place] = epoch
      return !overtaken.isEmpty && overtaken.contains(place)
    }
  }

  /// Applies one row; nil for a deleted one.
  @inline(__always)
  private func _arrive(_ row: Row?, _ key: IdentityKey, _ arrival: inout Arrival, _ rows: inout Generations) {
    let isOvertaken = arrival.isOvertaken(Stripes.place(of: key), &rows.stripes)
    guard let row else { return _drop(key, &rows) }
    if !isOvertaken { return _insertUnlessOlder(row, at: arrival.time, key, &rows) }
    // Later it may have been deleted, of which nothing is left to compare with.
    let known = rows.young.rows[key] ?? rows.old.rows[key]
    if known.map({ $0.version <= row.version }) ?? true { _drop(key, &rows) }
  }

  private func _beginEpoch() -> Int { _commits.wrappingAdd(1, ordering: .releasing).newValue }

  @inline(__always)
  private func _insertUnlessOlder(
    _ row: Row, at time: Int, _ key: IdentityKey, _ rows: inout Generations
  ) {
    let bytes = row.footprint
    if bytes > _byteCapacity / 4 { return _drop(key, &rows) }
    // Rows of other coordinators may arrive late; keep the newer row.
    let replaced = rows.young.rows.updateValue(row, forKey: key)
    if let known = replaced ?? rows.old.rows[key], known.version > row.version {
      let time = max(rows.young.time(of: key), rows.old.time(of: key))
      rows.young.set(known, at: time, known.footprint, for: key)
    } else {
      rows.young.account(at: time, bytes, for: key)
    }
    _ageIfFull(&rows)
  }

  private func _drop(_ key: IdentityKey, _ rows: inout Generations) {
    rows.young.remove(key)
    rows.old.remove(key)
  }

  /// Shows the rows of some tables as if they had been read at a moment, but for some that are invalidated: what was changed
  /// until then.
  ///
  /// - Parameters:
  ///   - spaces: Numbers of `ObjectIDSpace`.
  ///   - time: By `CoarseClock`.
  func prove(_ spaces: Set<UInt64>, until time: Int, forgetting keys: [ObjectKey]) {
    _rows.withLock { rows in
      if !keys.isEmpty {
        var arrival = Arrival(begun: nil, epoch: _beginEpoch(), time: time)
        for key in keys { _arrive(nil, IdentityKey(key), &arrival, &rows) }
      }
      for space in spaces { rows.proven[space] = max(time, rows.proven[space] ?? .min) }
    }
  }

  /// Invalidates some rows.
  func forget(_ keys: [ObjectKey]) { commit(Commit(deleted: keys)) }

  private func _remove(_ runs: [KeyRun], _ rows: inout Generations) {
    for key in rows.young.rows.keys where runs.contains(key) { rows.young.remove(key) }
    for key in rows.old.rows.keys where runs.contains(key) { rows.old.remove(key) }
  }

  /// Invalidates all rows.
  func removeAll() {
    _rows.withLock { rows in rows.removeAll(at: _beginEpoch()) }
  }

  /// Invalidates all rows if they may have been overtaken.
  ///
  /// - Parameter isOvertaken: Called while the cache is locked: a thread that is told next that nothing
  ///   has changed finds no row from before.
  func removeAll(if isOvertaken: () -> Bool) {
    _rows.withLock { rows in
      guard isOvertaken() else { return }
      rows.removeAll(at: _beginEpoch())
    }
  }

  /// Keeps the rows that are cached, and none that is being read.
  func discardReads() {
    _rows.withLock { rows in rows.stripes.floor = _beginEpoch() }
  }

  @inline(__always)
  private func _ageIfFull(_ rows: inout Generations) {
    if rows.young.rows.count <= _capacity {
      if rows.young.bytes <= _byteCapacity { return }
      rows.young.measure()
      // Not at the capacity itself, lest the next rows are measured again.
      if rows.young.bytes <= _byteCapacity / 4 * 3 { return }
    }
    // The storage of the older generation is reused: growing again would move each row several times.
    swap(&rows.old, &rows.young)
    rows.young.removeAll()
  }
}
