/// What holds the values of a model: the context's, or before insertion the model's own.
///
/// Used where the model is used. The values are read and written by key path; each kind of property has a form of
/// its own, so that a property whose type can't be stored doesn't compile.
public protocol BackingData<Model> {
  /// The class whose instances show the values.
  associatedtype Model: PersistentModel

  /// Creates backing data without values for a new instance.
  init(for modelType: Model.Type)

  /// Whatever the owner of the backing data keeps with it.
  var metadata: Any { get set }

  /// The identity of the model; nil while it has none.
  var persistentModelID: PersistentIdentifier? { get set }

  /// The value of an attribute.
  func getValue<Value>(forKey: KeyPath<Model, Value>) -> Value where Value: Decodable
  /// The model at the other end of a required to-one relationship.
  func getValue<Value>(forKey: KeyPath<Model, Value>) -> Value where Value: PersistentModel
  /// The model at the other end of a to-one relationship.
  func getValue<Value>(forKey: KeyPath<Model, Value?>) -> Value? where Value: PersistentModel
  /// The model at the other end of a required to-one relationship whose class is Codable.
  func getValue<Value>(forKey: KeyPath<Model, Value>) -> Value where Value: PersistentModel & Decodable
  /// The model at the other end of a to-one relationship whose class is Codable.
  func getValue<Value>(forKey: KeyPath<Model, Value?>) -> Value? where Value: PersistentModel & Decodable
  /// The models of a to-many relationship.
  func getValue<Value, OtherModel>(forKey: KeyPath<Model, Value>) -> Value
  where Value: RelationshipCollection, OtherModel == Value.PersistentElement
  /// The models of a to-many relationship whose class is Codable.
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
  /// Sets a required to-one relationship to a class that is Codable.
  func setValue<Value>(forKey: KeyPath<Model, Value>, to newValue: Value)
  where Value: PersistentModel & Encodable
  /// Sets a to-one relationship to a class that is Codable.
  func setValue<Value>(forKey: KeyPath<Model, Value?>, to newValue: Value?)
  where Value: PersistentModel & Encodable
  /// Replaces the models of a to-many relationship.
  func setValue<Value, OtherModel>(forKey: KeyPath<Model, Value>, to newValue: Value)
  where Value: RelationshipCollection, OtherModel == Value.PersistentElement
  /// Replaces the models of a to-many relationship whose class is Codable.
  func setValue<Value, OtherModel>(forKey: KeyPath<Model, Value>, to newValue: Value)
  where Value: Encodable, Value: RelationshipCollection, OtherModel == Value.PersistentElement
  /// Sets a transformable attribute.
  func setTransformableValue<Value>(forKey: KeyPath<Model, Value>, to newValue: Value)

  /// The module's own representation; nil for backing data of another kind.
  var _storage: _ModelStorage? { get }
}

extension BackingData {
  /// Nil: only the module's own backing data has its representation.
  public var _storage: _ModelStorage? { nil }

  /// The module's own representation.
  var modelStorage: ModelStorage? { _storage }
}
