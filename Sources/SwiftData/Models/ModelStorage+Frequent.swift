import CoreData

// The properties of frequent types, without generic code: the generated accessors call these.

extension _ModelStorage {
  /// Initializes a property of a frequent type; false if the model is inserted, or has backing data of another kind.
  @inline(__always) final func beginIfNew(_ index: Int, _ value: DetachedValue) -> Bool {
    if isBound || foreign != nil { return false }
    begin(index, value)
    return true
  }

  // MARK: No value

  /// Initializes an optional property or a to-many relationship without a value.
  public final func _beginNone(_ index: Int) -> Bool {
    if isBound || foreign != nil { return false }
    if index < detachedCount { begin(index, .none) }
    return true
  }

  // MARK: Relationships

  /// Sets a to-one relationship to a model of the same context, or to nil; false if either belongs to no
  /// context.
  public final func _setTarget(_ target: _ModelStorage?, _ index: Int) -> Bool {
    guard let target else { return changeObject(index) { $0.setTarget(nil, at: $1) } }
    guard let object = target.object, target.link === link, link?.context != nil else { return false }
    return changeObject(index) { $0.setTarget(object, at: $1) }
  }

  /// The model at the other end; nil if the model isn't inserted.
  public final func _modelIfAny(_ index: Int) -> AnyObject?? {
    withObject(index) { $0.target(at: $1).map { related($0) } }
  }

  /// The models at the other end; nil if the model isn't inserted.
  public final func _models(_ index: Int) -> [AnyObject]? {
    withObject(index) { $0.memberList(at: $1).map { related($0) } }
  }

  /// Whether the instance is being created for a stored model, so that initial values don't count.
  @inlinable public final var _isBeingShown: Bool { flags.rawValue & Flags.beingShown.rawValue != 0 }

  // MARK: Without context

  /// Sets the instance that has this storage, for its observers.
  final func introduce(_ model: AnyObject) { if !hasInstance { setInstance(model) } }
}
