import Synchronization

/// Counts the temporary IDs, of all contexts, that have become permanent, so that an index by identity
/// notices cheaply when it lacks some.
///
/// Another thread links an ID while an index is read. The count therefore goes up before an ID is linked: a
/// thread that has seen the permanent ID finds the count changed.
package enum LinkedIDs {
  private static let _begun = Atomic<Int>(0)
  private static let _done = Atomic<Int>(0)

  /// Runs the step that makes one permanent ID visible to other threads.
  static func link(_ step: () -> Void) {
    _begun.wrappingAdd(1, ordering: .relaxed)
    step()
    _done.wrappingAdd(1, ordering: .releasing)
  }

  /// The number of IDs that have become permanent; nil while one does.
  static var count: Int? {
    let done = _done.load(ordering: .acquiring)
    return done == _begun.load(ordering: .acquiring) ? done : nil
  }

  /// How far an index has followed the links.
  struct Mark {
    private var _count = 0

    /// Moves the mark to the present. Costs one atomic load as long as no ID was linked anywhere.
    ///
    /// - Returns: Whether the index must look at all its temporary IDs before it is read.
    @inline(__always)
    mutating func advance() -> Bool {
      let done = LinkedIDs._done.load(ordering: .acquiring)
      let begun = LinkedIDs._begun.load(ordering: .acquiring)
      if begun == _count { return false }
      // As long as a link is under way, the index looks again each time.
      if done == begun { _count = begun }
      return true
    }

    /// Moves the mark past links that the owner of the index has made itself and followed, unless there were
    /// others.
    mutating func skip(_ count: Int) {
      let done = LinkedIDs._done.load(ordering: .acquiring)
      let begun = LinkedIDs._begun.load(ordering: .acquiring)
      if done == begun, begun == _count + count { _count = begun }
    }
  }
}
