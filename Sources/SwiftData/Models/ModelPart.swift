import CoreData

/// As ``_ModelValues``, for a class that inherits from a model: its part of an instance. Not meant to be used directly.
public struct _ModelPart<Model: PersistentModel>: _ModelAccess {
  public let _storage: _ModelStorage

  /// Values of a new instance, or those of the storage that it is made for.
  public init() {
    _storage =
      StorageBeingShown.consume(Model.self, isTopmost: false) ?? _ModelStorage(ModelClass.of(Model.self))
  }

  private init(_ storage: _ModelStorage) { _storage = storage }

  /// The part of an instance that shows backing data.
  public init(sharing backingData: any BackingData<Model.Root>) {
    guard let storage = backingData.modelStorage else {
      programmerError(
        "a subclass of a model takes backing data of SwiftData's own, not a \(type(of: backingData)).")
    }
    _storage = storage
  }

  /// What stands for this part when the part of the superclass has taken over its values; nil if both are one already.
  public func joined(to whole: any BackingData<Model.Root>) -> _ModelPart<Model>? {
    guard let other = whole.modelStorage, other !== _storage else { return nil }
    other.become(_storage.modelClass)
    other.adoptValues(from: _storage)
    return _ModelPart(other)
  }

  public func _index(_ index: Int, _ keyPath: AnyKeyPath) -> Int { _storage.modelClass.index(of: keyPath) }

  public static var _usesIndexes: Bool { false }

  /// The value of a property that is a constant.
  public var constants: any BackingData<Model> { ModelBackingData<Model>(_storage) }
}
