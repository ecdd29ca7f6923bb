import Synchronization

/// Limits the number of long responses: exports, and pages that follow the store.
final class Places: Sendable {
  /// The limit is reached.
  struct Full: Error, CustomStringConvertible {
    let description: String
  }

  private let _free: Mutex<Int>
  private let _refusal: String

  /// - Parameter refusal: The message for a rejected client.
  init(_ count: Int, refusal: String) {
    _free = Mutex(count)
    _refusal = refusal
  }

  /// One of the places, released with its last reference.
  final class Place: Sendable {
    private let _places: Places

    fileprivate init(_ places: Places) { _places = places }

    deinit { _places._free.withLock { $0 += 1 } }
  }

  /// Acquires a place.
  ///
  /// - Throws: `Full`.
  func acquire() throws -> Place {
    let isFree = _free.withLock { free in
      guard free > 0 else { return false }
      free -= 1
      return true
    }
    guard isFree else { throw Full(description: _refusal) }
    return Place(self)
  }
}
