import CoreData

/// Migrates one store to the version of a container's schema, stage by stage.
///
/// Runs on the thread that creates the container.
struct MigrationRun {
  private let _plan: any SchemaMigrationPlan.Type
  private let _target: Schema
  private let _configuration: ModelConfiguration

  init(
    _ plan: any SchemaMigrationPlan.Type, to target: Schema, _ configuration: ModelConfiguration
  ) {
    _plan = plan
    _target = target
    _configuration = configuration
  }

  /// A stage with the hashes of its versions.
  private struct Step {
    let from: Schema
    let to: Schema
    let fromHashes: [String: Data]
    let toHashes: [String: Data]
    let willMigrate: ((ModelContext) throws -> Void)?
    let didMigrate: ((ModelContext) throws -> Void)?
  }

  /// Does nothing for a store that doesn't exist or already has the container's version.
  ///
  /// - Throws: `SwiftDataError.unknownDataStoreSchema` for a store whose version starts no stage,
  ///   `.backwardMigration` for a version that is only reachable from the container's,
  ///   `.loadIssueModelContainer` for a plan with two equal versions, and errors of the stages' closures.
  func migrate() throws {
    let steps = try _plan.stages.map { try _step($0) }
    if let same = steps.first(where: { $0.fromHashes == $0.toHashes }) {
      throw SwiftDataError(
        .loadIssueModelContainer,
        "The migration plan \(_plan) has a stage from version \(same.from.version) to \(same.to.version), whose version hashes are "
          + "equal. Leave out the stage, or give a property of one of them a hashModifier.")
    }
    let target = try _hashes(_target)
    guard _configuration.isThere else { return }
    let current = try _storedHashes(known: [_target] + steps.flatMap { [$0.from, $0.to] })
    guard !current.isEmpty, current != target, !steps.isEmpty else { return }
    for step in try _path(from: current, to: target, steps) { try _run(step) }
  }

  /// Returns the stages that lead from one version to another; among alternatives, earlier ones in the plan
  /// win.
  private func _path(
    from current: [String: Data], to target: [String: Data], _ steps: [Step]
  ) throws -> [Step] {
    var path: [Step] = []
    var place = current
    var left = steps
    while place != target {
      guard let next = left.firstIndex(where: { $0.fromHashes == place }) else { break }
      let step = left.remove(at: next)
      path.append(step)
      place = step.toHashes
    }
    if place == target { return path }
    if _leads(from: target, to: current, steps) {
      throw SwiftDataError(
        .backwardMigration,
        "The store at \(_configuration.url.path) has a later version of the schema than \(_target.version), and the "
          + "migration plan \(_plan) has no stage back.")
    }
    throw SwiftDataError(
      .unknownDataStoreSchema,
      "The store at \(_configuration.url.path) has a version of the schema that no stage of the migration plan \(_plan) leads "
        + "from to version \(_target.version). Add the version that wrote it, and a stage.")
  }

  private func _leads(from start: [String: Data], to end: [String: Data], _ steps: [Step]) -> Bool {
    var place = start
    var left = steps
    while place != end {
      guard let next = left.firstIndex(where: { $0.fromHashes == place }) else { return false }
      place = left.remove(at: next).toHashes
    }
    return true
  }

  // MARK: Stages

  private func _step(_ stage: MigrationStage) throws -> Step {
    let versions: (any VersionedSchema.Type, any VersionedSchema.Type)
    var will: ((ModelContext) throws -> Void)?
    var did: ((ModelContext) throws -> Void)?
    switch stage {
    case .lightweight(let from, let to): versions = (from, to)
    case .custom(let from, let to, let willMigrate, let didMigrate):
      versions = (from, to)
      (will, did) = (willMigrate, didMigrate)
    }
    let (from, to) = (Schema(versionedSchema: versions.0), Schema(versionedSchema: versions.1))
    return Step(
      from: from, to: to, fromHashes: try _hashes(from), toHashes: try _hashes(to), willMigrate: will,
      didMigrate: did)
  }

  private func _run(_ step: Step) throws {
    if let willMigrate = step.willMigrate { try _work(on: step.from, willMigrate) }
    // Opening the store migrates it.
    let parts = StoreParts(configuration: _configuration, entities: _entities(of: step.to))
    let model = try step.to.managedModel(configurations: [(_configuration.name, parts.entities)])
    try parts.add(to: NSPersistentStoreCoordinator(managedObjectModel: model))
    if let didMigrate = step.didMigrate { try _work(on: step.to, didMigrate) }
  }

  /// Runs a stage's closure with a context for the store in its current state.
  private func _work(on schema: Schema, _ body: (ModelContext) throws -> Void) throws {
    var configuration = ModelConfiguration(_configuration.name, schema: nil, url: _configuration.url)
    configuration.schema = Schema(
      entities: schema.entities.filter { _entities(of: schema).contains($0.name) })
    let core = try ContainerCore(schema, nil, [configuration])
    let context = ModelContext(core, nil, isMain: false)
    context.autosaveEnabled = false
    context.author = "com.apple.coredata.schemamigration"
    try body(context)
    if context.hasChanges { try context.save() }
  }

  // MARK: Versions

  /// Returns the schema's entities that are in the store.
  private func _entities(of schema: Schema) -> Set<String> {
    guard let own = _configuration.schema else { return Set(schema.entitiesByName.keys) }
    // If several stores share a schema, all entities that the target schema doesn't assign to the others
    // belong to this one.
    let others = Set(_target.entitiesByName.keys).subtracting(own.entitiesByName.keys)
    return Set(schema.entitiesByName.keys).subtracting(others)
  }

  private func _hashes(_ schema: Schema) throws -> [String: Data] {
    try _hashes(schema, schema.managedModel(configurations: []))
  }

  private func _hashes(_ schema: Schema, _ model: NSManagedObjectModel) -> [String: Data] {
    let wanted = _entities(of: schema)
    return model.entityVersionHashesByName.filter { wanted.contains($0.key) }
  }

  /// Returns the hashes in the store; of a version that is known, as they are computed at present.
  private func _storedHashes(known schemas: [Schema]) throws -> [String: Data] {
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: _configuration.storeType, at: _configuration.url)
    let stored = metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
    for schema in schemas {
      let model = try schema.managedModel(configurations: [])
      let renewed = model.renewed(stored)
      if renewed == _hashes(schema, model) { return renewed }
    }
    return stored
  }
}

extension Schema {
  /// Creates a schema from some of another's entities.
  convenience init(entities: [Schema.Entity]) {
    self.init(
      entities: entities, version: Version(1, 0, 0), encodingVersion: Self.schemaEncodingVersion)
  }
}
