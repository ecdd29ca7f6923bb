import CoreDataModelSchema

// Key-value coding looks for accessor methods rather than for properties, and so finds some properties under
// other keys than their names.

extension PropertyLayout {
  /// Slot of the property whose setter a key leads to: `setDate(_:)`, which both `date` and `Date` lead to.
  func slot(setBy key: String) -> Int? {
    guard let first = key.first, first.isUppercase else { return nil }
    return slot(named: first.lowercased() + key.dropFirst())
  }

  /// Slot of the property whose getter a key leads to: `getSize` and `isOpen`, by the keys `size` and `open`.
  func slot(readBy key: String) -> Int? {
    guard let first = key.first else { return nil }
    let capitalized = first.uppercased() + key.dropFirst()
    return slot(named: "get" + capitalized) ?? slot(named: "is" + capitalized)
  }
}
