import CoreDataModelSchema
import Foundation

/// When a context read what it shows, and how old that may be.
struct RowAges {
  /// When the rows attached to faults were read.
  var stamps = ReadStamps()
  /// The coordinator's row cache, once the context has read.
  var cache: Unmanaged<RowCache>?
  /// `stalenessInterval`, for reads that do not look for overrides.
  var interval: TimeInterval = -1
  /// Whether the program has set it.
  var isIntervalSet = false
  /// The time, by `CoarseClock`, before which rows that were read from a server are too old; `.min` for files, of which
  /// others' commits are noticed.
  var horizon = Int.min
  /// Whether the next read asks if others have written to the stores.
  var isCheckDue = true
}

/// Decides whether rows that were read before are shown, or read again.
///
/// Runs on the context's queue.
struct Freshness {
  let context: NSManagedObjectContext

  @inline(__always) init(_ context: NSManagedObjectContext) { self.context = context }

  /// The time, by `CoarseClock`, before which a cached row is too old to be shown.
  @inline(__always) var earliestRow: Int {
    context.ages.interval < 0 && context.ages.horizon == .min ? .min : _earliestRow
  }

  private var _earliestRow: Int {
    guard let cache = context.rootCoordinator?.rowCache else { return .min }
    cache.keepTimes()
    return max(
      context.ages.horizon,
      context.ages.isIntervalSet ? CoarseClock.earliest(for: context.ages.interval) : cache.earliestByAge)
  }

  /// Lets the context show nothing of a server any more that was read before now.
  func raiseHorizon() {
    guard let coordinator = context.rootCoordinator, coordinator.hasRemoteStore.load(ordering: .relaxed)
    else {
      return
    }
    context.ages.horizon = CoarseClock.now
  }

  /// Whether a fault's attached row can be shown without looking for a newer one.
  @inline(__always) func isCurrent(_ object: NSManagedObject) -> Bool {
    guard context.ages.interval < 0, let cache = context.ages.cache else { return false }
    return cache._withUnsafeGuaranteedRef { context.ages.stamps.isCurrent(object._state.stamp, $0) }
  }

  /// Records that a read begins.
  @inline(__always) func beginRead(_ coordinator: NSPersistentStoreCoordinator?, isFetch: Bool = false) {
    guard let coordinator else { return }
    context.ages.cache = Unmanaged.passUnretained(coordinator.rowCache)
    context.ages.stamps.begin(coordinator.rowCache, context.ages.interval, isFetch: isFetch)
  }

  /// Attaches a row that was read now to a fault.
  @inline(__always) func attach(_ row: Row?, to fault: NSManagedObject) {
    fault.attach(row)
    fault._state.attachValues(context.ages.stamps.current)
  }

  /// Attaches a row that was read now to a registered fault, unless the fault has a newer one.
  func reattach(_ row: Row?, to fault: NSManagedObject) {
    guard let row, !(fault._row === row) else { return }
    guard let mine = fault._row else { return attach(row, to: fault) }
    guard _canRenew(fault), row.version >= mine.version, supersedes(row, over: mine, fault._layout) else {
      return
    }
    context.links.attachRowToFault(row, at: fault)
    fault._state.attachValues(context.ages.stamps.current)
  }

  /// Whether a fault's row is older than the staleness interval and has to be read again.
  func isExpired(_ fault: NSManagedObject) -> Bool {
    guard context.ages.interval >= 0, fault._row != nil, _canRenew(fault),
      let cache = context.rootCoordinator?.rowCache
    else {
      return false
    }
    return context.ages.stamps.isOld(fault._state.stamp, cache, context.ages.interval)
  }

  private func _canRenew(_ fault: NSManagedObject) -> Bool {
    fault._draft == nil && !fault.isDirty && context.readGeneration == nil && fault._key != nil
  }

  /// Finds a fault's values again before they are shown, if they may be older than what the coordinator knows
  /// or than the staleness interval. Leaves the fault without values if the store has to be read.
  ///
  /// - Returns: The former row, if the store has to be read.
  @inline(never) func renew(_ fault: NSManagedObject) -> Row? {
    guard let mine = fault._row, let key = fault._key, _canRenew(fault) else { return nil }
    // An ancestor's unsaved values are the newest.
    if context._parent != nil, ReadChain(above: context).contains(IdentityKey(key)) { return nil }
    let isOld = isExpired(fault)
    let known = context.rootCoordinator?.rowCache.row(for: key, readSince: isOld ? earliestRow : .min)
    if let known, known.version >= mine.version, supersedes(known, over: mine, fault._layout) {
      context.links.attachRowToFault(known, at: fault)
    } else if isOld, known == nil {
      fault.attach(nil)
      return mine
    }
    fault._state.attachValues(context.ages.stamps.current)
    return nil
  }

  /// Whether a row is newer than the object's own. A child's rows are composed from its ancestors for each
  /// read, so they are compared by value.
  func supersedes(_ row: Row, over mine: Row, _ layout: PropertyLayout) -> Bool {
    if mine === row { return false }
    return context._parent == nil ? row.version >= mine.version : !row.hasSameValues(as: mine, layout)
  }

  /// Drops cached rows that another process or coordinator may have overwritten. Called for a context's first
  /// read, and for the first one after a reset or a refresh of all objects; later reads find what the
  /// coordinator knows.
  func check() {
    if context.ages.isCheckDue { raiseHorizon() }
    context.ages.isCheckDue = false
    context.rootCoordinator?.forgetOvertakenRows()
  }
}

extension NSManagedObjectContext {
  /// What decides whether rows that were read before are shown.
  @inline(__always) final var freshness: Freshness { Freshness(self) }
}
