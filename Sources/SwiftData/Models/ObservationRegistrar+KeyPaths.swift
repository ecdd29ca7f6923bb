import Observation

// Models and key paths of types that are known at run time only.

extension ObservationRegistrar {
  /// Records that a property of a model is read.
  func access(_ instance: AnyObject, at keyPath: AnyKeyPath) {
    func open<Model: PersistentModel>(_ model: Model) {
      if let path = keyPath as? PartialKeyPath<Model> { _access(model, at: path) }
    }
    if let model = instance as? any PersistentModel { open(model) }
  }

  private func _access<Model: PersistentModel>(_ model: Model, at keyPath: PartialKeyPath<Model>) {
    func open<Value>(_ type: Value.Type) {
      if let path = keyPath as? KeyPath<Model, Value> { access(model, keyPath: path) }
    }
    _openExistential(type(of: keyPath).valueType, do: open)
  }

  /// Notifies the observers of a model's property that it has changed.
  func tellChange(of instance: AnyObject, at keyPath: AnyKeyPath) {
    func open<Model: PersistentModel>(_ model: Model) {
      func tell<Value>(_ type: Value.Type) {
        guard let path = keyPath as? KeyPath<Model, Value> else { return }
        willSet(model, keyPath: path)
        didSet(model, keyPath: path)
      }
      _openExistential(type(of: keyPath).valueType, do: tell)
    }
    if let model = instance as? any PersistentModel { open(model) }
  }
}
