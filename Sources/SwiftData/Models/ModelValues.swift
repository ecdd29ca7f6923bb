import CoreData

/// What the properties of a model class are read from and written to by the accessors that `@Model` writes: the model's
/// storage. Not meant to be used directly.
///
/// Used where the model is used. Each form of property has methods of its own, so that a property whose type can't be
/// stored doesn't compile. `index` is the property's place among those of the class, -1 where the macro can't tell; the
/// key path is evaluated only if it is needed.
public struct _ModelValues<Model: PersistentModel>: _ModelAccess {
  public let _storage: _ModelStorage

  /// Values of a new instance, or those of the storage that it is made for.
  public init() {
    _storage =
      StorageBeingShown.consume(Model.self, isTopmost: true) ?? _ModelStorage(ModelClass.of(Model.self))
  }

  /// Shows what backing data holds.
  public func show(_ backingData: any BackingData<Model>) {
    if let storage = backingData.modelStorage {
      _storage.show(storage)
    } else {
      _storage.show(foreign: backingData)
    }
  }

  /// The backing data of the instance, which keep it alive: its storage refers to it.
  public func shown(by model: Model) -> any BackingData<Model> {
    if let foreign = _foreign { return foreign }
    return ModelBackingData<Model>(_storage, keeping: model)
  }

  /// The storage; nil where backing data of another kind holds the values.
  public var storageOfModule: _ModelStorage? { _storage.flags.contains(.foreign) ? nil : _storage }

  /// Who observes the instance. For client code that tells of properties itself.
  public var observationRegistrar: _ModelObservationRegistrar { _ModelObservationRegistrar(_storage) }

  public func _index(_ index: Int, _ keyPath: AnyKeyPath) -> Int {
    index >= 0 ? index : _storage.modelClass.index(of: keyPath)
  }

  public static var _usesIndexes: Bool { true }
}
