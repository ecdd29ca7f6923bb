import CoreDataModelSchema
import Foundation

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
  /// The unsaved additions and removals. Both ends of a pair of a many-to-many record the same; see
  /// `ManyToManyPair`.
  @exclusivity(unchecked) var changes = MemberChanges()
  /// Whether the order was changed; otherwise members keep their positions.
  @exclusivity(unchecked) private(set) var isReordered = false
  /// The unsaved order of an invalidated to-many.
  @exclusivity(unchecked) private var _wantedOrder: [NSManagedObject]?

  init(isOrdered: Bool) { self.isOrdered = isOrdered }

  /// Whether a child has saved changes of the members, which are recorded in the members' own to-ones.
  @exclusivity(unchecked) private(set) var isTouched = false

  var hasChanges: Bool {
    isTouched || !changes.isEmpty || isReordered || _wantedOrder != nil
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

  // MARK: Reading

  /// Installs the members just read, then replays unsaved additions and removals on them.
  ///
  /// - Parameters:
  ///   - lost: Members read that a child has moved to another owner.
  ///   - gained: Objects that a child has moved to this owner.
  func realise(
    _ read: [NSManagedObject], lost: [NSManagedObject] = [], gained: [NSManagedObject] = []
  ) {
    base = read
    if !isOrdered, changes.isEmpty, lost.isEmpty, gained.isEmpty {
      (_set, _isSetDue) = ([], true)
      _forgetViews()
      isRealised = true
      return
    }
    members = Set(read)
    changes.update { object, change in
      MemberChange(isMember: change.isMember, wasMember: members.contains(object))
    }
    let removed = changes.removed
    members.subtract(removed)
    members.subtract(lost)
    order = isOrdered ? read.filter(members.contains) : []
    for object in gained + changes.added where members.insert(object).inserted && isOrdered {
      order.append(object)
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
    // Others may have removed the same members, so the previous membership is unknown. Later removals read
    // the members first.
    changes.update { _, change in
      MemberChange(isMember: change.isMember, wasMember: change.isMember ? change.wasMember : nil)
    }
    members = []
    order = []
    base = []
    isReordered = false
  }

  // MARK: Changing

  /// Whether an object is among the members; nil if they are not loaded.
  func shows(_ object: NSManagedObject) -> Bool? { isRealised ? members.contains(object) : nil }

  /// Adds or removes a member. Drops a change that restores what was read.
  ///
  /// - Parameters:
  ///   - wasMember: Whether the object was a member, if the caller has newer information than the members
  ///     read.
  ///   - index: Position in an ordered relationship; at the end if nil.
  /// - Returns: False if the membership is known to be the requested one already.
  @discardableResult
  func set(
    _ object: NSManagedObject, isMember: Bool, wasMember: Bool? = nil, at index: Int? = nil
  ) -> Bool {
    if isRealised, !show(object, isMember: isMember, at: index) { return false }
    if isMember { markReordered() }
    changes.record(object, isMember: isMember, wasMember: wasMember)
    return true
  }

  /// Adds an object to the members in memory, or removes it. Records no change.
  ///
  /// - Returns: Whether the members have changed.
  @discardableResult
  func show(_ object: NSManagedObject, isMember: Bool, at index: Int? = nil) -> Bool {
    guard isRealised else { return false }
    if isMember {
      guard members.insert(object).inserted else { return false }
      if isOrdered { order.insert(object, at: index ?? order.count) }
    } else {
      guard members.remove(object) != nil else { return false }
      if isOrdered, let index = order.firstIndex(of: object) { order.remove(at: index) }
    }
    return true
  }

  /// Follows a change of the object's own end, which now points to this owner or no longer does. Overrides
  /// the members read, which may be older than that end, and records the change even if it restores what was
  /// read.
  ///
  /// - Parameter wasMember: As for `set`.
  /// - Returns: Whether the members or the recorded changes differ from before.
  func follow(_ object: NSManagedObject, isMember: Bool, wasMember: Bool? = nil) -> Bool {
    if set(object, isMember: isMember, wasMember: wasMember) { return true }
    // The members read already match.
    let known = changes[object]
    changes[object] = MemberChange(
      isMember: isMember, wasMember: wasMember ?? (known == nil ? isMember : known?.wasMember))
    return known?.isMember != isMember
  }

  /// Records that a child has changed the members.
  func touch() { isTouched = true }

  /// Adds an object that a child has moved to this owner. Records no addition: the object's to-one is the
  /// change.
  func gainMoved(_ object: NSManagedObject) -> Bool {
    if changes[object]?.isMember == false { changes[object] = nil }
    return show(object, isMember: true)
  }

  /// Removes an object that a child has moved to another owner. Records no removal, as `gainMoved(_:)`.
  func loseMoved(_ object: NSManagedObject) -> Bool {
    if changes[object]?.isMember == true { changes[object] = nil }
    return show(object, isMember: false)
  }

  /// Whether an object is a member, or was before its unsaved removal.
  func knows(_ object: NSManagedObject) -> Bool {
    members.contains(object) || changes[object] != nil
  }

  /// Removes objects whose deletion is saved. Records no change. Costs as much as the smaller of the two
  /// sets.
  func forget(_ gone: Set<NSManagedObject>) {
    let known =
      _isSetDue
      ? base.filter(gone.contains)
      : Array(gone.count < _set.count ? gone.filter(_set.contains) : _set.filter(gone.contains))
    let changed = changes.isEmpty ? [] : changes.objects(in: gone)
    if known.isEmpty, changed.isEmpty { return }
    // The set first: it may have to be built from `base`.
    for object in known { members.remove(object) }
    if !order.isEmpty { order.removeAll(where: gone.contains) }
    base.removeAll(where: gone.contains)
    _wantedOrder?.removeAll(where: gone.contains)
    for object in changed { changes[object] = nil }
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

  /// Records that the order of an ordered to-many differs from that of the members read.
  func markReordered() { if isOrdered { isReordered = true } }

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
    changes = MemberChanges()
    isReordered = false
    isTouched = false
    _wantedOrder = nil
  }

  /// The changes for a save or a child context.
  var delta: ToManyDelta {
    ToManyDelta(
      added: changes.added.map(\._objectID), removed: changes.removed.map(\._objectID), order: _orderedIDs)
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
