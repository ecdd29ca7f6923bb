extension Schema {
  /// The indexes declared by `#Index`.
  public final class Index<T>: SchemaProperty, PropertyGroups, @unchecked Sendable where T: PersistentModel {
    // Unchecked: as the other properties.

    /// An index over properties.
    public enum Types<P> where P: PersistentModel {
      /// Sorted.
      case binary([PartialKeyPath<P>])
      /// Spatial, for numbers.
      case rtree([PartialKeyPath<P>])
    }

    /// The indexes.
    public let indices: [Schema.Index<T>.Types<T>]
    public var name = ""
    public var originalName = ""
    public var valueType: any Any.Type = Any.self
    /// False: an index allows equal values.
    public var isUnique: Bool { false }

    /// Keys of the coded form.
    public enum CodingKeys: CodingKey {
      /// Names of the properties of each index.
      case indices
    }

    /// Creates sorted indexes.
    public init(_ indices: [PartialKeyPath<T>]...) { self.indices = indices.map { .binary($0) } }

    /// Creates indexes.
    public init(_ indices: Schema.Index<T>.Types<T>...) { self.indices = indices }

    var keyPathGroups: [[AnyKeyPath]] {
      indices.map {
        switch $0 {
        case .binary(let paths), .rtree(let paths): paths
        }
      }
    }

    /// Whether each index is spatial.
    var isSpatial: [Bool] {
      indices.map { if case .rtree = $0 { true } else { false } }
    }

    /// Decodes indexes by the names of properties.
    public init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      let groups = try container.decode([[String]].self, forKey: .indices)
      indices = try groups.map { .binary(try PropertyNames.keyPaths($0, of: T.self)) }
    }

    /// Encodes the names of properties.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(keyPathGroups.map { PropertyNames.names($0, of: T.self) }, forKey: .indices)
    }

    /// Whether both have the same indexes.
    public static func == (lhs: Index, rhs: Index) -> Bool {
      lhs.keyPathGroups == rhs.keyPathGroups && lhs.isSpatial == rhs.isSpatial
    }

    /// Hashes the key paths.
    public func hash(into hasher: inout Hasher) { hasher.combine(keyPathGroups) }
  }

  /// The constraints declared by `#Unique`: combinations of properties with unique values.
  public final class Unique<T>: SchemaProperty, PropertyGroups, @unchecked Sendable where T: PersistentModel {
    // Unchecked: as the other properties.

    /// The constraints.
    public let constraints: [[PartialKeyPath<T>]]
    public var name = ""
    public var originalName = ""
    public var valueType: any Any.Type = Any.self
    /// True.
    public var isUnique: Bool { true }

    /// Keys of the coded form.
    public enum CodingKeys: CodingKey {
      /// Names of the properties of each constraint.
      case constraints
    }

    /// Creates constraints.
    public init(_ constraints: [PartialKeyPath<T>]...) { self.constraints = constraints }

    var keyPathGroups: [[AnyKeyPath]] { constraints }
    var isSpatial: [Bool] { [] }

    /// Decodes constraints by the names of properties.
    public init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      let groups = try container.decode([[String]].self, forKey: .constraints)
      constraints = try groups.map { try PropertyNames.keyPaths($0, of: T.self) }
    }

    /// Encodes the names of properties.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(keyPathGroups.map { PropertyNames.names($0, of: T.self) }, forKey: .constraints)
    }

    /// Whether both have the same constraints.
    public static func == (lhs: Unique, rhs: Unique) -> Bool { lhs.keyPathGroups == rhs.keyPathGroups }

    /// Hashes the key paths.
    public func hash(into hasher: inout Hasher) { hasher.combine(keyPathGroups) }
  }
}

extension Schema.Index: CustomDebugStringConvertible {
  /// The names of the properties.
  public var debugDescription: String {
    "Index(\(keyPathGroups.map { PropertyNames.names($0, of: T.self) }))"
  }
}

extension Schema.Unique: CustomDebugStringConvertible {
  /// The names of the properties.
  public var debugDescription: String {
    "Unique(\(keyPathGroups.map { PropertyNames.names($0, of: T.self) }))"
  }
}

/// Converts between key paths and names of properties.
enum PropertyNames {
  static func names(_ keyPaths: [AnyKeyPath], of type: any PersistentModel.Type) -> [String] {
    let modelClass = ModelClass.of(type)
    return keyPaths.map { modelClass.properties[modelClass.index(of: $0)].name }
  }

  static func keyPaths<T: PersistentModel>(_ names: [String], of type: T.Type) throws -> [PartialKeyPath<T>] {
    let modelClass = ModelClass.of(type)
    return try names.map { name in
      guard let index = modelClass.indexByName[name],
        let keyPath = modelClass.properties[index].keypath as? PartialKeyPath<T>
      else {
        throw DecodingError.dataCorrupted(
          .init(codingPath: [], debugDescription: "'\(modelClass.name)' has no property '\(name)'."))
      }
      return keyPath
    }
  }
}
