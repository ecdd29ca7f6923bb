// Iterates arrays of references without reference counting. Passes over saved objects do so little per object
// that an atomic retain and release would dominate. The array keeps its elements alive.

extension Array where Element: AnyObject {
  /// Calls a closure with each element.
  @inline(__always)
  func forEachUnretained(_ body: (Element) throws -> Void) rethrows {
    try withUnsafeBufferPointer { elements in
      for index in elements.indices {
        try Unmanaged.passUnretained(elements[index])._withUnsafeGuaranteedRef(body)
      }
    }
  }

  /// Whether a closure returns true for every element.
  @inline(__always)
  func allSatisfyUnretained(_ predicate: (Element) throws -> Bool) rethrows -> Bool {
    try withUnsafeBufferPointer { elements in
      for index in elements.indices
      where try !Unmanaged.passUnretained(elements[index])._withUnsafeGuaranteedRef(predicate) {
        return false
      }
      return true
    }
  }

  /// Returns how many elements at the beginning, and how many of the others at the end, are the same objects in
  /// another array.
  func commonEnds(with other: [Element]) -> (first: Int, last: Int) {
    let shorter = Swift.min(count, other.count)
    return withUnsafeBufferPointer { mine in
      other.withUnsafeBufferPointer { theirs in
        mine.withMemoryRebound(to: ObjectIdentifier.self) { mine in
          theirs.withMemoryRebound(to: ObjectIdentifier.self) { theirs in
            var first = 0
            while first < shorter, mine[first] == theirs[first] { first += 1 }
            var last = 0
            while last < shorter - first, mine[mine.count - 1 - last] == theirs[theirs.count - 1 - last] {
              last += 1
            }
            return (first, last)
          }
        }
      }
    }
  }

  /// Whether a closure returns true for any element.
  @inline(__always)
  func containsUnretained(_ predicate: (Element) throws -> Bool) rethrows -> Bool {
    try !allSatisfyUnretained { try !predicate($0) }
  }
}
