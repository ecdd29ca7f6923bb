import CoreData

/// The identity of a model: store, entity and primary key.
///
/// Temporary until the model is first saved; the model then has a permanent one. Permanent identities are
/// equal in every context, container and process. May be passed to any thread.
public struct PersistentIdentifier: Hashable, Identifiable, Comparable, Sendable {
  /// The parts of the identity.
  public let id: PersistentIdentifier.ID

  /// The parts of an identity.
  public struct ID: Hashable, Sendable {
    /// Identifies the model within its entity.
    enum Key: Hashable, Sendable {
      /// Primary key in a store of the engine's.
      case number(Int64)
      /// Primary key in a store that chooses its keys itself.
      case text(String)
      /// The model isn't saved yet.
      case temporary(UUID)
    }

    let key: Key
    let entity: String
    let store: String?

    init(key: Key, entity: String, store: String?) {
      self.key = key
      self.entity = entity
      self.store = store
    }
  }

  init(_ id: ID) { self.id = id }

  /// A new temporary identity.
  init(temporaryFor entity: String) { self.init(ID(key: .temporary(UUID()), entity: entity, store: nil)) }

  init(_ parts: ObjectIDParts) {
    let key: ID.Key = parts.text.map { Self.key(ofText: $0) } ?? .number(parts.number)
    self.init(ID(key: key, entity: parts.entity, store: parts.store))
  }

  /// Returns the identities of rows.
  static func all(of rows: KeyRun) -> [PersistentIdentifier] {
    let (entity, store) = rows.identityParts
    return rows.keys.map { PersistentIdentifier(ID(key: .number($0), entity: entity, store: store)) }
  }

  /// Returns the permanent identities of objects; skips objects without one.
  static func all(of objects: [NSManagedObject]) -> [PersistentIdentifier] {
    var result: [PersistentIdentifier] = []
    result.reserveCapacity(objects.count)
    var index = 0
    while index < objects.count {
      let first = objects[index]
      index += 1
      guard let parts = first.identityParts else { continue }
      result.append(PersistentIdentifier(parts))
      // Objects of one entity mostly follow each other and share all but the key.
      while index < objects.count, let key = objects[index].primaryKey,
        objects[index].sharesIDSpace(with: first)
      {
        result.append(PersistentIdentifier(ID(key: .number(key), entity: parts.entity, store: parts.store)))
        index += 1
      }
    }
    return result
  }

  /// Creates the permanent identity for an object ID; nil for a temporary one.
  init?(_ objectID: NSManagedObjectID) {
    guard let parts = objectID.parts else { return nil }
    self.init(parts)
  }

  /// Returns a number if the text is exactly its decimal form, so that both spellings of a key are equal.
  static func key(ofText text: String) -> ID.Key {
    if let number = Int64(text), String(number) == text { return .number(number) }
    return .text(text)
  }

  /// UUID of the store; nil as long as the model isn't saved.
  public var storeIdentifier: String? { id.store }

  /// Name of the model's entity.
  public var entityName: String { id.entity }

  /// Whether the model isn't saved yet.
  public var isTemporary: Bool {
    if case .temporary = id.key { return true }
    return false
  }

  /// Creates the identity of a model in a custom store.
  ///
  /// - Parameters:
  ///   - storeIdentifier: The store's ``DataStore/identifier``.
  ///   - entityName: Name of the entity.
  ///   - primaryKey: The store's key of the model; compared by its description.
  /// - Throws: Nothing; Apple's throws for keys that can't be encoded.
  public static func identifier<T>(
    for storeIdentifier: String, entityName: String, primaryKey: T
  ) throws -> PersistentIdentifier
  where T: Comparable, T: CustomStringConvertible, T: Decodable, T: Encodable, T: Hashable {
    PersistentIdentifier(
      ID(key: key(ofText: primaryKey.description), entity: entityName, store: storeIdentifier))
  }

  /// Orders by store, entity and key; temporary identities come first.
  public static func < (lhs: PersistentIdentifier, rhs: PersistentIdentifier) -> Bool {
    let (left, right) = (lhs.id, rhs.id)
    if left.store != right.store { return (left.store ?? "") < (right.store ?? "") }
    if left.entity != right.entity { return left.entity < right.entity }
    if case .number(let first) = left.key, case .number(let second) = right.key { return first < second }
    return left.primaryKey < right.primaryKey
  }
}

extension PersistentIdentifier.ID {
  /// The key in Apple's format: `p12`, or `t` and a UUID.
  var primaryKey: String {
    switch key {
    case .number(let number): "p\(number)"
    case .text(let text): "p\(text)"
    case .temporary(let uuid): "t\(uuid.uuidString)"
    }
  }

  /// The key without its letter.
  var bareKey: String { String(primaryKey.dropFirst()) }

  /// `x-coredata://<store>/<entity>/p<key>`.
  var uri: String {
    func escaped(_ text: String) -> String {
      text.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? text
    }
    return "x-coredata://\(store.map(escaped) ?? "")/\(escaped(entity))/\(escaped(primaryKey))"
  }
}

extension PersistentIdentifier: CustomDebugStringConvertible {
  /// The identity as a URI.
  public var debugDescription: String { "PersistentIdentifier(\(id.uri))" }
}
