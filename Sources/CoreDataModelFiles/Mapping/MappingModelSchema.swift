/// A mapping model as plain values: how the entities of one version of a model become those of another.
package struct MappingModelSchema: Sendable, Hashable {
  /// What a property of the new version is made of.
  package enum Source: Sendable, Hashable {
    /// Nothing.
    case none
    /// An expression, as `NSExpression(format:)` reads it.
    case expression(String)
    /// The property of the same name, if the old entity has one: what Xcode writes when it compiles the
    /// mapping.
    case sameName
  }

  /// How one property comes about.
  package struct Property: Sendable, Hashable {
    package var name: String
    package var source: Source
    package var userInfo: [String: String] = [:]

    package init(name: String, source: Source) {
      self.name = name
      self.source = source
    }
  }

  /// How the objects of one entity come about.
  package struct Entity: Sendable, Hashable {
    package var name: String
    /// Raw value of `NSEntityMappingType`; 0 where the file leaves it open.
    package var type = 0
    package var sourceName: String?
    package var sourceHash: [UInt8]?
    package var destinationName: String?
    package var destinationHash: [UInt8]?
    /// Finds the objects to map; nil for all of the source entity.
    package var sourceExpression: String?
    package var policyClassName: String?
    package var attributes: [Property] = []
    package var relationships: [Property] = []
    package var userInfo: [String: String] = [:]

    package init(name: String) { self.name = name }
  }

  package var entities: [Entity] = []
  /// Names of the two versions that the mapping was drawn for; only the form that Xcode edits has them, and
  /// it has no hashes.
  package var versions: (source: String, destination: String)? {
    get { _source.flatMap { source in _destination.map { (source, $0) } } }
    set { (_source, _destination) = (newValue?.source, newValue?.destination) }
  }

  private var _source: String?
  private var _destination: String?

  package init(entities: [Entity] = []) { self.entities = entities }
}
