/// Keys of rows with one value in an index. One key, as in an index of unique values, needs no memory of its own.
enum KeySet {
  case one(Int64)
  case many(Set<Int64>)

  /// Adds a key.
  mutating func insert(_ key: Int64) {
    switch self {
    case .one(let known):
      if known != key { self = .many([known, key]) }
    case .many(var keys):
      // Without another owner the set changes in place.
      self = .one(key)
      keys.insert(key)
      self = .many(keys)
    }
  }

  /// Removes a key. Returns whether none is left.
  mutating func remove(_ key: Int64) -> Bool {
    switch self {
    case .one(let known): return known == key
    case .many(var keys):
      self = .one(key)
      keys.remove(key)
      self = .many(keys)
      return keys.isEmpty
    }
  }

  var keys: [Int64] {
    switch self {
    case .one(let key): [key]
    case .many(let keys): Array(keys)
    }
  }
}
