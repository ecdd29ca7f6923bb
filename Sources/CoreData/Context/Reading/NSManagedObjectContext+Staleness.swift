import CoreDataModelSchema
import Foundation

// The age of rows that were read before they are shown.

extension NSManagedObjectContext {
  /// The time, by `CoarseClock`, before which a cached row is too old to be shown.
  @inline(__always) final var earliestRow: Int {
    staleness < 0 && horizon == .min ? .min : _earliestRow
  }

  private final var _earliestRow: Int {
    guard let cache = rootCoordinator?.rowCache else { return .min }
    cache.keepTimes()
    return max(horizon, isStalenessSet ? CoarseClock.earliest(for: staleness) : cache.earliestByAge)
  }

  /// Lets the context show nothing of a server any more that was read before now.
  final func raiseHorizon() {
    guard let coordinator = rootCoordinator, coordinator.hasRemoteStore.load(ordering: .relaxed) else {
      return
    }
    horizon = CoarseClock.now
  }

  /// Whether a fault's attached row can be shown without looking for a newer one.
  @inline(__always) final func isCurrent(_ object: NSManagedObject) -> Bool {
    guard staleness < 0, let cache = stampedCache else { return false }
    return cache._withUnsafeGuaranteedRef { stamps.isCurrent(object._state.stamp, $0) }
  }

  /// Records that a read begins.
  @inline(__always) final func beginRead(_ coordinator: NSPersistentStoreCoordinator?, isFetch: Bool = false)
  {
    guard let coordinator else { return }
    stampedCache = Unmanaged.passUnretained(coordinator.rowCache)
    stamps.begin(coordinator.rowCache, staleness, isFetch: isFetch)
  }

  /// Attaches a row that was read now to a fault.
  @inline(__always) final func attach(_ row: Row?, to fault: NSManagedObject) {
    fault.attach(row)
    fault._state.attachValues(stamps.current)
  }

  /// Attaches a row that was read now to a registered fault, unless the fault has a newer one.
  final func reattach(_ row: Row?, to fault: NSManagedObject) {
    guard let row, !(fault._row === row) else { return }
    guard let mine = fault._row else { return attach(row, to: fault) }
    guard _canRenew(fault), row.version >= mine.version, supersedes(row, over: mine, fault._layout) else {
      return
    }
    links.attachRowToFault(row, at: fault)
    fault._state.attachValues(stamps.current)
  }

  /// Whether a fault's row is older than the staleness interval and has to be read again.
  final func isExpired(_ fault: NSManagedObject) -> Bool {
    guard staleness >= 0, fault._row != nil, _canRenew(fault), let cache = rootCoordinator?.rowCache else {
      return false
    }
    return stamps.isOld(fault._state.stamp, cache, staleness)
  }

  private final func _canRenew(_ fault: NSManagedObject) -> Bool {
    fault._draft == nil && !fault.isDirty && readGeneration == nil && fault._key != nil
  }

  /// Finds a fault's values again before they are shown, if they may be older than what the coordinator knows
  /// or than the staleness interval. Leaves the fault without values if the store has to be read.
  ///
  /// - Returns: The former row, if the store has to be read.
  @inline(never) final func renew(_ fault: NSManagedObject) -> Row? {
    guard let mine = fault._row, let key = fault._key, _canRenew(fault) else { return nil }
    // An ancestor's unsaved values are the newest.
    if _parent != nil, ReadChain(above: self).contains(IdentityKey(key)) { return nil }
    let isOld = isExpired(fault)
    let known = rootCoordinator?.rowCache.row(for: key, readSince: isOld ? earliestRow : .min)
    if let known, known.version >= mine.version, supersedes(known, over: mine, fault._layout) {
      links.attachRowToFault(known, at: fault)
    } else if isOld, known == nil {
      fault.attach(nil)
      return mine
    }
    fault._state.attachValues(stamps.current)
    return nil
  }

  /// Whether a row is newer than the object's own. A child's rows are composed from its ancestors for each
  /// read, so they are compared by value.
  final func supersedes(_ row: Row, over mine: Row, _ layout: PropertyLayout) -> Bool {
    if mine === row { return false }
    return _parent == nil ? row.version >= mine.version : !row.hasSameValues(as: mine, layout)
  }

  /// Drops cached rows that another process or coordinator may have overwritten. Called for a context's first
  /// read, and for the first one after a reset or a refresh of all objects; later reads find what the
  /// coordinator knows.
  final func checkFreshness() {
    if isFreshnessDue { raiseHorizon() }
    isFreshnessDue = false
    rootCoordinator?.forgetOvertakenRows()
  }
}
