import CoreDataModelSchema

// Key-value coding looks for accessor methods instead of properties, so some properties have keys that differ
// from their names.

extension PropertyLayout {
  /// The slot whose setter matches a key: `date` and `Date` both match `setDate(_:)`.
  func slot(setBy key: String) -> Int? {
    guard let first = key.first, first.isUppercase else { return nil }
    return slot(named: first.lowercased() + key.dropFirst())
  }

  /// The slot whose getter matches a key: `size` matches `getSize`, `open` matches `isOpen`.
  func slot(readBy key: String) -> Int? {
    guard let first = key.first else { return nil }
    let capitalized = first.uppercased() + key.dropFirst()
    return slot(named: "get" + capitalized) ?? slot(named: "is" + capitalized)
  }
}
