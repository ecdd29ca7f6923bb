import Foundation
import ModelSchema
import PredicateLanguage

// Key paths, several keys at once, and live collections. Foundation has none of it here.

extension NSManagedObject {
  /// Value at the end of a path of keys; collection operators such as `books.@count` and `books.@avg.price` included.
  public final func value(forKeyPath keyPath: String) -> Any? {
    do {
      let path = keyPath.split(separator: ".").map(String.init)
      if path.count == 1 { return value(forKey: path[0]) }
      if !path.contains(where: { $0.hasPrefix("@") }) {
        var current: Any? = self
        for step in path {
          switch current {
          case let object as NSManagedObject: current = object.value(forKey: step)
          case let objects as Set<NSManagedObject>:
            current = NSSet(array: objects.compactMap { $0.value(forKey: step) })
          case let objects as NSOrderedSet:
            current = objects.array.compactMap { ($0 as? NSManagedObject)?.value(forKey: step) }
          default: return nil
          }
        }
        return current
      }
      return try ExpressionTree.keyPath(path).value(for: ManagedObjectSubject(object: self)).any
    } catch {
      programmerError("the key path '\(keyPath)' of '\(_layout.entityName)' cannot be read: \(error)")
    }
  }

  /// Sets the value at the end of a path of keys over to-one relationships.
  public final func setValue(_ value: Any?, forKeyPath keyPath: String) {
    guard let dot = keyPath.lastIndex(of: ".") else {
      setValue(value, forKey: keyPath)
      return
    }
    let owner = self.value(forKeyPath: String(keyPath[..<dot])) as? NSManagedObject
    owner?.setValue(value, forKey: String(keyPath[keyPath.index(after: dot)...]))
  }

  /// Sets several properties; NSNull sets nil.
  public final func setValuesForKeys(_ keyedValues: [String: Any]) {
    for (key, value) in keyedValues { setValue(value is NSNull ? nil : value, forKey: key) }
  }

  /// Values of several properties; nil shows as NSNull.
  public final func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
    Dictionary(keys.map { ($0, value(forKey: $0) ?? NSNull()) }, uniquingKeysWith: { first, _ in first })
  }

  /// The members of a to-many as a set that writes through, inverses included.
  public final func mutableSetValue(forKey key: String) -> NSMutableSet {
    LiveSet(self, slot: toManySlot(key))
  }

  /// The members of an ordered to-many as an ordered set that writes through, inverses included.
  public final func mutableOrderedSetValue(forKey key: String) -> NSMutableOrderedSet {
    let slot = toManySlot(key)
    guard _layout.slots[slot].relationship!.isOrdered else {
      programmerError("'\(_layout.entityName).\(key)' is not ordered; use mutableSetValue(forKey:).")
    }
    return LiveOrderedSet(self, slot: slot)
  }

  private final func toManySlot(_ key: String) -> Int {
    guard let slot = _layout.slot(named: key), _layout.slots[slot].isToMany else {
      programmerError("'\(_layout.entityName)' has no to-many relationship '\(key)'.")
    }
    return slot
  }
}

/// A to-many that is read and written in place.
private final class LiveSet: NSMutableSet {
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

  override var count: Int { _members.count }

  override func member(_ object: Any) -> Any? {
    guard let object = object as? NSManagedObject, _members.contains(object) else { return nil }
    return object
  }

  override func objectEnumerator() -> NSEnumerator { NSArray(array: Array(_members)).objectEnumerator() }

  override func add(_ object: Any) { _owner.addMember(_managed(object), _slot) }

  override func remove(_ object: Any) { _owner.removeMember(_managed(object), _slot) }

  override func copy(with zone: NSZone? = nil) -> Any { NSSet(array: Array(_members)) }
  override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableSet(array: Array(_members)) }

  private func _managed(_ object: Any) -> NSManagedObject {
    guard let object = object as? NSManagedObject else {
      programmerError("a to-many relationship takes managed objects, not a \(type(of: object)).")
    }
    return object
  }
}

/// An ordered to-many that is read and written in place.
private final class LiveOrderedSet: NSMutableOrderedSet {
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

  override var count: Int { _order.count }

  override func object(at idx: Int) -> Any { _order[idx] }

  override func index(of object: Any) -> Int {
    (object as? NSManagedObject).flatMap { _order.firstIndex(of: $0) } ?? NSNotFound
  }

  override func insert(_ object: Any, at idx: Int) {
    guard let object = object as? NSManagedObject else {
      programmerError("a to-many relationship takes managed objects, not a \(type(of: object)).")
    }
    _owner.addMember(object, _slot, at: idx)
  }

  override func removeObject(at idx: Int) { _owner.removeMember(_order[idx], _slot) }

  override func replaceObject(at idx: Int, with obj: Any) {
    removeObject(at: idx)
    insert(obj, at: idx)
  }
}
