/// Both ends of one link of a many-to-many. Every change of such a link goes through this type, so that both
/// ends record the same change.
struct ManyToManyPair {
  /// Identifies a pair from either end.
  struct Identity: Hashable {
    private let _ends: Set<ObjectIdentifier>

    fileprivate init(_ states: [ToManyState]) { _ends = Set(states.map { ObjectIdentifier($0) }) }
  }

  private let _owner: NSManagedObject
  private let _slot: Int
  private let _member: NSManagedObject
  /// Nil for a relationship without inverse.
  private let _inverse: Int?
  private let _mine: ToManyState
  /// Nil if the other end is not in memory.
  private let _theirs: ToManyState?

  /// Creates a pair and the state of its other end, whose members are loaded only if they are ordered.
  ///
  /// Nil if a damaged file relates an object whose entity has no such relationship.
  init?(_ owner: NSManagedObject, _ slot: Int, _ state: ToManyState, with member: NSManagedObject) {
    guard let inverse = owner.relationship(slot)?.inverseSlot, let other = member.relationship(inverse),
      other.isToMany
    else { return nil }
    (_owner, _slot, _member, _inverse, _mine) = (owner, slot, member, inverse, state)
    _theirs = other.isOrdered ? member.members(inverse) : member.memberState(inverse)
  }

  /// Creates a pair with the state of its other end, if that is in memory.
  init(known owner: NSManagedObject, _ slot: Int, _ state: ToManyState, with member: NSManagedObject) {
    _inverse = owner.relationship(slot)?.inverseSlot
    (_owner, _slot, _member, _mine) = (owner, slot, member, state)
    _theirs = _inverse.flatMap { member._relations?.members($0) }
  }

  var identity: Identity { Identity([_mine] + (_theirs.map { [$0] } ?? [])) }

  /// Whether the objects were linked when they were read; nil if unknown, or if the reads of the two ends
  /// disagree.
  private var _wasLinked: Bool? {
    if let change = _mine.changes[_member] ?? _theirs?.changes[_owner] { return change.wasMember }
    let (here, there) = (_mine.shows(_member), _theirs?.shows(_owner))
    return there == nil || here == there ? here : here == nil ? there : nil
  }

  /// Applies a change made by the program: records both objects for undo, and marks them changed.
  func change(_ body: (ManyToManyPair) -> Void) {
    _owner.willChangeState()
    _member.willChangeState()
    body(self)
    _owner.markChanged(_slot)
    if let _inverse { _member.markTouched(_inverse) }
  }

  /// Links the objects, or unlinks them.
  ///
  /// Drops a change that restores what was read. As long as that is unknown, keeps the last change, even if
  /// it reverts an earlier one.
  ///
  /// - Parameters:
  ///   - index: Position in an ordered relationship of the owner; at the end if nil.
  ///   - isRecordedAnyway: Whether to record even a change that restores what was read.
  func set(isLinked: Bool, at index: Int? = nil, recordedAnyway isRecordedAnyway: Bool = false) {
    let change = MemberChange(isMember: isLinked, wasMember: _wasLinked)
    _mine.show(_member, isMember: isLinked, at: index)
    _theirs?.show(_owner, isMember: isLinked)
    if isLinked {
      _mine.markReordered()
      _theirs?.markReordered()
    }
    record(isRecordedAnyway || !change.isRestoring ? change : nil)
  }

  /// Reverts the link to an earlier state. Drops an addition that restores what was read: the objects were
  /// linked before it and stay linked.
  func revert(to isLinked: Bool) {
    if !isLinked, let change = _mine.changes[_member], change.isMember, change.isRestoring {
      record(nil)
    } else {
      set(isLinked: isLinked)
    }
  }

  /// Passes the membership read at this end to the other end.
  func shareWhatWasRead() {
    guard let change = _mine.changes[_member], _theirs?.changes[_owner] != nil else { return }
    _theirs?.changes[_owner] = change
  }

  /// Records a change at both ends, or none.
  func record(_ change: MemberChange?) {
    _mine.changes[_member] = change
    _theirs?.changes[_owner] = change
  }
}
