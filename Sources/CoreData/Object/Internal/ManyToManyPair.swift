/// A link of a many-to-many at both ends. Every change of such a link goes through here, so that both ends record the
/// same.
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

  /// A pair whose other end is loaded into memory, but not its members unless they are ordered.
  ///
  /// Nil if a damaged file relates an object whose entity has no such relationship.
  init?(_ owner: NSManagedObject, _ slot: Int, _ state: ToManyState, with member: NSManagedObject) {
    guard let inverse = owner.relationship(slot)?.inverseSlot, let other = member.relationship(inverse),
      other.isToMany
    else { return nil }
    (_owner, _slot, _member, _inverse, _mine) = (owner, slot, member, inverse, state)
    _theirs = other.isOrdered ? member.members(inverse) : member.memberState(inverse)
  }

  /// A pair with the other end as far as it is in memory.
  init(known owner: NSManagedObject, _ slot: Int, _ state: ToManyState, with member: NSManagedObject) {
    _inverse = owner.relationship(slot)?.inverseSlot
    (_owner, _slot, _member, _mine) = (owner, slot, member, state)
    _theirs = _inverse.flatMap { member._relations?.members($0) }
  }

  var identity: Identity { Identity([_mine] + (_theirs.map { [$0] } ?? [])) }

  /// Whether the objects were linked in what was read; nil if that is not known, or if the ends were read with
  /// different answers.
  private var _wasLinked: Bool? {
    if let change = _mine.changes[_member] ?? _theirs?.changes[_owner] { return change.wasMember }
    let (here, there) = (_mine.shows(_member), _theirs?.shows(_owner))
    return there == nil || here == there ? here : here == nil ? there : nil
  }

  /// Changes the link for the program: both objects count as changed, and undo can restore both.
  func change(_ body: (ManyToManyPair) -> Void) {
    _owner.willChangeState()
    _member.willChangeState()
    body(self)
    _owner.markChanged(_slot)
    if let _inverse { _member.markTouched(_inverse) }
  }

  /// Links the objects, or unlinks them.
  ///
  /// A change that restores what was read is dropped. As long as that is unknown, the last change is kept, even if
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

  /// Links the objects again, or unlinks them. Objects that were linked before they were linked again stay so.
  func revert(to isLinked: Bool) {
    if !isLinked, let change = _mine.changes[_member], change.isMember, change.isRestoring {
      record(nil)
    } else {
      set(isLinked: isLinked)
    }
  }

  /// Makes the other end know what was read of the pair at this one.
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
