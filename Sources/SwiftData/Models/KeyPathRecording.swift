/// Finds the properties along a key path by evaluating it on a model without a row that records its reads.
///
/// For key paths other than those of the class's own accessors: through relationships, a protocol, a
/// subclass, or into a structure.
final class KeyPathRecording {
  /// The reads, in order.
  private var _noted: [(path: [String], placeholder: Any, accessor: PropertyAccessor)] = []
  private var _path: [String] = []
  private var _number = 0

  /// The reason why a key path matches no stored property.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// Returns the names of the properties, and of the elements of composites.
  static func path(of keyPath: AnyKeyPath, from modelClass: ModelClass) throws -> [String] {
    let recording = KeyPathRecording()
    func follow<Model: PersistentModel>(_ type: Model.Type) -> Any? {
      let root = recording.placeholder(type)
      recording._noted = []
      return _read(keyPath, root)
    }
    let value = follow(modelClass.type)
    return try recording._result(keyPath, value)
  }

  private static func _read<Root>(_ keyPath: AnyKeyPath, _ root: Root) -> Any? {
    if let partial = keyPath as? PartialKeyPath<Root> { return root[keyPath: partial] }
    return (root as Any)[keyPath: keyPath]
  }

  private func _result(_ keyPath: AnyKeyPath, _ value: Any?) throws -> [String] {
    guard let last = _noted.last else {
      throw Failure(description: "the key path \(keyPath) reads no stored property")
    }
    var expected: [String] = []
    for note in _noted {
      guard note.path.starts(with: expected) else {
        throw Failure(
          description:
            "the key path \(keyPath) reads both '\(expected.joined(separator: "."))' and "
            + "'\(note.path.joined(separator: "."))'")
      }
      expected = note.path
    }
    guard let found = flattened(value), let placeholder = flattened(last.placeholder) else { return expected }
    if type(of: found) == type(of: placeholder) {
      if let left = found as? AnyHashable, let right = placeholder as? AnyHashable, left != right {
        throw Failure(
          description:
            "the key path \(keyPath) computes something from '\(expected.joined(separator: "."))' instead of answering it"
        )
      }
      return expected + last.accessor.valuePath
    }
    if let stored = last.accessor.storedPlaceholder(last.placeholder),
      let part = Self._part(found, of: stored)
    {
      return expected + part
    }
    throw Failure(
      description: "the key path \(keyPath) computes something from '\(expected.joined(separator: "."))'")
  }

  /// Returns the names that lead to a value inside the elements of a composite.
  private static func _part(_ value: Any, of stored: Any) -> [String]? {
    guard let elements = stored as? [String: Any],
      let wanted = (value as? any BasicValue)?.stored as? AnyHashable
    else { return nil }
    for (name, element) in elements.sorted(by: { $0.key < $1.key }) {
      if element as? AnyHashable == wanted { return [name] }
      if let part = _part(value, of: element) { return [name] + part }
    }
    return nil
  }

  // MARK: Placeholders

  /// Returns a model that records its reads.
  func placeholder<Model: PersistentModel>(_ type: Model.Type) -> Model {
    let storage = ModelStorage(ModelClass.of(type))
    storage.recording = (self, _path)
    let model = unsafeDowncast(
      StorageBeingShown.showing(storage) { Model._instance(showing: storage) }, to: Model.self)
    _standIns.append(model)
    return model
  }

  /// Retains placeholders while the key path is evaluated.
  private var _standIns: [AnyObject] = []

  /// Records the read of a property and returns a placeholder value.
  func value<Value>(of accessor: ValueAccessor<Value>, at path: [String]) -> Value {
    _path = path + [accessor.name]
    guard let placeholder = accessor.placeholder(&_number, self) else {
      programmerError(
        "a key path can't be followed through '\(accessor.name)', a \(Value.self). Use the property's own key path."
      )
    }
    _noted.append((_path, placeholder, accessor))
    return placeholder
  }
}
