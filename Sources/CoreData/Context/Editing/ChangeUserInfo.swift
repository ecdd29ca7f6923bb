import Foundation

/// The `userInfo` of ObjectsDidChange for one combination of keys. The context reuses it: the notification is
/// posted before every fetch that follows a change, and hashing boxed keys was a third of its cost.
struct ChangeUserInfo {
  private(set) var dictionary: [AnyHashable: Any]
  private let _form: UserInfoForm
  /// The number of sets.
  private let _count: Int

  /// By combination of sets, with the context as the last key.
  private static let _forms = (0..<combinations).map { combination in
    let keys = [
      NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey, NSRefreshedObjectsKey,
      changedByMergeKey,
    ]
    let filled = keys.indices.filter { combination & 1 << $0 != 0 }.map { keys[$0] }
    return UserInfoForm(filled + ["managedObjectContext"])
  }

  /// User info key of all objects changed by a merge, in notifications that follow it; spelled as in Core
  /// Data.
  static let changedByMergeKey = "NSObjectsChangedByMergeChangesKey"
  /// The number of key combinations.
  static let combinations = 1 << 5

  /// Placeholder for sets after posting. Immutable.
  nonisolated(unsafe) private static let _nothing = Set<NSManagedObject>()

  /// Creates a dictionary with the context and the keys whose bits are set in `combination`: inserted,
  /// updated, deleted, refreshed, changed by a merge.
  init(_ combination: Int, _ context: NSManagedObjectContext) {
    _count = combination.nonzeroBitCount
    _form = Self._forms[combination]
    dictionary = _form.blank
    _form.set(WeakContext(context: context), at: _count, in: &dictionary)
    clear()
  }

  /// Stores the non-empty sets, in bit order.
  mutating func fill(_ sets: EventSets) {
    var number = 0
    _put(sets.inserted, &number)
    _put(sets.updated, &number)
    _put(sets.deleted, &number)
    _put(sets.refreshed, &number)
    if number < _count { _put(sets.all, &number) }
  }

  private mutating func _put(_ set: Set<NSManagedObject>, _ number: inout Int) {
    if set.isEmpty { return }
    _form.set(set, at: number, in: &dictionary)
    number += 1
  }

  /// Releases the sets. A retained notification keeps its own copies.
  mutating func clear() {
    for position in 0..<_count { _form.set(Self._nothing, at: position, in: &dictionary) }
  }
}
