import CoreData

/// Reads and writes the properties of a model class for the accessors that `@Model` generates: the model's
/// storage. Not for direct use.
///
/// Used where the model is used. Each kind of property has methods of its own, so that a property of an
/// unsupported type doesn't compile. `index` is the property's index among those of the class, -1 if the
/// macro doesn't know it; the key path is evaluated only if necessary.
public struct _ModelValues<Model: PersistentModel>: _ModelAccess {
  public let _storage: _ModelStorage
  /// Retains the context's objects for an instance that shows one of them.
  private let _link: ContextLink?

  /// Creates the values of a new instance, or of the one being created for a storage.
  public init() {
    let shown = StorageBeingShown.consume(Model.self, isTopmost: true)
    _storage = shown ?? _ModelStorage(ModelClass.of(Model.self))
    _link = shown?.link
  }

  /// Adopts the values of backing data.
  public func show(_ backingData: any BackingData<Model>) {
    if let storage = backingData.modelStorage {
      _storage.show(storage)
    } else {
      _storage.show(foreign: backingData)
    }
  }

  /// The backing data of the instance, which retain it, since its storage refers to it weakly.
  public func shown(by model: Model) -> any BackingData<Model> {
    if let foreign = _foreign { return foreign }
    return ModelBackingData<Model>(_storage, keeping: model)
  }

  /// The storage; nil if the values are in backing data of another kind.
  public var storageOfModule: _ModelStorage? { _storage.flags.contains(.foreign) ? nil : _storage }

  /// Observation of the instance, for client code that reports properties itself.
  public var observationRegistrar: _ModelObservationRegistrar { _ModelObservationRegistrar(_storage) }

  public func _index(_ index: Int, _ keyPath: AnyKeyPath) -> Int {
    index >= 0 ? index : _storage.modelClass.index(of: keyPath)
  }

  public static var _usesIndexes: Bool { true }
}
