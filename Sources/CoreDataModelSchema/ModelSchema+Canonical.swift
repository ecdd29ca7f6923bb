extension ModelSchema {
  /// The same model in the order in which it is written: entities, properties, indexes and constraints are
  /// sorted by name. The elements of an index or a composite keep their order.
  package func canonical() -> ModelSchema {
    var model = self
    model.entities = entities.map { $0.canonical() }.sorted { $0.name < $1.name }
    model.configurations = configurations.map { configuration in
      var configuration = configuration
      configuration.entities.sort()
      return configuration
    }.sorted { $0.name < $1.name }
    model.fetchRequests.sort { $0.name < $1.name }
    model.versionIdentifiers.sort()
    return model
  }
}

extension EntitySchema {
  /// The same entity with its properties, indexes and constraints by name.
  package func canonical() -> EntitySchema {
    var entity = self
    entity.attributes.sort { $0.name < $1.name }
    entity.relationships.sort { $0.name < $1.name }
    entity.fetchedProperties.sort { $0.traits.name < $1.traits.name }
    entity.indexes.sort { $0.name < $1.name }
    entity.uniquenessConstraints.sort { $0.lexicographicallyPrecedes($1) }
    return entity
  }
}
