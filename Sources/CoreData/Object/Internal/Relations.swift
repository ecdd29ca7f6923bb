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
  @exclusivity(unchecked) private var _rare: Rare?

  /// What few objects have. Allocated on demand, since most objects with relationships need none of it.
  private final class Rare {
    @exclusivity(unchecked) var decoded: [Int: Decoded] = [:]
    @exclusivity(unchecked) var fetched: [String: FetchedPropertyResults] = [:]
    @exclusivity(unchecked) var partial: (row: Row, part: RowPart)?
  }

  /// The object of a transformable attribute, with the cell that it was decoded from: another cell has another object,
  /// however it came into the row.
  struct Decoded {
    let box: TransformableBox
    let object: Any
  }

  private var _madeRare: Rare {
    if let _rare { return _rare }
    let rare = Rare()
    _rare = rare
    return rare
  }

  /// Returns the object that was decoded from a cell.
  func decoded(_ slot: Int, from box: TransformableBox) -> Any? {
    guard let known = _rare?.decoded[slot], known.box === box else { return nil }
    return known.object
  }

  /// Keeps the object of a cell.
  func keep(_ object: Any, decodedFrom box: TransformableBox, _ slot: Int) {
    _madeRare.decoded[slot] = Decoded(box: box, object: object)
  }

  /// Results of fetched properties by name.
  var fetched: [String: FetchedPropertyResults] {
    get { _rare?.fetched ?? [:] }
    _modify { yield &_madeRare.fetched }
  }
  /// Values of a fault fetched with some of its properties.
  var partial: (row: Row, part: RowPart)? {
    get { _rare?.partial }
    set { if newValue != nil || _rare != nil { _madeRare.partial = newValue } }
  }

  /// Drops the decoded objects of transformable attributes.
  func forgetDecoded() { _rare?.decoded = [:] }

  /// Drops the decoded object of one attribute.
  func forgetDecoded(_ slot: Int) { _rare?.decoded[slot] = nil }

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

  @inline(__always)
  func forEachToMany(_ body: (Int, ToManyState) -> Void) {
    for entry in _toMany { body(entry.slot, entry.state) }
  }

  /// Invalidates everything that can be reread. Keeps unsaved additions and removals.
  func dropClean() {
    _rare?.fetched = [:]
    forgetDecoded()
    dropTargets()
    _toMany.removeAll { !$0.state.hasChanges && $0.state.live == nil }
    for entry in _toMany { entry.state.unrealise() }
  }
}
