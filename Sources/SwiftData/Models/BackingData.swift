/// The storage of a model's values: in the context, or before insertion in the model itself.
///
/// Used where the model is used. Values are read and written by key path; each kind of property has methods
/// of its own, so that a property of an unsupported type doesn't compile.
public protocol BackingData<Model> {
  /// The model class.
  associatedtype Model: PersistentModel

  /// Creates empty backing data for a new instance.
  init(for modelType: Model.Type)

  /// Arbitrary data of the backing data's owner.
  var metadata: Any { get set }

  /// The identity of the model; nil without one.
  var persistentModelID: PersistentIdentifier? { get set }

  /// The value of an attribute.
  func getValue<Value>(forKey: KeyPath<Model, Value>) -> Value where Value: Decodable
  /// The destination of a required to-one relationship.
  func getValue<Value>(forKey: KeyPath<Model, Value>) -> Value where Value: PersistentModel
  /// The destination of a to-one relationship.
  func getValue<Value>(forKey: KeyPath<Model, Value?>) -> Value? where Value: PersistentModel
  /// The destination of a required to-one relationship to a Codable class.
  func getValue<Value>(forKey: KeyPath<Model, Value>) -> Value where Value: PersistentModel & Decodable
  /// The destination of a to-one relationship to a Codable class.
  func getValue<Value>(forKey: KeyPath<Model, Value?>) -> Value? where Value: PersistentModel & Decodable
  /// The models of a to-many relationship.
  func getValue<Value, OtherModel>(forKey: KeyPath<Model, Value>) -> Value
  where Value: RelationshipCollection, OtherModel == Value.PersistentElement
  /// The models of a to-many relationship to a Codable class.
  func getValue<Value, OtherModel>(forKey: KeyPath<Model, Value>) -> Value
  where Value: Decodable, Value: RelationshipCollection, OtherModel == Value.PersistentElement
  /// The value of a transformable attribute.
  func getTransformableValue<Value>(forKey: KeyPath<Model, Value>) -> Value

  /// Sets an attribute.
  func setValue<Value>(forKey: KeyPath<Model, Value>, to newValue: Value) where Value: Encodable
  /// Sets a required to-one relationship.
  func setValue<Value>(forKey: KeyPath<Model, Value>, to newValue: Value) where Value: PersistentModel
  /// Sets a to-one relationship.
  func setValue<Value>(forKey: KeyPath<Model, Value?>, to newValue: Value?) where Value: PersistentModel
  /// Sets a required to-one relationship to a Codable class.
  func setValue<Value>(forKey: KeyPath<Model, Value>, to newValue: Value)
  where Value: PersistentModel & Encodable
  /// Sets a to-one relationship to a Codable class.
  func setValue<Value>(forKey: KeyPath<Model, Value?>, to newValue: Value?)
  where Value: PersistentModel & Encodable
  /// Replaces the models of a to-many relationship.
  func setValue<Value, OtherModel>(forKey: KeyPath<Model, Value>, to newValue: Value)
  where Value: RelationshipCollection, OtherModel == Value.PersistentElement
  /// Replaces the models of a to-many relationship to a Codable class.
  func setValue<Value, OtherModel>(forKey: KeyPath<Model, Value>, to newValue: Value)
  where Value: Encodable, Value: RelationshipCollection, OtherModel == Value.PersistentElement
  /// Sets a transformable attribute.
  func setTransformableValue<Value>(forKey: KeyPath<Model, Value>, to newValue: Value)

  /// The module's own storage; nil for other kinds of backing data.
  var _storage: _ModelStorage? { get }
}

extension BackingData {
  /// Nil: only the module's own backing data has this storage.
  public var _storage: _ModelStorage? { nil }

  /// The module's own storage.
  var modelStorage: ModelStorage? { _storage }
}
