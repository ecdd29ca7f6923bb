/// A custom store's record of a model: its identity and values.
///
/// The context reads a snapshot through its `encode(to:)`, in one container keyed by
/// ``DataStoreSnapshotCodingKey``: values by property name, related models by identity.
public protocol DataStoreSnapshot: Codable, Sendable {
  /// Creates a snapshot of a model that is being saved.
  ///
  /// - Parameters:
  ///   - backingData: Provides all properties of the model.
  ///   - relatedBackingDatas: Other models of the same save.
  init(
    from backingData: any BackingData, relatedBackingDatas: inout [PersistentIdentifier: any BackingData])

  /// Identity of the model.
  var persistentIdentifier: PersistentIdentifier { get }

  /// The same values under another identity.
  ///
  /// - Parameters:
  ///   - persistentIdentifier: The identity.
  ///   - remappedIdentifiers: New identities of related models.
  func copy(
    persistentIdentifier: PersistentIdentifier,
    remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]?
  ) -> Self
}

/// The requirements for a snapshot's values.
public typealias DataStoreSnapshotValue = Codable & Sendable

/// Keys of a snapshot's coded form.
public enum DataStoreSnapshotCodingKey: CodingKey {
  /// The identity.
  case persistentIdentifier
  /// A property, by its name.
  case modeledProperty(String)

  /// The key of a text: the identity's is `persistentIdentifier`.
  public init?(stringValue: String) {
    self = stringValue == "persistentIdentifier" ? .persistentIdentifier : .modeledProperty(stringValue)
  }

  /// Nil: keys are texts.
  public init?(intValue: Int) { nil }

  /// The key as text.
  public var stringValue: String {
    switch self {
    case .persistentIdentifier: "persistentIdentifier"
    case .modeledProperty(let name): name
    }
  }

  /// Nil: keys are texts.
  public var intValue: Int? { nil }
}
