import Foundation

/// The storage of the model that a thread is creating.
///
/// `init(backingData:)` first initializes the property for backing data, then assigns the argument. The
/// initial value would be a useless storage; instead, it is this one, which ignores the initial values of the
/// other properties. In an instance of a subclass, the parts consume it one by one, the topmost last.
enum StorageBeingShown {
  private static let _key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key, nil)
    return key
  }()

  /// Creates the instance for a storage.
  @inline(__always) static func showing(_ storage: ModelStorage, _ make: () -> AnyObject) -> AnyObject {
    let key = _key
    pthread_setspecific(key, Unmanaged.passUnretained(storage).toOpaque())
    let model = make()
    // A class whose conformance the macro hasn't written may not have consumed it.
    if pthread_getspecific(key) != nil { pthread_setspecific(key, nil) }
    return model
  }

  /// Returns the storage if it belongs to a class or one of its subclasses.
  ///
  /// - Parameter isTopmost: Whether the class inherits from no model, so that no other part consumes the storage.
  @inline(__always) static func consume<Model: PersistentModel>(
    _ type: Model.Type, isTopmost: Bool
  ) -> ModelStorage? {
    let key = _key
    guard let pointer = pthread_getspecific(key) else { return nil }
    let storage = Unmanaged<ModelStorage>.fromOpaque(pointer).takeUnretainedValue()
    guard storage.modelClass.type == type || storage.modelClass.inherits(from: ModelClass.of(type)) else {
      return nil
    }
    if isTopmost { pthread_setspecific(key, nil) }
    return storage
  }
}
