/// The objects of a context that have unsaved changes of its own.
struct UnsavedObjects {
  /// In the order in which they were first changed. Some may have lost their flags since; filter before use.
  var objects: [NSManagedObject] = []
  /// True once anything was deleted since the last save.
  var hasDeletions = false
  /// True once anything was inserted since the last save.
  var hasInsertions = false
  /// The number of objects at which the context looks for some that it need not keep; see `letGoOfVanished()`.
  var mostBeforeLettingGo = mostVanished
  /// How many objects that others have deleted a context keeps until its next save, at least.
  static let mostVanished = 256
  /// The objects by attribute value.
  var index = PendingIndex()

  /// Empties the list, after a save, a rollback or a reset.
  ///
  /// - Returns: The objects that were listed.
  @discardableResult
  mutating func drain() -> [NSManagedObject] {
    let drained = objects
    objects = []
    hasDeletions = false
    hasInsertions = false
    mostBeforeLettingGo = Self.mostVanished
    index.clear()
    return drained
  }
}
