extension Schema.Attribute {
  /// An option of `@Attribute`.
  public struct Option: Codable, Hashable, CustomDebugStringConvertible, Sendable {
    enum Kind: Codable, Hashable, Sendable {
      case unique, externalStorage, ephemeral, preserveValueOnDeletion, spotlight, allowsCloudEncryption,
        codable
      case transformable(String)
    }

    let kind: Kind

    /// No two models have the same value; saving a second one updates the first.
    public static var unique: Option { Option(kind: .unique) }
    /// Large data may be stored in files beside the store.
    public static var externalStorage: Option { Option(kind: .externalStorage) }
    /// The value is tracked and not stored.
    public static var ephemeral: Option { Option(kind: .ephemeral) }
    /// History preserves the value of a deleted model.
    public static var preserveValueOnDeletion: Option { Option(kind: .preserveValueOnDeletion) }
    /// Recorded in the model only, since there is no Spotlight here.
    public static var spotlight: Option { Option(kind: .spotlight) }
    /// Recorded in the model only, since there is no CloudKit here.
    public static var allowsCloudEncryption: Option { Option(kind: .allowsCloudEncryption) }
    /// The whole value is stored as JSON.
    public static var codable: Option { Option(kind: .codable) }

    /// A value transformer, registered under its class's name, encodes the values.
    public static func transformable(by transformerType: ValueTransformer.Type) -> Option {
      Option(kind: .transformable(String(describing: transformerType)))
    }

    /// The value transformer registered under a name encodes the values.
    public static func transformable(by transformerName: String) -> Option {
      Option(kind: .transformable(transformerName))
    }

    /// The option in source form.
    public var debugDescription: String {
      if case .transformable(let name) = kind { return ".transformable(by: \"\(name)\")" }
      return ".\(kind)"
    }
  }
}
