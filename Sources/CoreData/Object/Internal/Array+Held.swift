// Iterates arrays of references without reference counting. Passes over saved objects do so little per object
// that an atomic retain and release would dominate. The array keeps its elements alive.

extension Array where Element: AnyObject {
  /// Calls a closure with each element.
  @inline(__always)
  func forEachHeld(_ body: (Element) throws -> Void) rethrows {
    try withUnsafeBufferPointer { elements in
      for index in elements.indices {
        try Unmanaged.passUnretained(elements[index])._withUnsafeGuaranteedRef(body)
      }
    }
  }

  /// Whether a closure returns true for every element.
  @inline(__always)
  func allHeld(_ predicate: (Element) throws -> Bool) rethrows -> Bool {
    try withUnsafeBufferPointer { elements in
      for index in elements.indices
      where try !Unmanaged.passUnretained(elements[index])._withUnsafeGuaranteedRef(predicate) {
        return false
      }
      return true
    }
  }

  /// Whether a closure returns true for any element.
  @inline(__always)
  func anyHeld(_ predicate: (Element) throws -> Bool) rethrows -> Bool {
    try !allHeld { try !predicate($0) }
  }
}
