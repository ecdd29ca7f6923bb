import CoreDataModelSchema
import CoreDataPredicateLanguage
import Foundation

// Key paths, access to several keys and live collections: parts of key-value coding that Foundation lacks on
// this platform.

extension NSManagedObject {
  final func valueAtEnd(of keyPath: String) -> Any? {
    do {
      let path = keyPath.keyPathSteps
      if path.count == 1 { return value(forKey: path[0]) }
      let operators = path.filter { $0.hasPrefix("@") }
      if operators.isEmpty || operators.contains(where: { $0.contains("nion") }) {
        return try KeyPathWalk.value(path[...], of: self)
      }
      // Counts members without loading them.
      return try ExpressionTree.keyPath(path).value(for: ManagedObjectSubject(object: self)).any
    } catch {
      programmerError("the key path '\(keyPath)' of '\(_layout.entityName)' cannot be read: \(error)")
    }
  }

  final func setValue(_ value: Any?, atEndOf keyPath: String) {
    guard let dot = keyPath.lastIndex(of: ".") else {
      setValue(value, forKey: keyPath)
      return
    }
    let (path, key) = (String(keyPath[..<dot]), String(keyPath[keyPath.index(after: dot)...]))
    if _isComposite(path) {
      var elements = self.value(forKeyPath: path) as? [String: Any] ?? [:]
      elements[key] = value is NSNull ? nil : value
      setValue(elements, forKeyPath: path)
    } else if !KeyPathWalk.set(value, forKey: key, of: self.value(forKeyPath: path)) {
      programmerError("'\(keyPath)' of '\(_layout.entityName)' leads to no object whose '\(key)' can be set.")
    }
  }

  /// Returns the object that has the last key of a path, with that key; nil if a to-one on the way is nil.
  final func owner(atEndOf keyPath: String) -> (owner: NSManagedObject, key: String)? {
    guard let dot = keyPath.lastIndex(of: ".") else { return (self, keyPath) }
    let (path, key) = (String(keyPath[..<dot]), String(keyPath[keyPath.index(after: dot)...]))
    switch value(forKeyPath: path) {
    case nil: return nil
    case let owner as NSManagedObject: return (owner, key)
    case let other?:
      programmerError(
        "'\(path)' of '\(_layout.entityName)' is a \(type(of: other)), which has no relationship '\(key)'.")
    }
  }

  /// Whether a path refers to a composite attribute, possibly nested in another one.
  private final func _isComposite(_ path: String) -> Bool {
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

  final func setValues(_ keyedValues: [String: Any]) {
    for (key, value) in keyedValues { setValue(value is NSNull ? nil : value, forKey: key) }
  }

  final func values(_ keys: [String]) -> [String: Any] {
    Dictionary(keys.map { ($0, value(forKey: $0) ?? NSNull()) }, uniquingKeysWith: { first, _ in first })
  }

  final func liveSet(_ key: String) -> NSMutableSet {
    LiveSet(self, slot: _toManySlot(key))
  }

  final func liveOrderedSet(_ key: String) -> NSMutableOrderedSet {
    let slot = _toManySlot(key)
    guard _layout.slots[slot].relationship!.isOrdered else {
      programmerError("'\(_layout.entityName).\(key)' is not ordered; use mutableSetValue(forKey:).")
    }
    return liveOrder(slot)
  }

  /// The set that reads and writes an ordered to-many in place.
  final func liveOrder(_ slot: Int) -> LiveOrderedSet {
    members(slot).live ?? LiveOrderedSet(self, slot: slot)
  }

  private final func _toManySlot(_ key: String) -> Int {
    guard let slot = _layout.slot(named: key), _layout.slots[slot].isToMany else {
      programmerError("'\(_layout.entityName)' has no to-many relationship '\(key)'.")
    }
    return slot
  }
}
