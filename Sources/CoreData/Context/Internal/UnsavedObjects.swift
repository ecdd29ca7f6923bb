/// The objects of a context that have unsaved changes of its own.
struct UnsavedObjects {
  /// In the order in which they were first changed. Some may have lost their flags since; filter before use.
  var objects: [NSManagedObject] = []
  /// True once anything was deleted since the last save.
  var hasDeletions = false
  /// True once anything was inserted since the last save.
  var hasInsertions = false
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
    index.clear()
    return drained
  }
}
