import CoreData

/// Like ``_ModelValues``, for a subclass of a model: its part of an instance. Not for direct use.
public struct _ModelPart<Model: PersistentModel>: _ModelAccess {
  public let _storage: _ModelStorage

  /// Creates the part of a new instance, or of the one being created for a storage.
  public init() {
    _storage =
      StorageBeingShown.consume(Model.self, isTopmost: false) ?? _ModelStorage(ModelClass.of(Model.self))
  }

  private init(_ storage: _ModelStorage) { _storage = storage }

  /// Creates the part of an instance with given backing data.
  public init(sharing backingData: any BackingData<Model.Root>) {
    guard let storage = backingData.modelStorage else {
      programmerError(
        "a subclass of a model takes backing data of SwiftData's own, not a \(type(of: backingData)).")
    }
    _storage = storage
  }

  /// Returns the replacement of this part after the superclass's part has adopted its values; nil if both are
  /// one already.
  public func joined(to whole: any BackingData<Model.Root>) -> _ModelPart<Model>? {
    guard let other = whole.modelStorage, other !== _storage else { return nil }
    other.become(_storage.modelClass)
    other.adoptValues(from: _storage)
    return _ModelPart(other)
  }

  public func _index(_ index: Int, _ keyPath: AnyKeyPath) -> Int { _storage.modelClass.index(of: keyPath) }

  public static var _usesIndexes: Bool { false }

  /// The values of constant properties.
  public var constants: any BackingData<Model> { ModelBackingData<Model>(_storage) }
}
