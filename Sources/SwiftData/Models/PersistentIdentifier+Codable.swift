/// The format of Apple's default store: the parts under the key `implementation`.
extension PersistentIdentifier: Codable {
  private enum _Keys: String, CodingKey { case implementation }

  private enum _Parts: String, CodingKey {
    case primaryKey, uriRepresentation, isTemporary, storeIdentifier, entityName
  }

  /// Encodes the parts.
  public func encode(to encoder: any Encoder) throws {
    var outer = encoder.container(keyedBy: _Keys.self)
    var parts = outer.nestedContainer(keyedBy: _Parts.self, forKey: .implementation)
    try parts.encode(id.primaryKey, forKey: .primaryKey)
    try parts.encode(id.uri, forKey: .uriRepresentation)
    try parts.encode(isTemporary, forKey: .isTemporary)
    try parts.encodeIfPresent(storeIdentifier, forKey: .storeIdentifier)
    try parts.encode(entityName, forKey: .entityName)
  }

  /// Decodes the parts.
  ///
  /// - Throws: `DecodingError` for a missing part or an invalid primary key.
  public init(from decoder: any Decoder) throws {
    let outer = try decoder.container(keyedBy: _Keys.self)
    let parts = try outer.nestedContainer(keyedBy: _Parts.self, forKey: .implementation)
    let primaryKey = try parts.decode(String.self, forKey: .primaryKey)
    let entity = try parts.decode(String.self, forKey: .entityName)
    let store = try parts.decodeIfPresent(String.self, forKey: .storeIdentifier)
    let bare = String(primaryKey.dropFirst())
    if primaryKey.first == "p" {
      self.init(ID(key: Self.key(ofText: bare), entity: entity, store: store))
    } else if primaryKey.first == "t", let uuid = UUID(uuidString: bare) {
      self.init(ID(key: .temporary(uuid), entity: entity, store: nil))
    } else {
      throw DecodingError.dataCorruptedError(
        forKey: .primaryKey, in: parts,
        debugDescription:
          "The primary key '\(primaryKey.prefix(80))' is none: it begins with 'p', or with 't' and a UUID.")
    }
  }
}
