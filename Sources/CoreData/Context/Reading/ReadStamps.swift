/// When a context has read the rows that are attached to its faults: each fault that gets a row is marked
/// with the stamp of that time.
struct ReadStamps {
  /// Readings whose times are remembered; rows of earlier ones count as old.
  private static let _most = 64

  /// The stamp of rows that are read now.
  private(set) var current: UInt32 = 0
  private var _epoch = -1
  /// When the last readings began, by `CoarseClock`; 0 if the context did not let rows age. The last one has
  /// the current stamp.
  private var _times: [Int] = []

  /// Whether rows with a stamp were read when the coordinator had committed as often as now.
  @inline(__always) func isCurrent(_ stamp: UInt32, _ cache: RowCache) -> Bool {
    stamp == current && cache.epoch == _epoch
  }

  /// Called before a read.
  ///
  /// - Parameters:
  ///   - interval: The context's staleness interval.
  ///   - isFetch: Whether it is a fetch, and not a fault or a relationship: with an interval of 0, the rows
  ///     of the last fetch are the only ones that are not old.
  @inline(__always) mutating func begin(_ cache: RowCache, _ interval: Double, isFetch: Bool) {
    if interval < 0, cache.epoch == _epoch { return }
    _begin(cache, interval, isFetch)
  }

  @inline(never) private mutating func _begin(_ cache: RowCache, _ interval: Double, _ isFetch: Bool) {
    let time = interval < 0 ? 0 : CoarseClock.now
    let epoch = cache.epoch
    if epoch == _epoch, !isFetch {
      // Rows read under one stamp count as old as the first of them.
      let age = Double(time - (_times.last ?? 0))
      if interval == 0 || age < interval * 250 { return }
    }
    current &+= 1
    _epoch = epoch
    if _times.count >= 2 * Self._most { _times.removeFirst(Self._most) }
    _times.append(time)
  }

  /// Called after the context's own save: it makes no other rows old.
  ///
  /// - Parameters:
  ///   - former: The cache's epoch before the save.
  ///   - epoch: The one after it.
  mutating func follow(from former: Int, to epoch: Int) { if _epoch == former { _epoch = epoch } }

  /// Whether rows with a stamp are older than an interval, which is not negative.
  func isOld(_ stamp: UInt32, _ cache: RowCache, _ interval: Double) -> Bool {
    if interval == 0 { return !isCurrent(stamp, cache) }
    let back = Int(current &- stamp)
    return back >= _times.count || _times[_times.count - 1 - back] < CoarseClock.earliest(for: interval)
  }
}
