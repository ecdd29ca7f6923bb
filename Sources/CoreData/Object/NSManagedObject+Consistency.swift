import CoreDataModelSchema

extension NSManagedObject {
  /// What contradicts itself in the object, for tests: nothing may between two calls. Called on the context's queue.
  final var inconsistencies: [String] {
    var found = _stateInconsistencies.map { "\(_objectID): \($0)" }
    if let row = _current {
      for slot in _layout.toOneSlots {
        // An unsaved target is known by the ID that it had when the link was made.
        guard let target = _relations?.target(slot), !row[slot].refers(to: target._objectID) else { continue }
        found.append(
          "\(_objectID), '\(_layout.slots[slot].name)': shows \(target._objectID), not \(row[slot])")
      }
    }
    _relations?.forEachToMany { slot, state in
      let name = _layout.slots[slot].name
      found += state.inconsistencies.map { "\(_objectID), '\(name)': \($0)" }
    }
    return found
  }

  private final var _stateInconsistencies: [String] {
    var found: [String] = []
    func expect(_ holds: Bool, _ flaw: String) { if !holds { found.append(flaw) } }
    expect(!_flags.contains(.draftShared) || _draft != nil, "shares values that it has not")
    expect(
      _flags.contains(.deleted) || _flags.isDisjoint(with: .deletion),
      "is not deleted, but its deletion has come some way")
    expect(!_flags.isSuperset(of: [.inserted, .updated]), "is inserted and updated")
    expect(!_flags.contains(.reinserted) || _flags.contains(.updated), "is inserted again and not updated")
    expect(
      _flags.contains(.eventListed) || _flags.isDisjoint(with: .event), "has a change that no event lists")
    expect(
      isDirty || !_flags.isDisjoint(with: [.listed, .adopted]) || _changed.isEmpty,
      "is clean, with assigned slots")
    expect(
      !isFault || _draft != nil || _changed.isSubset(of: SlotSet(_layout.toManySlots)),
      "is a fault with assigned slots")
    expect(!_flags.contains(.awakening), "is still awakening")
    return found
  }
}
