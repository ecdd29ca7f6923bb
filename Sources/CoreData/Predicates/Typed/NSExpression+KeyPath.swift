extension NSExpression {
  /// Makes an expression with the value at a key path. One from a class of managed objects is read on a
  /// stand-in, so that its accessors may be computed; of any other root the names of its stored properties
  /// count.
  ///
  /// Traps for a key path that stands for no property of a model in use, and for one of another root that
  /// goes through what has no name.
  ///
  /// ```swift
  /// let pages = NSExpression(forKeyPath: \Book.pages)
  /// ```
  public convenience init<Root, Value>(forKeyPath keyPath: KeyPath<Root, Value>) {
    do {
      if !(Root.self is NSManagedObject.Type) {
        self.init(tree: .keyPath(try StoredKeyPath.names(of: keyPath)))
        return
      }
      self.init(tree: .keyPath(try KeyRecorder.path(of: keyPath)))
    } catch {
      programmerError("NSInvalidArgumentException: \(error)")
    }
  }
}
