// Cached rows of a store that tells what other programs change.

extension NSPersistentStoreCoordinator {
  /// A moment at which a store was asked for what has changed.
  package struct RowMoment: Sendable {
    /// By `CoarseClock`.
    fileprivate let time = CoarseClock.now
    package init() {}
  }

  /// Shows cached rows beyond their age that are known to be current.
  ///
  /// - Parameters:
  ///   - spaces: The tables whose rows are known, by any of their entities.
  ///   - moment: Until when the changes of their rows are known; taken before the store was asked.
  ///   - changed: The objects that other programs have changed since the last call; nil if they are not known, which drops
  ///     all cached rows.
  package final func rowsAreCurrent(
    of spaces: [ObjectIDSpace], at moment: RowMoment, but changed: [ObjectKey]?
  ) {
    if changed == nil { rowCache.removeAll() }
    rowCache.prove(Set(spaces.map(\.number)), until: moment.time, forgetting: changed ?? [])
  }
}
