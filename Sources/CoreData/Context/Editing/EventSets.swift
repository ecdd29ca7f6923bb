import Foundation

/// The sets of one ObjectsDidChange notification.
struct EventSets {
  var inserted = Set<NSManagedObject>()
  var updated = Set<NSManagedObject>()
  var deleted = Set<NSManagedObject>()
  var refreshed = Set<NSManagedObject>()

  /// Whether these sets hold all listed objects, given that each of their objects is listed.
  func holdsAll(_ listedCount: Int) -> Bool {
    refreshed.isEmpty && inserted.count + updated.count + deleted.count == listedCount
  }

  /// Empties the sets but keeps their storage. Does not affect copies that callers hold.
  mutating func removeAll() {
    if !inserted.isEmpty { inserted.removeAll(keepingCapacity: true) }
    if !updated.isEmpty { updated.removeAll(keepingCapacity: true) }
    if !deleted.isEmpty { deleted.removeAll(keepingCapacity: true) }
    if !refreshed.isEmpty { refreshed.removeAll(keepingCapacity: true) }
  }

  /// The union of all sets. Returns a set itself if the others are empty.
  var all: Set<NSManagedObject> {
    [updated, deleted, refreshed].reduce(inserted) { all, set in
      all.isEmpty ? set : set.isEmpty ? all : all.union(set)
    }
  }

  /// Bit mask of the non-empty sets, and of whether a merge filled them.
  private func _combination(merged isMerged: Bool) -> Int {
    (inserted.isEmpty ? 0 : 1) | (updated.isEmpty ? 0 : 2) | (deleted.isEmpty ? 0 : 4)
      | (refreshed.isEmpty ? 0 : 8) | (isMerged ? 16 : 0)
  }

  func post(by context: NSManagedObjectContext) {
    if ObservedObjects.exist.load(ordering: .relaxed) {
      for object in updated { object.notifyChangesSinceRead() }
      for object in refreshed { object.notifyChangesSinceRead() }
      for object in deleted { object.notifyAllReads() }
    }
    context.observers.tell(of: self)
    let combination = _combination(merged: context.events.isMerge)
    // Removed while in use: a change made by an observer posts with another dictionary.
    var userInfo = context.events.userInfos[combination] ?? ChangeUserInfo(combination, context)
    context.events.userInfos[combination] = nil
    userInfo.fill(self)
    NotificationCenter.default.post(
      name: .NSManagedObjectContextObjectsDidChange, object: context, userInfo: userInfo.dictionary)
    userInfo.clear()
    context.events.userInfos[combination] = userInfo
  }
}
