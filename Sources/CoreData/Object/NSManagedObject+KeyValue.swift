import CoreDataModelSchema
import CoreDataPredicateLanguage
import Foundation

// Key paths, several keys at once, and live collections. Foundation has none of it here.

extension NSManagedObject {
  /// Value at the end of a path of keys; collection operators such as `books.@count` and `books.@avg.price`
  /// included.
  public final func value(forKeyPath keyPath: String) -> Any? {
    do {
      let path = keyPath.split(separator: ".").map(String.init)
      if path.count == 1 { return value(forKey: path[0]) }
      if !path.contains(where: { $0.hasPrefix("@") }) {
        var current: Any? = self
        for step in path {
          switch current {
          case let object as NSManagedObject: current = object.value(forKey: step)
          case let elements as [String: Any]: current = elements[step]
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
    let (path, key) = (String(keyPath[..<dot]), String(keyPath[keyPath.index(after: dot)...]))
    if let owner = self.value(forKeyPath: path) as? NSManagedObject {
      owner.setValue(value, forKey: key)
    } else if isComposite(path) {
      var elements = self.value(forKeyPath: path) as? [String: Any] ?? [:]
      elements[key] = value is NSNull ? nil : value
      setValue(elements, forKeyPath: path)
    }
  }

  /// Whether a path leads to a composite attribute, or to a composite inside one.
  private final func isComposite(_ path: String) -> Bool {
    let steps = path.split(separator: ".").map(String.init)
    guard let first = steps.first, let slot = _layout.slot(named: first), var coding = _shape.codings[slot]
    else {
      return false
    }
    for step in steps.dropFirst() {
      guard let next = coding.elements.first(where: { $0.name == step }) else { return false }
      coding = next
    }
    return coding.type == .composite
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
  ///
  /// Foundation here bridges only sets of its own: `as? Set<Book>` of this one comes out empty. Take
  /// `value(forKey:) as? Set<Book>`, or `allObjects`.
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
