import Foundation

extension Schema {
  private enum _Keys: String, CodingKey { case entities, version, encodingVersion }

  /// Decodes a schema. Omits classes that the program lacks, but keeps their entities.
  public convenience init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: _Keys.self)
    let entities = try container.decode([Entity].self, forKey: .entities)
    let byName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    for entity in entities {
      guard let name = entity.superentityName, let superentity = byName[name] else { continue }
      entity.superentity = superentity
      superentity.subentities.insert(entity)
    }
    self.init(
      entities: entities, version: try container.decode(Version.self, forKey: .version),
      encodingVersion: try container.decode(Version.self, forKey: .encodingVersion))
  }

  /// Encodes version and entities.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: _Keys.self)
    try container.encode(entities, forKey: .entities)
    try container.encode(version, forKey: .version)
    try container.encode(encodingVersion, forKey: .encodingVersion)
  }

  /// Writes the schema to a file, as JSON.
  ///
  /// - Throws: Errors of writing the file.
  public func save(to url: URL) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    try encoder.encode(self).write(to: url, options: .atomic)
  }

  /// Reads a schema from a file that ``save(to:)`` wrote.
  ///
  /// - Throws: Errors of reading the file, or `DecodingError` for any other file.
  public static func load(from url: URL) throws -> Schema {
    try JSONDecoder().decode(Schema.self, from: Data(contentsOf: url))
  }
}

/// A property of any kind in coded form.
struct PropertyBox: Codable {
  let property: any SchemaProperty

  init(_ property: any SchemaProperty) { self.property = property }

  private enum _Kind: String, Codable { case attribute, composite, relationship }
  private enum _Keys: String, CodingKey { case kind, property }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: _Keys.self)
    switch try container.decode(_Kind.self, forKey: .kind) {
    case .attribute: property = try container.decode(Schema.Attribute.self, forKey: .property)
    case .composite: property = try container.decode(Schema.CompositeAttribute.self, forKey: .property)
    case .relationship: property = try container.decode(Schema.Relationship.self, forKey: .property)
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: _Keys.self)
    let kind: _Kind =
      property is Schema.Relationship
      ? .relationship : property is Schema.CompositeAttribute ? .composite : .attribute
    try container.encode(kind, forKey: .kind)
    try container.encode(property, forKey: .property)
  }
}

/// Types by their mangled names.
enum TypeName {
  static func text(_ type: Any.Type) -> String { _mangledTypeName(type) ?? "" }
  static func type(_ text: String) -> Any.Type { _typeByName(text) ?? Any.self }
}
