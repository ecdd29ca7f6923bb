/// A class whose instances are stored; what `@Model` makes of a class.
///
/// An instance belongs to at most one ``ModelContext`` and is used where that context is used: it is not Sendable.
/// Pass ``persistentModelID`` to other contexts. Until it is inserted it holds its values itself.
public protocol PersistentModel: AnyObject, Observable, Hashable, Identifiable, SendableMetatype {
  /// Creates an instance that shows what backing data holds. The macro writes it; contexts call it.
  init(backingData: any BackingData<Self>)

  /// The properties that are stored. The macro writes it.
  static var schemaMetadata: [Schema.PropertyMetadata] { get }

  /// What holds the values. The macro writes it.
  var persistentBackingData: any BackingData<Self> { get set }

  /// The topmost model class that this one inherits from; the class itself where there is none.
  associatedtype Root: PersistentModel = Self

  /// The module's own representation of the values; nil where backing data of another kind holds them. The macro writes it.
  var _modelStorage: _ModelStorage? { get }

  /// Creates the instance that shows a storage. Not meant to be implemented.
  static func _instance(showing storage: _ModelStorage) -> AnyObject
}

extension PersistentModel {
  /// The module's own representation of the values, by way of the backing data.
  public var _modelStorage: _ModelStorage? { persistentBackingData._storage }

  /// Creates the instance that shows a storage.
  @inlinable public static func _instance(showing storage: _ModelStorage) -> AnyObject {
    // Inlined into the class's module, so that no metadata is looked up for each instance.
    Self(backingData: ModelBackingData<Self>(storage))
  }
}

extension PersistentModel {
  /// The identity: temporary until the model is first saved, permanent from then on.
  public var persistentModelID: PersistentIdentifier {
    if let storage = _modelStorage { return storage.identifier }
    return persistentBackingData.persistentModelID
      ?? PersistentIdentifier(temporaryFor: Schema.entityName(for: Self.self))
  }

  /// The identity, unless the class has an `id` of its own.
  public var id: PersistentIdentifier { persistentModelID }

  /// The context that the model belongs to; nil before it is inserted and after its deletion was saved.
  public var modelContext: ModelContext? { _modelStorage?.modelContext }

  /// Whether the model has changes that are not saved; false for one that belongs to no context.
  public var hasChanges: Bool { _modelStorage?.hasChanges ?? false }

  /// Whether the model is deleted and the deletion is not saved yet.
  public var isDeleted: Bool { _modelStorage?.isDeleted ?? false }

  /// Creates what holds the values of a new instance. Called by what the macro writes.
  public static func createBackingData<P>() -> some BackingData<P> where P: PersistentModel {
    ModelBackingData<P>(for: P.self)
  }

  /// Whether both have the same identity.
  public static func == (lhs: Self, rhs: Self) -> Bool {
    lhs === rhs || lhs.persistentModelID == rhs.persistentModelID
  }

  /// Hashes the identity, which changes with the first save.
  public func hash(into hasher: inout Hasher) { hasher.combine(persistentModelID) }
}
