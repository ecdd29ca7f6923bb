import Foundation

/// The storage of the model that a thread is making.
///
/// `init(backingData:)` first gives the property for backing data its initial value, and then what it was called with.
/// That initial value would be a storage for nothing; it is this one instead, and ignores the initial values of the other
/// properties.
enum StorageBeingShown {
  private static let _key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key, nil)
    return key
  }()

  /// Notes the storage; it has to live until ``clear()``.
  @inline(__always) static func set(_ storage: ModelStorage) {
    pthread_setspecific(_key, Unmanaged.passUnretained(storage).toOpaque())
  }

  @inline(__always) static func clear() { pthread_setspecific(_key, nil) }

  /// The storage if it is one of a class; once.
  @inline(__always) static func take(_ modelClass: ModelClass) -> ModelStorage? {
    guard let pointer = pthread_getspecific(_key) else { return nil }
    let storage = Unmanaged<ModelStorage>.fromOpaque(pointer).takeUnretainedValue()
    guard storage.modelClass === modelClass else { return nil }
    pthread_setspecific(_key, nil)
    return storage
  }
}
