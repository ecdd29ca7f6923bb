import Foundation

/// The `userInfo` of ObjectsDidChange for one combination of keys. The context reuses it: the notification is
/// posted before every fetch that follows a change, and hashing boxed keys was a third of its cost.
struct ChangeUserInfo {
  private(set) var dictionary: [AnyHashable: Any]
  /// Indices of the keys' values. They stay valid, because keys are neither added nor removed.
  private let _places: [Dictionary<AnyHashable, Any>.Index]

  // Boxed once. Immutable.
  nonisolated(unsafe) private static let _contextKey = AnyHashable("managedObjectContext")
  nonisolated(unsafe) private static let _keys = [
    AnyHashable(NSInsertedObjectsKey), AnyHashable(NSUpdatedObjectsKey), AnyHashable(NSDeletedObjectsKey),
    AnyHashable(NSRefreshedObjectsKey), AnyHashable(changedByMergeKey),
  ]

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
    var dictionary = [AnyHashable: Any](minimumCapacity: 6)
    dictionary[Self._contextKey] = WeakContext(context: context)
    let keys = Self._keys.indices.filter { combination & 1 << $0 != 0 }.map { Self._keys[$0] }
    for key in keys { dictionary[key] = Self._nothing }
    _places = keys.map { dictionary.index(forKey: $0)! }
    self.dictionary = dictionary
  }

  /// Stores the non-empty sets, in bit order.
  mutating func fill(_ sets: EventSets) {
    var number = 0
    _put(sets.inserted, &number)
    _put(sets.updated, &number)
    _put(sets.deleted, &number)
    _put(sets.refreshed, &number)
    if number < _places.count { _put(sets.all, &number) }
  }

  private mutating func _put(_ set: Set<NSManagedObject>, _ number: inout Int) {
    if set.isEmpty { return }
    dictionary.values[_places[number]] = set
    number += 1
  }

  /// Releases the sets. A retained notification keeps its own copies.
  mutating func clear() {
    for place in _places { dictionary.values[place] = Self._nothing }
  }
}
