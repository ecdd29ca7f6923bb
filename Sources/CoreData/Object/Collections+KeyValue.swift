import Foundation

// Key-value coding of Foundation's collections, which Foundation lacks on this platform. The elements are
// managed objects, dictionaries, types that adopt `KeyValueCoding`, or collections of those. Not thread-safe:
// use managed objects on their context's queue.

extension NSArray {
  /// Returns an array with the value of a key for each element; `NSNull` where an element has none.
  ///
  /// A key that begins with `@` is an operator, such as `@count`. Traps for a key that an element does not
  /// have, where a Mac raises.
  ///
  /// ```swift
  /// let titles = NSArray(array: [book]).value(forKey: "title") as? [String]
  /// ```
  public func value(forKey key: String) -> Any { KeyPathWalk.read([key], of: self) ?? NSNull() }

  /// Sets the value of a key of each element; nil or `NSNull` clears it.
  public func setValue(_ value: Any?, forKey key: String) { KeyPathWalk.write(value, [key], of: self) }

  /// Returns the value at the end of a key path, which may have Apple's collection operators: `@count`,
  /// `@sum`, `@avg`, `@min`, `@max`, `@unionOfObjects`, `@distinctUnionOfObjects`, and `@unionOfArrays`,
  /// `@distinctUnionOfArrays`, `@unionOfSets`, `@distinctUnionOfSets` for collections of collections.
  ///
  /// Leaves without a value are left out of unions, where a Mac raises.
  ///
  /// ```swift
  /// let pages = NSArray(array: [book]).value(forKeyPath: "@sum.pages") as? Int
  /// let authors = NSArray(array: [book]).value(forKeyPath: "@distinctUnionOfObjects.author.name")
  /// ```
  public func value(forKeyPath keyPath: String) -> Any? { KeyPathWalk.read(keyPath.keyPathSteps, of: self) }

  /// Sets the value at the end of a key path for each element.
  public func setValue(_ value: Any?, forKeyPath keyPath: String) {
    KeyPathWalk.write(value, keyPath.keyPathSteps, of: self)
  }
}

extension NSSet {
  /// Returns a set with the values of a key; elements without one are left out.
  ///
  /// A key that begins with `@` is an operator, such as `@count`. Traps for a key that an element does not
  /// have, where a Mac raises.
  public func value(forKey key: String) -> Any { KeyPathWalk.read([key], of: self) ?? NSNull() }

  /// Sets the value of a key of each element; nil or `NSNull` clears it.
  public func setValue(_ value: Any?, forKey key: String) { KeyPathWalk.write(value, [key], of: self) }

  /// Returns the value at the end of a key path, which may have the operators of
  /// `NSArray.value(forKeyPath:)`.
  public func value(forKeyPath keyPath: String) -> Any? { KeyPathWalk.read(keyPath.keyPathSteps, of: self) }

  /// Sets the value at the end of a key path for each element.
  public func setValue(_ value: Any?, forKeyPath keyPath: String) {
    KeyPathWalk.write(value, keyPath.keyPathSteps, of: self)
  }
}

extension NSOrderedSet {
  /// Returns an ordered set with the values of a key; elements without one are left out.
  ///
  /// A key that begins with `@` is an operator, such as `@count`. Traps for a key that an element does not
  /// have, where a Mac raises.
  public func value(forKey key: String) -> Any { KeyPathWalk.read([key], of: self) ?? NSNull() }

  /// Sets the value of a key of each element; nil or `NSNull` clears it.
  public func setValue(_ value: Any?, forKey key: String) { KeyPathWalk.write(value, [key], of: self) }

  /// Returns the value at the end of a key path, which may have the operators of
  /// `NSArray.value(forKeyPath:)`.
  public func value(forKeyPath keyPath: String) -> Any? { KeyPathWalk.read(keyPath.keyPathSteps, of: self) }

  /// Sets the value at the end of a key path for each element.
  public func setValue(_ value: Any?, forKeyPath keyPath: String) {
    KeyPathWalk.write(value, keyPath.keyPathSteps, of: self)
  }
}
