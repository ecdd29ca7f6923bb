extension NSExpression {
  /// Creates an expression for the value at a key path. A key path from a class of managed objects is
  /// evaluated on a placeholder object, so that its accessors may be computed; for any other root, the names
  /// of stored properties are used.
  ///
  /// Traps for a key path that matches no property of a model in use, and for one of another root that passes
  /// through a component without a name.
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
