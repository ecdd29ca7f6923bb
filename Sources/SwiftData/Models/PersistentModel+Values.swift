// Access by key path, for the generated accessors.

extension PersistentModel {
  /// The value of an attribute.
  public func getValue<Value>(forKey: KeyPath<Self, Value>) -> Value where Value: Decodable {
    persistentBackingData.getValue(forKey: forKey)
  }

  /// The model at the other end of a required to-one relationship.
  public func getValue<Value>(forKey: KeyPath<Self, Value>) -> Value where Value: PersistentModel {
    persistentBackingData.getValue(forKey: forKey)
  }

  /// The model at the other end of a to-one relationship.
  public func getValue<Value>(forKey: KeyPath<Self, Value?>) -> Value? where Value: PersistentModel {
    persistentBackingData.getValue(forKey: forKey)
  }

  /// The models of a to-many relationship.
  public func getValue<Value, OtherModel>(forKey: KeyPath<Self, Value>) -> Value
  where Value: RelationshipCollection, OtherModel == Value.PersistentElement {
    persistentBackingData.getValue(forKey: forKey)
  }

  /// The models of a to-many relationship whose class is Codable.
  public func getValue<Value, OtherModel>(forKey: KeyPath<Self, Value>) -> Value
  where Value: Decodable, Value: RelationshipCollection, OtherModel == Value.PersistentElement {
    persistentBackingData.getValue(forKey: forKey)
  }

  /// The value of a transformable attribute.
  public func getTransformableValue<Value>(forKey: KeyPath<Self, Value>) -> Value {
    persistentBackingData.getTransformableValue(forKey: forKey)
  }

  // MARK: Writing

  /// Sets an attribute.
  public func setValue<Value>(forKey: KeyPath<Self, Value>, to newValue: Value) where Value: Encodable {
    persistentBackingData.setValue(forKey: forKey, to: newValue)
  }

  /// Sets a required to-one relationship.
  public func setValue<Value>(forKey: KeyPath<Self, Value>, to newValue: Value) where Value: PersistentModel {
    persistentBackingData.setValue(forKey: forKey, to: newValue)
    joinContext(of: CollectionOfOne(newValue))
  }

  /// Sets a to-one relationship.
  public func setValue<Value>(forKey: KeyPath<Self, Value?>, to newValue: Value?)
  where Value: PersistentModel {
    persistentBackingData.setValue(forKey: forKey, to: newValue)
    if let newValue { joinContext(of: CollectionOfOne(newValue)) }
  }

  /// Replaces the models of a to-many relationship.
  public func setValue<Value, OtherModel>(forKey: KeyPath<Self, Value>, to newValue: Value)
  where Value: RelationshipCollection, OtherModel == Value.PersistentElement {
    persistentBackingData.setValue(forKey: forKey, to: newValue)
    joinContext(ofMembers: newValue, OtherModel.self)
  }

  /// Replaces the models of a to-many relationship whose class is Codable.
  public func setValue<Value, OtherModel>(forKey: KeyPath<Self, Value>, to newValue: Value)
  where Value: Encodable, Value: RelationshipCollection, OtherModel == Value.PersistentElement {
    persistentBackingData.setValue(forKey: forKey, to: newValue)
    joinContext(ofMembers: newValue, OtherModel.self)
  }

  /// Sets a transformable attribute.
  public func setTransformableValue<Value>(forKey: KeyPath<Self, Value>, to newValue: Value) {
    persistentBackingData.setTransformableValue(forKey: forKey, to: newValue)
  }

  // MARK: Contexts

  /// Inserts a model that belongs to no context into that of a model it was related to.
  func joinContext(of models: some Sequence<some PersistentModel>) {
    guard let storage = _modelStorage, !storage.isBound else { return }
    for model in models {
      if let context = model.modelContext { return context.insert(self) }
    }
  }

  /// The same for the members of a to-many relationship.
  func joinContext<Members, Member: PersistentModel>(ofMembers members: Members, _ type: Member.Type) {
    guard let storage = _modelStorage, !storage.isBound else { return }
    if let members = members as? [Member] { joinContext(of: members) }
  }
}
