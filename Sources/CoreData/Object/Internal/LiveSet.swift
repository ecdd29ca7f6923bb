import Foundation

/// A to-many that is read and written in place; returned by `mutableSetValue(forKey:)`.
///
/// Overrides every mutating method, since the superclass's would write to its own storage, which stays empty.
/// Foundation bridges only `NSSet` and `NSMutableSet` themselves, so casting this class to a Swift set yields
/// an empty set.
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

  /// The members, for a change that depends on them; none if they cannot be read, which refuses the change.
  private var _membersToChange: Set<NSManagedObject> { _owner.membersToChange(_slot)?.members ?? [] }

  // The superclass would read its empty storage.
  override var description: String { NSSet(array: Array(_members)).description }

  // MARK: Reading

  override var count: Int { _members.count }

  override func member(_ object: Any) -> Any? {
    guard let object = object as? NSManagedObject, _members.contains(object) else { return nil }
    return object
  }

  override func objectEnumerator() -> NSEnumerator { NSArray(array: Array(_members)).objectEnumerator() }
  override var allObjects: [Any] { Array(_members) }
  override func contains(_ anObject: Any) -> Bool { member(anObject) != nil }

  // The superclass would cast the other set to a Swift set, which is empty for this class.
  override func isEqual(_ value: Any?) -> Bool {
    if let other = value as? LiveSet { return _members == other._members }
    return NSSet(array: Array(_members)).isEqual(value)
  }

  // MARK: Writing

  override func add(_ object: Any) { _owner.addMember(managed(object), _slot) }
  override func remove(_ object: Any) { _owner.removeMember(managed(object), _slot) }

  override func addObjects(from array: [Any]) { for object in array { add(object) } }
  override func removeAllObjects() { for object in _membersToChange { remove(object) } }
  override func union(_ otherSet: Set<AnyHashable>) { for object in otherSet { add(object.base) } }
  override func minus(_ otherSet: Set<AnyHashable>) { for object in otherSet { remove(object.base) } }
  override func intersect(_ otherSet: Set<AnyHashable>) {
    for object in _membersToChange where !otherSet.contains(object) { remove(object) }
  }
  override func setSet(_ otherSet: Set<AnyHashable>) {
    intersect(otherSet)
    union(otherSet)
  }

  // MARK: Copying

  override func copy(with zone: NSZone? = nil) -> Any { NSSet(array: Array(_members)) }
  override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableSet(array: Array(_members)) }
}

/// Checks and casts an object that a caller passes to a live collection.
func managed(_ object: Any) -> NSManagedObject {
  guard let object = object as? NSManagedObject else {
    programmerError("a to-many relationship takes managed objects, not a \(type(of: object)).")
  }
  return object
}
