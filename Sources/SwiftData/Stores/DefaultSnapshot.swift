import CoreData

/// The default snapshot type: all values of a model.
public struct DefaultSnapshot: DataStoreSnapshot, @unchecked Sendable {
  // Unchecked: values of Codable types, which are not changed.

  /// Identity of the model.
  public let persistentIdentifier: PersistentIdentifier
  private let _values: [String: any Codable]

  /// Copies all values of a model.
  public init(
    from backingData: any BackingData, relatedBackingDatas: inout [PersistentIdentifier: any BackingData]
  ) {
    guard let storage = backingData.modelStorage else {
      programmerError("a DefaultSnapshot is made of backing data of SwiftData's own.")
    }
    persistentIdentifier = storage.identifier
    var values: [String: any Codable] = [:]
    for (index, accessor) in storage.modelClass.accessors.enumerated() {
      guard let value = flattened(storage.anyValue(index)) else { continue }
      if accessor.isToMany {
        values[accessor.name] = (value as? [any PersistentModel])?.map { $0.persistentModelID }
      } else if let model = value as? any PersistentModel, accessor.destination != nil {
        values[accessor.name] = model.persistentModelID
      } else {
        values[accessor.name] = value as? any Codable
      }
    }
    _values = values
  }

  /// The value of a property; nil without one.
  func value(of name: String) -> Any? { _values[name] }

  private init(_ identifier: PersistentIdentifier, _ values: [String: any Codable]) {
    persistentIdentifier = identifier
    _values = values
  }

  /// The same values under another identity.
  public func copy(
    persistentIdentifier: PersistentIdentifier,
    remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]? = nil
  ) -> DefaultSnapshot {
    let remapped = remappedIdentifiers ?? [:]
    return DefaultSnapshot(
      persistentIdentifier,
      _values.mapValues { value in
        if let identifier = value as? PersistentIdentifier { return remapped[identifier] ?? identifier }
        if let identifiers = value as? [PersistentIdentifier] {
          return identifiers.map { remapped[$0] ?? $0 }
        }
        return value
      })
  }

  /// Encodes identity and values.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: DataStoreSnapshotCodingKey.self)
    try container.encode(persistentIdentifier, forKey: .persistentIdentifier)
    for (name, value) in _values { try container.encode(value, forKey: .modeledProperty(name)) }
  }

  /// Decodes identity and values. The types of the values come from the class of the identity's entity, if
  /// that class was used in this process.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: DataStoreSnapshotCodingKey.self)
    let identifier = try container.decode(PersistentIdentifier.self, forKey: .persistentIdentifier)
    guard let modelClass = ModelClass.known(named: identifier.entityName) else {
      throw DecodingError.dataCorrupted(
        .init(
          codingPath: decoder.codingPath,
          debugDescription:
            "No model class '\(identifier.entityName)' has been used yet; make its schema first."))
    }
    var values: [String: any Codable] = [:]
    for accessor in modelClass.accessors where container.contains(.modeledProperty(accessor.name)) {
      let key = DataStoreSnapshotCodingKey.modeledProperty(accessor.name)
      if accessor.isToMany {
        values[accessor.name] = try container.decode([PersistentIdentifier].self, forKey: key)
      } else if accessor.destination != nil {
        values[accessor.name] = try container.decodeIfPresent(PersistentIdentifier.self, forKey: key)
      } else if let type = accessor.codableType {
        values[accessor.name] = try container.decode(type, forKey: key)
      }
    }
    persistentIdentifier = identifier
    _values = values
  }
}
