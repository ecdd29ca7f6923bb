import CoreData

/// What holds the values of one model: an object of the engine's once it is inserted, the values themselves before.
///
/// Used where the model is used. A model whose class inherits from another has one for each class until it is
/// inserted; all of them then show the same object.
final class ModelStorage {
  let modelClass: ModelClass
  /// Values by the property's index, until the model is inserted.
  private var _values: [Any?] = []
  /// The engine's object; nil until the model is inserted.
  private(set) var object: ModelObject?
  /// Read and write the properties in the object, by index.
  private var _accessors: [PropertyAccessor] = []
  /// The context, as long as it lives.
  private(set) var link: ContextLink?
  /// The instance that shows these values.
  weak var model: (any PersistentModel)?
  /// The same instance, kept alive while it has unsaved changes.
  var keptModel: AnyObject?
  /// JSON that was decoded last, by slot.
  var decoded: [Int: (data: Data, value: Any)] = [:]
  /// Whether the instance is being made: initial values, which its properties then get, are not those of a stored model.
  var isBeingShown = false
  /// Whatever the client keeps with the backing data.
  var metadata: Any?
  /// What notes the reads of a model that key paths are followed on, and the path that leads to it.
  var recording: (KeyPathRecording, [String])?
  /// The identity before the first save, or of a model that belongs to no context.
  private var _identifier: PersistentIdentifier?

  init(_ modelClass: ModelClass) { self.modelClass = modelClass }

  deinit { if let object, object.storage === self { object.storage = nil } }

  /// Whether the engine has the values.
  var isBound: Bool { object != nil }

  // MARK: Values

  @inline(__always) func value<Model, Value>(_ keyPath: KeyPath<Model, Value>) -> Value {
    let index = modelClass.index(of: keyPath)
    guard let object else { return _detachedValue(index) }
    return unsafeDowncast(_accessors[index], to: ValueAccessor<Value>.self).value(object, self)
  }

  @inline(__always) func set<Model, Value>(_ keyPath: KeyPath<Model, Value>, to value: Value) {
    let index = modelClass.index(of: keyPath)
    guard let object else { return _setDetached(index, value) }
    if isBeingShown { return }
    link?.context?.willChange(self)
    unsafeDowncast(_accessors[index], to: ValueAccessor<Value>.self).set(value, object, self)
  }

  private func _detachedValue<Value>(_ index: Int) -> Value {
    let accessor = unsafeDowncast(modelClass.accessors[index], to: ValueAccessor<Value>.self)
    if let (recording, path) = recording { return recording.value(of: accessor, at: path) }
    if index < _values.count, let value = _values[index] { return value as! Value }
    return accessor.absent(modelClass.name)
  }

  private func _setDetached(_ index: Int, _ value: Any) {
    if _values.isEmpty { _values = Array(repeating: nil, count: modelClass.accessors.count) }
    _values[index] = .some(value)
  }

  /// The value of a property by index, whatever its type.
  func anyValue(_ index: Int) -> Any? {
    if let object { return _accessors[index].any(object, self) }
    return index < _values.count ? _values[index] : nil
  }

  /// Sets a property by index, to a value of its type.
  func setAny(_ index: Int, to value: Any) {
    guard let object else { return _setDetached(index, value) }
    link?.context?.willChange(self)
    _accessors[index].setAny(value, object, self)
  }

  /// Sets a relationship by index to objects of the same context.
  func setTargets(_ index: Int, to targets: [NSManagedObject]) {
    guard let object else { return }
    let accessor = _accessors[index]
    if accessor.isToMany {
      object.setMemberList(targets, at: accessor.slot)
    } else {
      object.setTarget(targets.first, at: accessor.slot)
    }
  }

  /// Sets a property by index to the value that the model had before it was inserted.
  func fill(_ index: Int, with value: Any) {
    if let object { _accessors[index].fill(value, object, self) }
  }

  /// Takes over the values of a superclass's part, where it has none of its own.
  func take(from other: ModelStorage) {
    for (index, value) in other._values.enumerated() {
      guard let value, let own = modelClass.indexByName[other.modelClass.properties[index].name] else {
        continue
      }
      if own < _values.count, _values[own] != nil { continue }
      _setDetached(own, value)
    }
    if _identifier == nil { _identifier = other._identifier }
    if metadata == nil { metadata = other.metadata }
    if recording == nil { recording = other.recording }
  }

  // MARK: Binding

  /// Has the engine's object hold the values from here on; it has none of them yet.
  ///
  /// - Returns: The values so far, by index.
  @discardableResult
  func bind(to object: ModelObject, _ binding: EntityBinding, _ link: ContextLink) -> [Any?] {
    defer { _values = [] }
    self.object = object
    object.storage = self
    _accessors = binding.accessors(of: modelClass)
    self.link = link
    return _values
  }

  /// The values by index, as a model that belongs to no context has them.
  func values() -> [Any?] {
    guard let object else { return _values }
    return _accessors.map { $0.any(object, self) }
  }

  /// Holds values itself again, as after a rollback of the insertion.
  func unbind(keeping values: [Any?]) {
    if let object, object.storage === self { object.storage = nil }
    object = nil
    _accessors = []
    link = nil
    _values = values
    decoded = [:]
    _identifier = nil
  }

  /// Lets go of the context: the deletion was saved.
  func leaveContext() {
    if let parts = object?.identityParts { _identifier = PersistentIdentifier(parts) }
    link = nil
  }

  // MARK: Identity and state

  var identifier: PersistentIdentifier {
    if let object, let parts = object.identityParts { return PersistentIdentifier(parts) }
    if let _identifier { return _identifier }
    let made = PersistentIdentifier(temporaryFor: modelClass.name)
    _identifier = made
    return made
  }

  func setIdentifier(_ identifier: PersistentIdentifier) { _identifier = identifier }

  /// The temporary identity, whether or not there is a permanent one meanwhile.
  var temporaryIdentifier: PersistentIdentifier? { _identifier.flatMap { $0.isTemporary ? $0 : nil } }

  var modelContext: ModelContext? { link?.context }
  var hasChanges: Bool { link != nil && object?.hasChanges ?? false }
  var isDeleted: Bool { link != nil && object?.isDeleted ?? false }

  // MARK: Related models

  /// The model of an object at the other end.
  @inline(__always) func model<Model: PersistentModel>(of object: NSManagedObject, as type: Model.Type)
    -> Model
  {
    let target = unsafeDowncast(object, to: ModelObject.self)
    guard let known = target.storage?.model ?? link?.model(of: target) else {
      programmerError("a model that left its context leads to one that was never shown.")
    }
    // A relationship leads to objects of its destination's entity, whose class this is.
    return unsafeDowncast(known, to: Model.self)
  }

  /// The engine's object of a model that is to stand at the other end; a new one is inserted.
  func object<Model: PersistentModel>(of model: Model, for property: String) -> NSManagedObject {
    guard let link, let context = link.context else {
      programmerError("'\(modelClass.name).\(property)' can't be changed: the model's context is gone.")
    }
    guard let storage = model.persistentBackingData.modelStorage else {
      programmerError("'\(modelClass.name).\(property)' takes models with backing data of SwiftData's own.")
    }
    if let object = storage.object {
      guard storage.link === link else {
        programmerError(
          "'\(modelClass.name).\(property)' was given a \(Model.self) of another context, or one whose deletion was saved. "
            + "Get this context's own with model(for: other.persistentModelID).")
      }
      return object
    }
    return context.insertRelated(model, storage)
  }
}
