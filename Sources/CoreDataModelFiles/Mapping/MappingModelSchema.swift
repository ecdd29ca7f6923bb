/// A mapping model as plain values: maps the entities of one model version to those of another.
package struct MappingModelSchema: Sendable, Hashable {
  /// The source of a property's value in the new version.
  package enum Source: Sendable, Hashable {
    /// Nothing.
    case none
    /// An expression in the syntax of `NSExpression(format:)`.
    case expression(String)
    /// The property of the same name, if the old entity has one: Xcode's default when it compiles the
    /// mapping.
    case sameName
  }

  /// The mapping of one property.
  package struct Property: Sendable, Hashable {
    package var name: String
    package var source: Source
    /// Name of the entity mapping that makes the value, in the editable form.
    package var mappingName: String?
    package var userInfo: [String: String] = [:]

    package init(name: String, source: Source) {
      self.name = name
      self.source = source
    }
  }

  /// The mapping of one entity.
  package struct Entity: Sendable, Hashable {
    package var name: String
    /// Raw value of `NSEntityMappingType`; 0 if the file omits it.
    package var type = 0
    package var sourceName: String?
    package var sourceHash: [UInt8]?
    package var destinationName: String?
    package var destinationHash: [UInt8]?
    /// Selects the objects to map; nil for all of the source entity.
    package var sourceExpression: String?
    package var policyClassName: String?
    package var attributes: [Property] = []
    package var relationships: [Property] = []
    package var userInfo: [String: String] = [:]

    package init(name: String) { self.name = name }
  }

  package var entities: [Entity] = []
  /// The mapping's two versions; only in the editable form, which has no hashes.
  package var versions: (source: Version, destination: Version)? {
    get { _source.flatMap { source in _destination.map { (source, $0) } } }
    set { (_source, _destination) = (newValue?.source, newValue?.destination) }
  }
  /// What the file has that is not known here and has no effect, each as a sentence without full stop.
  package var remarks: [String] = []

  private var _source: Version?
  private var _destination: Version?

  package init(entities: [Entity] = []) { self.entities = entities }
}
