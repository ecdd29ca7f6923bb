import Foundation

// What mutableSetValue(forKey:) and mutableOrderedSetValue(forKey:) answer. Every mutating method is
// overridden: those of Foundation's classes write to a storage of their own, which here stays empty.

/// A to-many that is read and written in place.
final class LiveSet: NSMutableSet {
  private let _owner: NSManagedObject
  private let _slot: Int

  init(_ owner: NSManagedObject, slot: Int) {
    _owner = owner
    _slot = slot
    super.init(capacity: 0)
  }

  required init?(coder aDecoder: NSCoder) { nil }
  required init(capacity numItems: Int) {
    programmerError("a live set is made by mutableSetValue(forKey:) only.")
  }

  private var _members: Set<NSManagedObject> { _owner.members(_slot).members }

  // Foundation's looks into the empty storage.
  override var description: String { NSSet(array: Array(_members)).description }

  override var count: Int { _members.count }

  override func member(_ object: Any) -> Any? {
    guard let object = object as? NSManagedObject, _members.contains(object) else { return nil }
    return object
  }

  override func objectEnumerator() -> NSEnumerator { NSArray(array: Array(_members)).objectEnumerator() }
  override var allObjects: [Any] { Array(_members) }
  override func contains(_ anObject: Any) -> Bool { member(anObject) != nil }

  override func add(_ object: Any) { _owner.addMember(managed(object), _slot) }
  override func remove(_ object: Any) { _owner.removeMember(managed(object), _slot) }

  override func addObjects(from array: [Any]) { for object in array { add(object) } }
  override func removeAllObjects() { for object in _members { remove(object) } }
  override func union(_ otherSet: Set<AnyHashable>) { for object in otherSet { add(object.base) } }
  override func minus(_ otherSet: Set<AnyHashable>) { for object in otherSet { remove(object.base) } }
  override func intersect(_ otherSet: Set<AnyHashable>) {
    for object in _members where !otherSet.contains(object) { remove(object) }
  }
  override func setSet(_ otherSet: Set<AnyHashable>) {
    intersect(otherSet)
    union(otherSet)
  }

  override func copy(with zone: NSZone? = nil) -> Any { NSSet(array: Array(_members)) }
  override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableSet(array: Array(_members)) }
}

/// An ordered to-many that is read and written in place.
final class LiveOrderedSet: NSMutableOrderedSet {
  private let _owner: NSManagedObject
  private let _slot: Int

  init(_ owner: NSManagedObject, slot: Int) {
    _owner = owner
    _slot = slot
    super.init(capacity: 0)
  }

  required init?(coder aDecoder: NSCoder) { nil }
  required init(arrayLiteral elements: Any...) {
    programmerError("a live ordered set is made by mutableOrderedSetValue(forKey:) only.")
  }

  private var _order: [NSManagedObject] { _owner.members(_slot).order }

  override var description: String { NSOrderedSet(array: _order).description }

  override var count: Int { _order.count }
  override func object(at idx: Int) -> Any { _order[idx] }
  override func index(of object: Any) -> Int {
    (object as? NSManagedObject).flatMap { _order.firstIndex(of: $0) } ?? NSNotFound
  }
  override func contains(_ object: Any) -> Bool { index(of: object) != NSNotFound }

  override func add(_ object: Any) { _owner.addMember(managed(object), _slot) }
  override func insert(_ object: Any, at idx: Int) { _owner.addMember(managed(object), _slot, at: idx) }
  override func removeObject(at idx: Int) { _owner.removeMember(_order[idx], _slot) }
  override func remove(_ object: Any) { _owner.removeMember(managed(object), _slot) }
  override func replaceObject(at idx: Int, with obj: Any) {
    removeObject(at: idx)
    insert(obj, at: idx)
  }
  override func setObject(_ obj: Any, at idx: Int) {
    if idx == count { add(obj) } else { replaceObject(at: idx, with: obj) }
  }

  override func addObjects(from array: [Any]) { for object in array { add(object) } }
  override func removeAllObjects() { for object in _order { remove(object) } }
  override func removeObjects(in array: [Any]) { for object in array { remove(object) } }
  override func insert(_ objects: [Any], at indexes: IndexSet) {
    for (object, index) in zip(objects, indexes) { insert(object, at: index) }
  }
  override func removeObjects(at indexes: IndexSet) {
    let order = _order
    for index in indexes { remove(order[index]) }
  }
  override func replaceObjects(at indexes: IndexSet, with objects: [Any]) {
    for (index, object) in zip(indexes, objects) { replaceObject(at: index, with: object) }
  }
  override func exchangeObject(at idx1: Int, withObjectAt idx2: Int) {
    var order = _order
    order.swapAt(idx1, idx2)
    _owner.setToMany(_slot, order)
  }
  override func moveObjects(at indexes: IndexSet, to idx: Int) {
    let order = _order
    let moved = indexes.map { order[$0] }
    var rest = order.indices.filter { !indexes.contains($0) }.map { order[$0] }
    rest.insert(contentsOf: moved, at: Swift.min(idx, rest.count))
    _owner.setToMany(_slot, rest)
  }
  override func union(_ other: NSOrderedSet) { addObjects(from: other.array) }
  override func minus(_ other: NSOrderedSet) { removeObjects(in: other.array) }
  override func intersect(_ other: NSOrderedSet) {
    for object in _order where !other.contains(object) { remove(object) }
  }
  override func unionSet(_ other: Set<AnyHashable>) { for object in other { add(object.base) } }
  override func minusSet(_ other: Set<AnyHashable>) { for object in other { remove(object.base) } }
  override func intersectSet(_ other: Set<AnyHashable>) {
    for object in _order where !other.contains(object) { remove(object) }
  }
  override func sort(comparator cmptr: (Any, Any) -> ComparisonResult) {
    _owner.setToMany(_slot, _order.sorted { cmptr($0, $1) == .orderedAscending })
  }

  override func copy(with zone: NSZone? = nil) -> Any { NSOrderedSet(array: _order) }
  override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableOrderedSet(array: _order) }
}

/// A member as callers pass it.
private func managed(_ object: Any) -> NSManagedObject {
  guard let object = object as? NSManagedObject else {
    programmerError("a to-many relationship takes managed objects, not a \(type(of: object)).")
  }
  return object
}
