import Foundation

/// The storage of the model that a thread is making.
///
/// `init(backingData:)` first gives the property for backing data its initial value, and then what it was called with.
/// That initial value would be a storage for nothing; it is this one instead, and ignores the initial values of the other
/// properties. The parts of an instance whose class inherits from another consume it one by one, the topmost last.
enum StorageBeingShown {
  private static let _key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key, nil)
    return key
  }()

  /// Makes the instance that shows a storage.
  @inline(__always) static func showing(_ storage: ModelStorage, _ make: () -> AnyObject) -> AnyObject {
    let key = _key
    pthread_setspecific(key, Unmanaged.passUnretained(storage).toOpaque())
    let model = make()
    // Classes whose conformance the macro hasn't written may have left it.
    if pthread_getspecific(key) != nil { pthread_setspecific(key, nil) }
    return model
  }

  /// The storage if it is one of a class or of its subclasses.
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
