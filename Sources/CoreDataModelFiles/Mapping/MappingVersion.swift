import CoreDataModelSchema

extension MappingModelSchema {
  /// One of the two model versions between which a mapping leads, as the editable form describes it.
  package struct Version: Sendable, Hashable {
    /// Name of the version's file, without extension. It is stale if the version was renamed since.
    package var name: String
    /// Names of the version's properties by entity: those that the mapping names, and those in the editor's
    /// archive of the version.
    package var properties: [String: Set<String>] = [:]
    /// Whether the file has the editor's archive, so that `properties` has all entities and properties.
    package var isWhole = false

    package init(name: String) { self.name = name }
  }
}

extension MappingModelSchema.Version {
  /// What looking for the version by its content found.
  package enum Search<Candidate> {
    case one(Candidate, ModelSchema)
    /// None, or several that are different.
    case notOne([Candidate])
  }

  /// Finds the version by its content: a model that has every entity and property, or, of several, the only
  /// one that has no others.
  package func search<Candidate>(_ candidates: [(Candidate, ModelSchema)]) -> Search<Candidate> {
    var fitting = candidates.filter { _fits($0.1) }
    if isWhole, Self._different(fitting).count > 1 {
      let exact = fitting.filter { _isExactly($0.1) }
      if !exact.isEmpty { fitting = exact }
    }
    let different = Self._different(fitting)
    guard let only = different.first, different.count == 1 else { return .notOne(different.map(\.0)) }
    return .one(only.0, only.1)
  }

  /// The first of each version: a model may be there compiled and as source.
  private static func _different<Candidate>(
    _ candidates: [(Candidate, ModelSchema)]
  ) -> [(Candidate, ModelSchema)] {
    var known: Set<[String: [UInt8]]> = []
    return candidates.filter { known.insert($0.1.entityVersionHashes()).inserted }
  }

  /// Whether a model has every entity and property, inherited ones included.
  private func _fits(_ model: ModelSchema) -> Bool {
    let entities = Dictionary(model.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    return properties.allSatisfy { name, wanted in
      guard entities[name] != nil else { return false }
      var missing = wanted
      var seen: Set<String> = []
      var next: String? = name
      while let current = next, seen.insert(current).inserted, let entity = entities[current] {
        missing.subtract(entity._propertyNames)
        next = entity.parent
      }
      return missing.isEmpty
    }
  }

  private func _isExactly(_ model: ModelSchema) -> Bool {
    let own = Dictionary(model.entities.map { ($0.name, $0._propertyNames) }, uniquingKeysWith: { $1 })
    // The mapping names inherited properties at the entity, the archive at its ancestor.
    return Set(own.keys) == Set(properties.keys) && own.allSatisfy { $1.isSubset(of: properties[$0] ?? []) }
  }
}

extension EntitySchema {
  fileprivate var _propertyNames: Set<String> {
    Set(attributes.map(\.name) + relationships.map(\.name) + fetchedProperties.map(\.traits.name))
  }
}
