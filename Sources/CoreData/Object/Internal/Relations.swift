import CoreDataModelSchema
import Foundation

/// The relationships of one object that have been looked at: by slot, the other object or the members.
///
/// Strong references, as in Core Data: a pair whose two-way relationship was realised keeps itself
/// registered.
final class Relations {
  // The first to-one lies here: most objects have looked at one at most.
  @exclusivity(unchecked) private var _firstSlot = -1
  @exclusivity(unchecked) private var _first: NSManagedObject?
  @exclusivity(unchecked) private var _others: [(slot: Int, target: NSManagedObject)] = []
  @exclusivity(unchecked) private var _toMany: [(slot: Int, state: ToManyState)] = []
  /// Objects of transformable attributes by slot.
  @exclusivity(unchecked) var decoded: [Int: Any] = [:]
  /// Results of fetched properties by name.
  @exclusivity(unchecked) var fetched: [String: FetchedPropertyResults] = [:]
  /// Values of a fault that was fetched with some of its properties only.
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

  /// Forgets the targets of to-ones that have changed.
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

  /// Forgets everything that can be read again, keeping unsaved additions and removals.
  func dropClean() {
    fetched = [:]
    decoded = [:]
    dropTargets()
    _toMany.removeAll { !$0.state.hasChanges && $0.state.live == nil }
    for entry in _toMany { entry.state.unrealise() }
  }
}

/// Members of one to-many: what was read (if it was), and what was added and removed since.
final class ToManyState {
  let isOrdered: Bool
  /// Whether `members` is the whole relationship.
  @exclusivity(unchecked) private(set) var isRealised = false
  /// All members, when realised. Made when first asked for: most are gone through and never looked up.
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
  /// Whether `_set` is yet to be made of `base`.
  @exclusivity(unchecked) private var _isSetDue = false
  /// The members as Foundation takes them, from when they were asked for so until they change.
  @exclusivity(unchecked) private var _foundationSet: NSSet?
  /// A class that all members have been found to be of, until they change.
  @exclusivity(unchecked) private var _commonClass: ObjectIdentifier?
  /// All members in order, when realised and ordered.
  @exclusivity(unchecked) private(set) var order: [NSManagedObject] = [] {
    didSet {
      _foundationOrder = nil
      if isRealised { live?.synchronize(with: order) }
    }
  }
  /// The set through which the program reads and writes an ordered to-many in place, as long as it has one.
  weak var live: LiveOrderedSet?
  /// The order as Foundation takes it, from when it was asked for so until it changes.
  @exclusivity(unchecked) private var _foundationOrder: NSOrderedSet?
  /// As read from upstream, in its order; what committed values answer.
  @exclusivity(unchecked) private(set) var base: [NSManagedObject] = []
  @exclusivity(unchecked) private(set) var added: Set<NSManagedObject> = []
  @exclusivity(unchecked) private(set) var removed: Set<NSManagedObject> = []
  /// Those of `added` that turned out, when the members were read, to have been there already.
  @exclusivity(unchecked) private var _redundant: Set<NSManagedObject> = []
  /// Those of `removed` that turned out, when the members were read, not to have been there.
  @exclusivity(unchecked) private var _absent: Set<NSManagedObject> = []
  /// Members keep their places only if this is false.
  @exclusivity(unchecked) private(set) var isReordered = false
  /// The unsaved order of a relationship whose members were forgotten to be read again.
  @exclusivity(unchecked) private var _wantedOrder: [NSManagedObject]?

  init(isOrdered: Bool) { self.isOrdered = isOrdered }

  var hasChanges: Bool { !added.isEmpty || !removed.isEmpty || isReordered || _wantedOrder != nil }

  /// Members in a stable order: the relationship's, or for an unordered one whatever the set gives.
  var list: [NSManagedObject] { isOrdered ? order : _isSetDue ? base : Array(_set) }

  private func _makeSet() {
    guard _isSetDue else { return }
    _isSetDue = false
    _set = Set(base)
  }

  private func _forgetViews() { (_foundationSet, _commonClass) = (nil, nil) }

  /// A member that is not of this class, if there is any.
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

  /// The members in a Foundation set. A plain one, since Foundation bridges no subclass: `as? Set<Book>`
  /// would give an empty set. Making it costs more than reading the members, so that it is kept.
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

  /// Takes what upstream has, then replays what was added and removed before.
  func realise(_ read: [NSManagedObject]) {
    base = read
    if !isOrdered, added.isEmpty, removed.isEmpty {
      (_set, _isSetDue) = ([], true)
      _forgetViews()
      isRealised = true
      return
    }
    order = isOrdered ? read.filter { !removed.contains($0) } : []
    members = Set(read)
    _absent = removed.isEmpty ? [] : removed.subtracting(members)
    members.subtract(removed)
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

  /// Forgets what was read, keeping what was changed.
  func unrealise() {
    guard isRealised else { return }
    isRealised = false
    if isReordered { _wantedOrder = order }
    members = []
    order = []
    base = []
    isReordered = false
  }

  /// Adds a member. Where it was removed here before, that is taken back if it had been there; others may have removed
  /// it as well, and then it is new.
  ///
  /// - Parameter wasThere: Whether an object that was removed here had been a member; nil: as the members were read.
  @discardableResult
  func add(_ object: NSManagedObject, at index: Int? = nil, wasThere: Bool? = nil) -> Bool {
    if isRealised {
      guard members.insert(object).inserted else { return false }
      if isOrdered { order.insert(object, at: index ?? order.count) }
    }
    let isTakenBack = !removed.isEmpty && (wasThere ?? hasRemoved(object))
    if removed.isEmpty || removed.remove(object) == nil || !isTakenBack {
      _absent.remove(object)
      // Growing a set from nothing to a dozen by doubling costs more than the dozen insertions.
      if added.isEmpty { added.reserveCapacity(12) }
      added.insert(object)
    }
    if isOrdered { isReordered = true }
    return true
  }

  /// Whether an object is a member only because it was added since.
  func isNew(_ object: NSManagedObject) -> Bool { added.contains(object) && !_redundant.contains(object) }

  /// Whether an object was a member, as far as the members were read, until it was removed here.
  func hasRemoved(_ object: NSManagedObject) -> Bool {
    isRealised && removed.contains(object) && !_absent.contains(object)
  }

  /// - Parameter isNew: Whether it is a member only because it was added since, where that is known.
  @discardableResult
  func remove(_ object: NSManagedObject, isNew: Bool? = nil) -> Bool {
    if isRealised {
      guard members.remove(object) != nil else { return false }
      if isOrdered, let index = order.firstIndex(of: object) { order.remove(at: index) }
    }
    let isNew = isNew ?? !_redundant.contains(object)
    _redundant.remove(object)
    if added.remove(object) == nil || !isNew { removed.insert(object) }
    return true
  }

  /// Undoes an addition; a member that was there before it stays.
  func undoAddition(of object: NSManagedObject) {
    if _redundant.remove(object) != nil { added.remove(object) } else { remove(object) }
  }

  /// Adds an object because its own end was pointed here, whatever was read: these members may be older than
  /// its end.
  ///
  /// - Parameter wasThere: As for `add`.
  func gain(_ object: NSManagedObject, wasThere: Bool? = nil) -> Bool {
    if add(object, wasThere: wasThere) { return true }
    removed.remove(object)
    return added.insert(object).inserted
  }

  /// Removes an object because its own end was turned away, whatever was read.
  ///
  /// - Parameter isNew: As for `remove`.
  func lose(_ object: NSManagedObject, isNew: Bool? = nil) -> Bool {
    if remove(object, isNew: isNew) { return true }
    guard removed.insert(object).inserted else { return false }
    _absent.insert(object)
    return true
  }

  /// Forgets that a member was added or removed here: another context saved the same, and the members are to be
  /// read again.
  func clearChange(of object: NSManagedObject) {
    added.remove(object)
    _redundant.remove(object)
    removed.remove(object)
    _absent.remove(object)
  }

  /// Whether an object is a member, or was before it was removed here.
  func knows(_ object: NSManagedObject) -> Bool {
    members.contains(object) || added.contains(object) || removed.contains(object)
  }

  /// Drops an object that is gone for everybody: no change, nothing to save.
  func forget(_ object: NSManagedObject) {
    // The set first: it may yet have to be made of `base`.
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

  /// Takes an order made elsewhere: members that it does not know of keep their places at the end.
  func reorder(asFarAsKnown newOrder: [NSManagedObject]) {
    let known = newOrder.filter { members.contains($0) }
    let named = Set(known)
    reorder(known + order.filter { !named.contains($0) })
  }

  /// Gives an ordered relationship another order of the same members.
  func reorder(_ newOrder: [NSManagedObject]) {
    guard order != newOrder else { return }
    order = newOrder
    isReordered = true
  }

  /// What is there now becomes what was saved.
  func commit() {
    _forgetChanges()
    if isRealised { base = list }
  }

  /// Goes back to what was read.
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
    _wantedOrder = nil
  }

  /// What a save or a child context needs to know.
  ///
  /// - Parameter isTold: Whether a removal is to be told.
  func delta(where isTold: (NSManagedObject) -> Bool) -> ToManyDelta {
    ToManyDelta(
      added: added.map(\._objectID), removed: removed.lazy.filter(isTold).map(\._objectID),
      order: isOrdered ? (isRealised ? order : _wantedOrder)?.map(\._objectID) : nil)
  }
}
