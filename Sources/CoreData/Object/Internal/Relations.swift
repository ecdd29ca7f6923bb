import CoreDataModelSchema
import Foundation

/// The cached relationships of one object: the target of each to-one and the members of each to-many
/// accessed.
///
/// References are strong, as in Core Data: two objects that refer to each other keep each other registered.
final class Relations {
  // The first to-one is stored inline, since most objects have at most one that was accessed.
  @exclusivity(unchecked) private var _firstSlot = -1
  @exclusivity(unchecked) private var _first: NSManagedObject?
  @exclusivity(unchecked) private var _others: [(slot: Int, target: NSManagedObject)] = []
  @exclusivity(unchecked) private var _toMany: [(slot: Int, state: ToManyState)] = []
  /// Objects of transformable attributes by slot.
  @exclusivity(unchecked) var decoded: [Int: Any] = [:]
  /// Results of fetched properties by name.
  @exclusivity(unchecked) var fetched: [String: FetchedPropertyResults] = [:]
  /// Values of a fault fetched with some of its properties.
  @exclusivity(unchecked) var partial: (row: Row, part: RowPart)?

  func target(_ slot: Int) -> NSManagedObject? {
    if slot == _firstSlot { return _first }
    for entry in _others where entry.slot == slot { return entry.target }
    return nil
  }

  func setTarget(_ target: NSManagedObject?, _ slot: Int) {
    if _firstSlot == slot || _firstSlot < 0 {
      (_firstSlot, _first) = (slot, target)
    } else if let index = _others.firstIndex(where: { $0.slot == slot }) {
      if let target { _others[index].target = target } else { _others.remove(at: index) }
    } else if let target {
      _others.append((slot, target))
    }
  }

  func dropTargets() {
    (_firstSlot, _first) = (-1, nil)
    _others = []
  }

  /// Drops the cached targets of to-ones that have changed.
  func dropTargets(_ slots: SlotSet) {
    if _firstSlot >= 0, slots.contains(_firstSlot) { (_firstSlot, _first) = (-1, nil) }
    _others.removeAll { slots.contains($0.slot) }
  }

  func members(_ slot: Int) -> ToManyState? {
    for entry in _toMany where entry.slot == slot { return entry.state }
    return nil
  }

  func makeMembers(_ slot: Int, isOrdered: Bool) -> ToManyState {
    if let state = members(slot) { return state }
    let state = ToManyState(isOrdered: isOrdered)
    _toMany.append((slot, state))
    return state
  }

  func forEachToMany(_ body: (Int, ToManyState) -> Void) {
    for entry in _toMany { body(entry.slot, entry.state) }
  }

  /// Invalidates everything that can be reread. Keeps unsaved additions and removals.
  func dropClean() {
    fetched = [:]
    decoded = [:]
    dropTargets()
    _toMany.removeAll { !$0.state.hasChanges && $0.state.live == nil }
    for entry in _toMany { entry.state.unrealise() }
  }
}

/// What the caller knows about an object's membership in the stored relationship.
enum StoredMembership {
  /// Unknown to the caller; the members last read decide.
  case asRead
  /// The stored relationship contains the object.
  case member
  /// The stored relationship lacks the object; only an unsaved addition makes it a member.
  case unsaved

  /// Whether the stored relationship contains the object.
  ///
  /// - Parameter isRead: Whether the members last read contain it.
  @inline(__always) func isMember(asRead isRead: @autoclosure () -> Bool) -> Bool {
    switch self {
    case .asRead: isRead()
    case .member: true
    case .unsaved: false
    }
  }
}

/// The members of one to-many: those last read, if any, plus unsaved additions and removals.
final class ToManyState {
  let isOrdered: Bool
  /// Whether `members` is complete.
  @exclusivity(unchecked) private(set) var isRealised = false
  /// All members, once realised. The set is built on demand: most to-manys are iterated and never searched.
  private(set) var members: Set<NSManagedObject> {
    get {
      _makeSet()
      return _set
    }
    set {
      (_set, _isSetDue) = (newValue, false)
      _forgetViews()
    }
    _modify {
      _makeSet()
      _forgetViews()
      yield &_set
    }
  }
  @exclusivity(unchecked) private var _set: Set<NSManagedObject> = []
  /// Whether `_set` must still be built from `base`.
  @exclusivity(unchecked) private var _isSetDue = false
  /// The members as a Foundation set; cached until they change.
  @exclusivity(unchecked) private var _foundationSet: NSSet?
  /// A class to which all members are known to belong; cached until they change.
  @exclusivity(unchecked) private var _commonClass: ObjectIdentifier?
  /// All members in order, when realised and ordered.
  @exclusivity(unchecked) private(set) var order: [NSManagedObject] = [] {
    didSet {
      _foundationOrder = nil
      if isRealised { live?.synchronize(with: order) }
    }
  }
  /// The live set of an ordered to-many, as long as the program retains it.
  weak var live: LiveOrderedSet?
  /// The order as a Foundation set; cached until it changes.
  @exclusivity(unchecked) private var _foundationOrder: NSOrderedSet?
  /// The members as read, in their order; basis of committed values.
  @exclusivity(unchecked) private(set) var base: [NSManagedObject] = []
  @exclusivity(unchecked) private(set) var added: Set<NSManagedObject> = []
  @exclusivity(unchecked) private(set) var removed: Set<NSManagedObject> = []
  /// Those of `added` that were members already when the to-many was read.
  @exclusivity(unchecked) private var _redundant: Set<NSManagedObject> = []
  /// Those of `removed` that were not members when the to-many was read.
  @exclusivity(unchecked) private var _absent: Set<NSManagedObject> = []
  /// Whether the order was changed; otherwise members keep their positions.
  @exclusivity(unchecked) private(set) var isReordered = false
  /// The unsaved order of an invalidated to-many.
  @exclusivity(unchecked) private var _wantedOrder: [NSManagedObject]?

  init(isOrdered: Bool) { self.isOrdered = isOrdered }

  /// Whether a child has saved changes of the members, which are recorded in the members' own to-ones.
  @exclusivity(unchecked) private(set) var isTouched = false

  var hasChanges: Bool {
    isTouched || !added.isEmpty || !removed.isEmpty || isReordered || _wantedOrder != nil
  }

  /// The members as an array, in the relationship's order if it is ordered.
  var list: [NSManagedObject] { isOrdered ? order : _isSetDue ? base : Array(_set) }

  private func _makeSet() {
    guard _isSetDue else { return }
    _isSetDue = false
    _set = Set(base)
  }

  private func _forgetViews() { (_foundationSet, _commonClass) = (nil, nil) }

  /// Returns a member that is not of this class, if any.
  func member<Object: NSManagedObject>(notOf type: Object.Type) -> NSManagedObject? {
    let wanted = ObjectIdentifier(type)
    if _commonClass == wanted || type == NSManagedObject.self { return nil }
    func isOther(_ member: NSManagedObject) -> Bool {
      ObjectIdentifier(Swift.type(of: member)) != wanted && !(member is Object)
    }
    if let other = _isSetDue ? base.first(where: isOther) : _set.first(where: isOther) { return other }
    _commonClass = wanted
    return nil
  }

  /// The members as a plain `NSSet`: Foundation does not bridge subclasses, so `as? Set<Book>` of one yields
  /// an empty set. Cached, because building it costs more than reading the members.
  var foundationSet: NSSet {
    if let _foundationSet { return _foundationSet }
    let set = list.withUnsafeBufferPointer { members in
      members.withMemoryRebound(to: AnyObject.self) { NSSet(objects: $0.baseAddress, count: $0.count) }
    }
    _foundationSet = set
    return set
  }

  /// The members of an ordered to-many in a Foundation set.
  var foundationOrder: NSOrderedSet {
    if let _foundationOrder { return _foundationOrder }
    let set = NSOrderedSet(array: list)
    _foundationOrder = set
    return set
  }

  /// Installs the members just read, then replays unsaved additions and removals on them.
  ///
  /// - Parameters:
  ///   - lost: Members read that a child has moved to another owner.
  ///   - gained: Objects that a child has moved to this owner.
  func realise(
    _ read: [NSManagedObject], lost: [NSManagedObject] = [], gained: [NSManagedObject] = []
  ) {
    base = read
    if !isOrdered, added.isEmpty, removed.isEmpty, lost.isEmpty, gained.isEmpty {
      (_set, _isSetDue) = ([], true)
      _forgetViews()
      isRealised = true
      return
    }
    members = Set(read)
    _absent = removed.isEmpty ? [] : removed.subtracting(members)
    members.subtract(removed)
    members.subtract(lost)
    order = isOrdered ? read.filter(members.contains) : []
    for object in gained where members.insert(object).inserted && isOrdered { order.append(object) }
    _redundant = []
    for object in added {
      if !members.insert(object).inserted {
        _redundant.insert(object)
      } else if isOrdered {
        order.append(object)
      }
    }
    isRealised = true
    if let wanted = _wantedOrder {
      _wantedOrder = nil
      reorder(asFarAsKnown: wanted)
      isReordered = true
    }
    live?.synchronize(with: order)
  }

  /// Invalidates the members read. Keeps unsaved changes.
  func unrealise() {
    guard isRealised else { return }
    isRealised = false
    if isReordered { _wantedOrder = order }
    members = []
    order = []
    base = []
    isReordered = false
  }

  /// Adds a member. Cancels an unsaved removal if the stored relationship still contains the object; if
  /// another context may have removed it as well, records an addition.
  ///
  /// - Parameter membership: The stored membership of an object whose removal is unsaved.
  @discardableResult
  func add(_ object: NSManagedObject, at index: Int? = nil, _ membership: StoredMembership = .asRead) -> Bool
  {
    if isRealised {
      guard members.insert(object).inserted else { return false }
      if isOrdered { order.insert(object, at: index ?? order.count) }
    }
    let isTakenBack = !removed.isEmpty && membership.isMember(asRead: hasRemoved(object))
    if removed.isEmpty || removed.remove(object) == nil || !isTakenBack {
      _absent.remove(object)
      // Growing a set to twelve elements by doubling costs more than the twelve insertions.
      if added.isEmpty { added.reserveCapacity(12) }
      added.insert(object)
    }
    if isOrdered { isReordered = true }
    return true
  }

  /// Whether an object is a member only by an unsaved addition.
  func isNew(_ object: NSManagedObject) -> Bool { added.contains(object) && !_redundant.contains(object) }

  /// Whether an object was a member, according to the members read, before it was removed.
  func hasRemoved(_ object: NSManagedObject) -> Bool {
    isRealised && removed.contains(object) && !_absent.contains(object)
  }

  /// Removes a member. Cancels an unsaved addition.
  @discardableResult
  func remove(_ object: NSManagedObject, _ membership: StoredMembership = .asRead) -> Bool {
    if isRealised {
      guard members.remove(object) != nil else { return false }
      if isOrdered, let index = order.firstIndex(of: object) { order.remove(at: index) }
    }
    let isNew = isNew(object)
    let isStored = membership.isMember(asRead: _redundant.contains(object))
    _redundant.remove(object)
    if added.remove(object) == nil || isStored {
      removed.insert(object)
      // Adding it again does not restore a member that was read.
      if isNew, isRealised { _absent.insert(object) }
    }
    return true
  }

  /// Reverts an addition. An object that was a member before stays one.
  func undoAddition(of object: NSManagedObject) {
    if _redundant.remove(object) != nil { added.remove(object) } else { remove(object) }
  }

  /// Adds an object whose own end now points here, regardless of the members read, which may be older than
  /// that end.
  ///
  /// - Parameter membership: As for `add`.
  func gain(_ object: NSManagedObject, _ membership: StoredMembership = .asRead) -> Bool {
    if add(object, membership) { return true }
    removed.remove(object)
    return added.insert(object).inserted
  }

  /// Removes an object whose own end no longer points here, regardless of the members read.
  func lose(_ object: NSManagedObject, _ membership: StoredMembership = .asRead) -> Bool {
    if remove(object, membership) { return true }
    guard removed.insert(object).inserted else { return false }
    _absent.insert(object)
    return true
  }

  /// Records that a child has changed the members.
  func touch() { isTouched = true }

  /// Adds an object that a child has moved to this owner. Records no addition: the object's to-one is the
  /// change.
  func gainMoved(_ object: NSManagedObject) -> Bool {
    removed.remove(object)
    _absent.remove(object)
    guard isRealised, members.insert(object).inserted else { return false }
    if isOrdered { order.append(object) }
    return true
  }

  /// Removes an object that a child has moved to another owner. Records no removal, as `gainMoved(_:)`.
  func loseMoved(_ object: NSManagedObject) -> Bool {
    added.remove(object)
    _redundant.remove(object)
    guard isRealised, members.remove(object) != nil else { return false }
    if isOrdered, let index = order.firstIndex(of: object) { order.remove(at: index) }
    return true
  }

  /// Discards the unsaved addition or removal of an object, because another context has saved the same
  /// change. The members will be reread.
  func clearChange(of object: NSManagedObject) {
    added.remove(object)
    _redundant.remove(object)
    removed.remove(object)
    _absent.remove(object)
  }

  /// Whether an object is a member, or was before its unsaved removal.
  func knows(_ object: NSManagedObject) -> Bool {
    members.contains(object) || added.contains(object) || removed.contains(object)
  }

  /// Removes an object whose deletion is saved. Records no change.
  func forget(_ object: NSManagedObject) {
    // The set first: it may have to be built from `base`.
    if members.contains(object) {
      members.remove(object)
      if let index = order.firstIndex(of: object) { order.remove(at: index) }
    }
    base.removeAll { $0 === object }
    _wantedOrder?.removeAll { $0 === object }
    added.remove(object)
    _redundant.remove(object)
    removed.remove(object)
    _absent.remove(object)
  }

  /// Applies an order that may be incomplete. Members missing from it follow at the end, in their current
  /// order.
  func reorder(asFarAsKnown newOrder: [NSManagedObject]) {
    let known = newOrder.filter { members.contains($0) }
    let named = Set(known)
    reorder(known + order.filter { !named.contains($0) })
  }

  /// Adopts the order that a child has saved. Applied on the next read if the members are not loaded.
  func adopt(order newOrder: [NSManagedObject]) {
    guard isRealised else { return _wantedOrder = newOrder }
    reorder(asFarAsKnown: newOrder)
    // An unsaved change even if the order is already the current one: members that others save come after it.
    isReordered = true
  }

  /// Replaces the order of the same members.
  func reorder(_ newOrder: [NSManagedObject]) {
    guard order != newOrder else { return }
    order = newOrder
    isReordered = true
  }

  /// Makes the current members the saved state.
  func commit() {
    _forgetChanges()
    if isRealised { base = list }
  }

  /// Restores the members as read.
  func rollback() {
    _forgetChanges()
    if isRealised {
      members = Set(base)
      order = isOrdered ? base : []
    }
  }

  private func _forgetChanges() {
    added = []
    _redundant = []
    removed = []
    _absent = []
    isReordered = false
    isTouched = false
    _wantedOrder = nil
  }

  /// The changes for a save or a child context.
  var delta: ToManyDelta {
    ToManyDelta(added: added.map(\._objectID), removed: removed.map(\._objectID), order: _orderedIDs)
  }

  /// The order of a one-to-many for a save or a child context, and the objects no longer in it.
  var orderDelta: ToManyDelta {
    let left = isRealised ? base.filter { !members.contains($0) } : []
    return ToManyDelta(added: [], removed: left.map(\._objectID), order: _orderedIDs)
  }

  private var _orderedIDs: [NSManagedObjectID]? {
    isOrdered ? (isRealised ? order : _wantedOrder)?.map(\._objectID) : nil
  }
}
