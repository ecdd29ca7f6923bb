import CoreData

/// Finds the accessor of a property.
enum PropertyAccessors {
  /// The accessor of a property by its type; nil for a type that can't be stored.
  static func accessor(_ metadata: Schema.PropertyMetadata, of model: String) -> PropertyAccessor? {
    func open<Value>(_ type: Value.Type) -> PropertyAccessor? { _accessor(type, metadata, of: model) }
    let accessor = _openExistential(type(of: metadata.keypath).valueType, do: open)
    accessor?.declare(metadata.defaultValue)
    return accessor
  }

  private static func _accessor<Value>(
    _ type: Value.Type, _ metadata: Schema.PropertyMetadata, of model: String
  ) -> PropertyAccessor? {
    let name = metadata.name
    if let transformer = (metadata.metadata as? Schema.Attribute)?.transformerName {
      return TransformableAccessor<Value>(name, transformer: transformer)
    }
    if let relationship = _relationship(type, name) { return relationship }
    if let frequent = _frequent(type, name) { return frequent }
    if let basic = type as? any BasicValue.Type {
      func open<Basic: BasicValue>(_ basic: Basic.Type) -> PropertyAccessor { BasicAccessor<Basic>(name) }
      return open(basic)
    }
    if let optional = type as? any OptionalType.Type,
      let basic = optional.wrappedType as? any BasicValue.Type
    {
      func open<Basic: BasicValue>(_ basic: Basic.Type) -> PropertyAccessor {
        OptionalBasicAccessor<Basic>(name)
      }
      return open(basic)
    }
    let path = "\(model).\(name)"
    if (metadata.metadata as? Schema.Attribute)?.isCodable == true, type is any Codable.Type {
      return CodedAccessor(name, JSONCoder<Value>(path, archived: false))
    }
    return ValueCoders.coder(for: type, named: name, at: path, isElement: false).map {
      CodedAccessor(name, $0)
    }
  }

  private static func _frequent<Value>(_ type: Value.Type, _ name: String) -> PropertyAccessor? {
    switch ObjectIdentifier(type) {
    case ObjectIdentifier(String.self): StringAccessor(name)
    case ObjectIdentifier(String?.self): OptionalStringAccessor(name)
    case ObjectIdentifier(Int.self): IntAccessor(name)
    case ObjectIdentifier(Bool.self): BoolAccessor(name)
    case ObjectIdentifier(Double.self): DoubleAccessor(name)
    case ObjectIdentifier(Date.self): DateAccessor(name)
    case ObjectIdentifier(Date?.self): OptionalDateAccessor(name)
    case ObjectIdentifier(UUID.self): UUIDAccessor(name)
    default: nil
    }
  }

  private static func _relationship<Value>(_ type: Value.Type, _ name: String) -> PropertyAccessor? {
    func toOne<Model: PersistentModel>(_ model: Model.Type) -> PropertyAccessor { ToOneAccessor<Model>(name) }
    func optionalToOne<Model: PersistentModel>(_ model: Model.Type) -> PropertyAccessor {
      OptionalToOneAccessor<Model>(name)
    }
    func toMany<Members: RelationshipCollection>(_ members: Members.Type) -> PropertyAccessor? {
      if Members.self == [Members.PersistentElement].self {
        return ToManyAccessor<Members.PersistentElement>(name)
      }
      if Members.self == [Members.PersistentElement]?.self {
        return OptionalToManyAccessor<Members.PersistentElement>(name)
      }
      return nil
    }
    if let model = type as? any PersistentModel.Type { return toOne(model) }
    if let members = type as? any RelationshipCollection.Type { return toMany(members) }
    if let optional = type as? any OptionalType.Type,
      let model = optional.wrappedType as? any PersistentModel.Type
    {
      return optionalToOne(model)
    }
    return nil
  }
}
