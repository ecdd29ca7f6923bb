import CoreDataModelSchema
import Foundation

/// The members of one to-many: those last read, if any, plus unsaved additions and removals.
final class ToManyState {
  let isOrdered: Bool
  /// Whether `members` is complete.
  @exclusivity(unchecked) private(set) var isRealised = false
  /// All members, once realised.
  @exclusivity(unchecked) private var _members = MemberSet()
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

  /// The members, once realised, as a set to search.
  var members: Set<NSManagedObject> { _members.set }

  /// The members as read or last saved, in their order; basis of committed values.
  var base: [NSManagedObject] { _members.base }

  /// The members as an array, in the relationship's order if it is ordered.
  var list: [NSManagedObject] { isOrdered ? order : _members.list }

  var count: Int { isOrdered ? order.count : _members.count }

  func contains(_ object: NSManagedObject) -> Bool { _members.contains(object) }

  /// Returns a member that is not of this class, if any.
  func member<Object: NSManagedObject>(notOf type: Object.Type) -> NSManagedObject? {
    _members.member(notOf: type)
  }

  /// The members as a plain `NSSet`, kept until they change: building it costs more than reading them.
  var foundationSet: NSSet { _members.foundationSet }

  /// The members of an ordered to-many in a Foundation set.
  var foundationOrder: NSOrderedSet {
    if let _foundationOrder { return _foundationOrder }
    let set = OrderedMembers(list)
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
    _members = MemberSet(read)
    if !isOrdered, changes.isEmpty, lost.isEmpty, gained.isEmpty {
      isRealised = true
      return
    }
    changes.update { object, change in
      MemberChange(isMember: change.isMember, wasMember: _members.contains(object))
    }
    for object in changes.removed + lost { _ = _members.remove(object) }
    order = isOrdered ? read.filter { _members.contains($0) } : []
    for object in gained + changes.added where _members.insert(object) && isOrdered { order.append(object) }
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
    _members = MemberSet()
    order = []
    isReordered = false
  }

  // MARK: Changing

  /// Whether an object is among the members; nil if they are not loaded.
  func shows(_ object: NSManagedObject) -> Bool? { isRealised ? contains(object) : nil }

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
      guard _members.insert(object) else { return false }
      if isOrdered { order.insert(object, at: index ?? order.count) }
    } else {
      guard _members.remove(object) else { return false }
      if isOrdered, let index = _position(of: object) { order.remove(at: index) }
    }
    return true
  }

  /// The position of an object in the order, which its end is searched for first: what is removed was often
  /// added last. Compares addresses only.
  private func _position(of object: NSManagedObject) -> Int? {
    let wanted = ObjectIdentifier(object)
    return order.withUnsafeBufferPointer { order in
      order.withMemoryRebound(to: ObjectIdentifier.self) { $0.lastIndex(of: wanted) }
    }
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
    contains(object) || changes[object] != nil
  }

  /// Removes objects whose deletion is saved. Records no change. Costs as much as the smaller of the two
  /// sets.
  func forget(_ gone: Set<NSManagedObject>) {
    let hasDropped = _members.drop(gone)
    if hasDropped, !order.isEmpty { order.removeAll(where: gone.contains) }
    _wantedOrder?.removeAll(where: gone.contains)
    if !changes.isEmpty { for object in changes.objects(in: gone) { changes[object] = nil } }
  }

  /// Applies an order that may be incomplete. Members missing from it follow at the end, in their current
  /// order.
  func reorder(asFarAsKnown newOrder: [NSManagedObject]) {
    let known = newOrder.filter { contains($0) }
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

  /// What contradicts itself in the members, for tests.
  var inconsistencies: [String] {
    guard isRealised else { return [] }
    var found = _members.inconsistencies
    if isOrdered, order.count != _members.count || Set(order) != members {
      found.append("the order has \(order.count) members of \(_members.count)")
    }
    if let _foundationOrder, _foundationOrder.array as? [NSManagedObject] ?? [] != order {
      found.append("Foundation's ordered set differs from the order")
    }
    for (object, change) in changes.all where change.isMember != contains(object) {
      found.append("\(object._objectID) is recorded as \(change.isMember ? "added" : "removed") and is not")
    }
    return found
  }

  /// Makes the current members the saved state.
  func commit() {
    _forgetChanges()
    if isRealised { _members.commit(order: isOrdered ? order : nil) }
  }

  /// Restores the members as read.
  func rollback() {
    _forgetChanges()
    if isRealised {
      _members.rollback()
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
      added: changes.added.map(\._objectID), removed: changes.removed.map(\._objectID), order: _orderedIDs,
      appended: _appended)
  }

  /// The order of a one-to-many for a save or a child context, and the objects no longer in it.
  var orderDelta: ToManyDelta {
    ToManyDelta(
      added: [], removed: _members.removed.map(\._objectID), order: _orderedIDs, appended: _appended)
  }

  /// The number of members that were added at the end, if nothing else has changed; otherwise 0.
  private var _appended: Int {
    guard isOrdered, isRealised, changes.removed.isEmpty, _members.removed.isEmpty else { return 0 }
    let read = base
    let isPrefix =
      order.count > read.count
      && read.withUnsafeBufferPointer { read in
        order.withUnsafeBufferPointer { order in
          read.withMemoryRebound(to: ObjectIdentifier.self) { read in
            order.withMemoryRebound(to: ObjectIdentifier.self) { $0.starts(with: read) }
          }
        }
      }
    return isPrefix ? order.count - read.count : 0
  }

  private var _orderedIDs: [NSManagedObjectID]? {
    isOrdered ? (isRealised ? order : _wantedOrder)?.map(\._objectID) : nil
  }
}
