import Foundation

/// A form for the `userInfo` of notifications that have the same keys each time.
///
/// A copy gets its values by position: hashing boxed keys and growing a new dictionary takes three times as many
/// instructions as a post without observers.
struct UserInfoForm: @unchecked Sendable {
  // Unchecked: immutable, as are the placeholders in the dictionary.

  /// A dictionary with the keys.
  let blank: [AnyHashable: Any]
  /// Where the values of the keys are. In a copy they are at the same indices, until a key is added.
  private let _places: [Dictionary<AnyHashable, Any>.Index]

  /// Creates a form with some keys, in the order of their positions.
  ///
  /// - Parameter reserve: How many keys may be added to a copy without moving the others.
  init(_ keys: [String], reserve: Int = 0) {
    var blank = [AnyHashable: Any](minimumCapacity: keys.count + reserve)
    for key in keys { blank[key] = 0 }
    _places = keys.map { blank.index(forKey: $0)! }
    self.blank = blank
  }

  /// Sets the value of the key at a position in a copy of `blank`.
  @inline(__always)
  func set(_ value: Any, at position: Int, in userInfo: inout [AnyHashable: Any]) {
    userInfo.values[_places[position]] = value
  }
}
