/// Backing data of the module's own kind: a face on the storage that the parts of one model share.
struct ModelBackingData<Model: PersistentModel>: BackingData {
  let storage: ModelStorage
  /// The instance that shows the storage, which refers to it without keeping it.
  private let _instance: AnyObject?

  init(for modelType: Model.Type) {
    let modelClass = ModelClass.of(modelType)
    let isTopmost = modelClass.superclass == nil
    self.init(StorageBeingShown.take(modelClass, isTopmost: isTopmost) ?? ModelStorage(modelClass))
  }

  init(_ storage: ModelStorage, keeping instance: AnyObject? = nil) {
    self.storage = storage
    _instance = instance
  }

  var _storage: _ModelStorage? { storage }

  var metadata: Any {
    get { storage.metadata as Any }
    nonmutating set { storage.metadata = newValue }
  }

  var persistentModelID: PersistentIdentifier? {
    get { storage.identifier }
    nonmutating set { if let newValue { storage.setIdentifier(newValue) } }
  }

  func getValue<Value>(forKey: KeyPath<Model, Value>) -> Value where Value: Decodable {
    storage.value(forKey)
  }

  func getValue<Value>(forKey: KeyPath<Model, Value>) -> Value where Value: PersistentModel {
    storage.value(forKey)
  }

  func getValue<Value>(forKey: KeyPath<Model, Value?>) -> Value? where Value: PersistentModel {
    storage.value(forKey)
  }

  func getValue<Value, OtherModel>(forKey: KeyPath<Model, Value>) -> Value
  where Value: RelationshipCollection, OtherModel == Value.PersistentElement { storage.value(forKey) }

  func getValue<Value, OtherModel>(forKey: KeyPath<Model, Value>) -> Value
  where Value: Decodable, Value: RelationshipCollection, OtherModel == Value.PersistentElement {
    storage.value(forKey)
  }

  func getValue<Value>(forKey: KeyPath<Model, Value>) -> Value where Value: PersistentModel & Decodable {
    storage.value(forKey)
  }

  func getValue<Value>(forKey: KeyPath<Model, Value?>) -> Value? where Value: PersistentModel & Decodable {
    storage.value(forKey)
  }

  func setValue<Value>(forKey: KeyPath<Model, Value>, to newValue: Value)
  where Value: PersistentModel & Encodable { storage.set(forKey, to: newValue) }

  func setValue<Value>(forKey: KeyPath<Model, Value?>, to newValue: Value?)
  where Value: PersistentModel & Encodable { storage.set(forKey, to: newValue) }

  func getTransformableValue<Value>(forKey: KeyPath<Model, Value>) -> Value { storage.value(forKey) }

  func setValue<Value>(forKey: KeyPath<Model, Value>, to newValue: Value) where Value: Encodable {
    storage.set(forKey, to: newValue)
  }

  func setValue<Value>(forKey: KeyPath<Model, Value>, to newValue: Value) where Value: PersistentModel {
    storage.set(forKey, to: newValue)
  }

  func setValue<Value>(forKey: KeyPath<Model, Value?>, to newValue: Value?) where Value: PersistentModel {
    storage.set(forKey, to: newValue)
  }

  func setValue<Value, OtherModel>(forKey: KeyPath<Model, Value>, to newValue: Value)
  where Value: RelationshipCollection, OtherModel == Value.PersistentElement {
    storage.set(forKey, to: newValue)
  }

  func setValue<Value, OtherModel>(forKey: KeyPath<Model, Value>, to newValue: Value)
  where Value: Encodable, Value: RelationshipCollection, OtherModel == Value.PersistentElement {
    storage.set(forKey, to: newValue)
  }

  func setTransformableValue<Value>(forKey: KeyPath<Model, Value>, to newValue: Value) {
    storage.set(forKey, to: newValue)
  }
}
