// Going through arrays of references without counting each. A pass over what is saved does little with an
// object, and counting it up and down (an atomic operation each) would cost more than that; the array holds
// what is gone through.

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

  /// Whether a closure says yes to every element.
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

  /// Whether a closure says yes to any element.
  @inline(__always)
  func anyHeld(_ predicate: (Element) throws -> Bool) rethrows -> Bool {
    try !allHeld { try !predicate($0) }
  }
}
