/// The module's own backing data: wraps the storage shared by the parts of one model.
@usableFromInline struct ModelBackingData<Model: PersistentModel>: BackingData {
  @usableFromInline let storage: _ModelStorage
  /// What keeps the values readable: the instance with the storage, which refers to it weakly, or for an instance that
  /// is being created its context's link.
  @usableFromInline let _anchor: AnyObject?

  @usableFromInline init(for modelType: Model.Type) {
    let modelClass = ModelClass.of(modelType)
    let isTopmost = modelClass.superclass == nil
    self.init(StorageBeingShown.consume(modelType, isTopmost: isTopmost) ?? ModelStorage(modelClass))
  }

  @inlinable init(_ storage: _ModelStorage, keeping instance: AnyObject? = nil) {
    self.storage = storage
    _anchor = instance ?? storage._anchor
  }

  @usableFromInline var _storage: _ModelStorage? { storage }

  @usableFromInline var metadata: Any {
    get { storage.metadata as Any }
    nonmutating set { storage.metadata = newValue }
  }

  @usableFromInline var persistentModelID: PersistentIdentifier? {
    get { storage.identifier }
    nonmutating set { if let newValue { storage.setIdentifier(newValue) } }
  }

  @usableFromInline func getValue<Value>(forKey: KeyPath<Model, Value>) -> Value where Value: Decodable {
    storage.value(forKey)
  }

  @usableFromInline func getValue<Value>(forKey: KeyPath<Model, Value>) -> Value
  where Value: PersistentModel {
    storage.value(forKey)
  }

  @usableFromInline func getValue<Value>(forKey: KeyPath<Model, Value?>) -> Value?
  where Value: PersistentModel {
    storage.value(forKey)
  }

  @usableFromInline func getValue<Value, OtherModel>(forKey: KeyPath<Model, Value>) -> Value
  where Value: RelationshipCollection, OtherModel == Value.PersistentElement { storage.value(forKey) }

  @usableFromInline func getValue<Value, OtherModel>(forKey: KeyPath<Model, Value>) -> Value
  where Value: Decodable, Value: RelationshipCollection, OtherModel == Value.PersistentElement {
    storage.value(forKey)
  }

  @usableFromInline func getValue<Value>(forKey: KeyPath<Model, Value>) -> Value
  where Value: PersistentModel & Decodable {
    storage.value(forKey)
  }

  @usableFromInline func getValue<Value>(forKey: KeyPath<Model, Value?>) -> Value?
  where Value: PersistentModel & Decodable {
    storage.value(forKey)
  }

  @usableFromInline func setValue<Value>(forKey: KeyPath<Model, Value>, to newValue: Value)
  where Value: PersistentModel & Encodable { storage.set(forKey, to: newValue) }

  @usableFromInline func setValue<Value>(forKey: KeyPath<Model, Value?>, to newValue: Value?)
  where Value: PersistentModel & Encodable { storage.set(forKey, to: newValue) }

  @usableFromInline func getTransformableValue<Value>(forKey: KeyPath<Model, Value>) -> Value {
    storage.value(forKey)
  }

  @usableFromInline func setValue<Value>(forKey: KeyPath<Model, Value>, to newValue: Value)
  where Value: Encodable {
    storage.set(forKey, to: newValue)
  }

  @usableFromInline func setValue<Value>(forKey: KeyPath<Model, Value>, to newValue: Value)
  where Value: PersistentModel {
    storage.set(forKey, to: newValue)
  }

  @usableFromInline func setValue<Value>(forKey: KeyPath<Model, Value?>, to newValue: Value?)
  where Value: PersistentModel {
    storage.set(forKey, to: newValue)
  }

  @usableFromInline func setValue<Value, OtherModel>(forKey: KeyPath<Model, Value>, to newValue: Value)
  where Value: RelationshipCollection, OtherModel == Value.PersistentElement {
    storage.set(forKey, to: newValue)
  }

  @usableFromInline func setValue<Value, OtherModel>(forKey: KeyPath<Model, Value>, to newValue: Value)
  where Value: Encodable, Value: RelationshipCollection, OtherModel == Value.PersistentElement {
    storage.set(forKey, to: newValue)
  }

  @usableFromInline func setTransformableValue<Value>(forKey: KeyPath<Model, Value>, to newValue: Value) {
    storage.set(forKey, to: newValue)
  }
}
