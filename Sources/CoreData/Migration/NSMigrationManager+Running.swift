import CoreDataModelSchema
import Foundation

// Running a migration: opening the stores, checking the mapping, the three passes.

extension NSMigrationManager {
  /// Runs a migration, with the store's own means where allowed and possible.
  final func run(_ job: MigrationJob) throws {
    let (from, to) = (job.source.url, job.destination.url)
    // For locations other than files, the whole URL identifies the store.
    let isSame =
      from.isFileURL || to.isFileURL ? StoreLocation(from).path == StoreLocation(to).path : from == to
    guard !isSame else {
      throw CocoaError.coreData(
        NSMigrationManagerDestinationStoreError,
        "The store at \(job.source.url.path) cannot be migrated onto itself: give another destination, and replace the store "
          + "by it afterwards.")
    }
    let kind = try _kinds(job)
    try _check(job.mapping)
    try _checkCancellation()
    let isNew: Bool
    do {
      isNew = try kind.isVacant(job.destination.url, options: job.destination.options)
    } catch {
      throw Self._cannotOpen(job.destination.url, isSource: false, error)
    }
    if usesStoreSpecificMigrationManager, isNew,
      job.mapping.isInferred(from: sourceModel, to: destinationModel),
      try kind.migrate(job, inferringFrom: sourceModel, to: destinationModel)
    {
      return
    }
    try _runPasses(job, kind, isNew: isNew)
  }

  /// Returns a request for the objects of a source entity itself, excluding subentities.
  ///
  /// - Throws: A Cocoa error with code 134110 for a missing entity or an invalid predicate.
  final func sourceRequest(entity name: String, predicate: String) throws -> NSFetchRequest<NSManagedObject> {
    guard let entity = sides.source.model.entitiesByName[name] else {
      throw CocoaError.coreData(
        NSMigrationError, "The source model has no entity '\(name)', which the mapping maps objects of.")
    }
    let request = NSFetchRequest<NSManagedObject>()
    request.entity = entity
    request.includesSubentities = false
    request.returnsObjectsAsFaults = false
    if predicate != "TRUEPREDICATE" { request.predicate = try NSPredicate(parsing: predicate) }
    return request
  }

  /// Inserts an object of a mapping's destination entity.
  ///
  /// - Throws: A Cocoa error with code 134110 if the mapping has none, or an abstract one.
  final func insertDestination(for mapping: NSEntityMapping) throws -> NSManagedObject {
    guard let entity = destinationEntity(for: mapping), !entity.isAbstract else {
      throw CocoaError.coreData(
        NSMigrationError,
        "The mapping '\(mapping.name ?? "")' has objects to map and '\(mapping.destinationEntityName ?? "no entity")' to map "
          + "them to, which is abstract or not there.")
    }
    return NSManagedObject(entity: entity, insertInto: destinationContext)
  }

  // MARK: Checks

  /// Returns the destination's kind if both kinds support migration.
  private final func _kinds(_ job: MigrationJob) throws -> any StoreKind {
    for (end, code) in [
      (job.source, NSMigrationManagerSourceStoreError),
      (job.destination, NSMigrationManagerDestinationStoreError),
    ] where !(StoreKinds.known(end.type)?.canMigrate ?? false) {
      let types = StoreKinds.all.filter(\.canMigrate).map { "'\($0.type)'" }.sorted()
      throw CocoaError.coreData(
        code,
        "Only stores of type \(types.joined(separator: " and ")) can be migrated; the one at \(end.url.path) is of type "
          + "'\(end.type)'.")
    }
    return try StoreKinds.kind(of: job.destination.type)
  }

  /// Checks the mapping against the two models before any store is opened.
  private final func _check(_ mapping: NSMappingModel) throws {
    for entity in mapping.entityMappings ?? [] {
      for (name, hash, model, end) in [
        (entity.sourceEntityName, entity.sourceEntityVersionHash, sourceModel, "source"),
        (
          entity.destinationEntityName, entity.destinationEntityVersionHash, destinationModel, "destination"
        ),
      ] {
        guard let name else { continue }
        guard model.entitiesByName[name] != nil else {
          throw _unfit(entity, "the \(end) model has no entity '\(name)'")
        }
        guard hash.map({ model.recognizes($0, of: name) }) ?? true else {
          throw _unfit(entity, "it was made for another version of the entity '\(name)' of the \(end) model")
        }
      }
      guard let name = entity.destinationEntityName, let known = destinationModel.entitiesByName[name] else {
        continue
      }
      let properties = (entity.attributeMappings ?? []) + (entity.relationshipMappings ?? [])
      if let unknown = properties.first(where: { known.propertiesByName[$0.name ?? ""] == nil }) {
        throw _unfit(entity, "'\(name)' has no property '\(unknown.name ?? "")' in the destination model")
      }
    }
  }

  private final func _unfit(_ mapping: NSEntityMapping, _ reason: String) -> any Error {
    CocoaError.coreData(
      NSMigrationError, "The mapping '\(mapping.name ?? "")' does not fit the models: \(reason).")
  }

  // MARK: Stores

  /// - Parameter tracksHistory: Nil for what the options say.
  private final func _add(
    _ end: MigrationJob.End, to side: MigrationSide, isSource: Bool, tracksHistory: Bool? = nil
  ) throws -> NSPersistentStore {
    var options = end.options ?? [:]
    if let tracksHistory { options[NSPersistentHistoryTrackingKey] = tracksHistory }
    options[NSMigratePersistentStoresAutomaticallyOption] = nil
    options[NSPersistentStoreStagedMigrationManagerOptionKey] = nil
    if isSource { options[NSReadOnlyPersistentStoreOption] = true }
    do {
      return try side.coordinator.addPersistentStore(
        ofType: end.type, configurationName: nil, at: end.url, options: options)
    } catch {
      throw Self._cannotOpen(end.url, isSource: isSource, error)
    }
  }

  private static func _cannotOpen(_ url: URL, isSource: Bool, _ error: any Error) -> any Error {
    CocoaError.coreData(
      isSource ? NSMigrationManagerSourceStoreError : NSMigrationManagerDestinationStoreError,
      "The \(isSource ? "source" : "destination") store of the migration cannot be opened: "
        + error.debugText,
      [NSUnderlyingErrorKey: error, NSURLErrorKey: url])
  }

  private final func _runPasses(_ job: MigrationJob, _ kind: any StoreKind, isNew: Bool) throws {
    let sides = sides
    let source = try _add(job.source, to: sides.source, isSource: true)
    defer { try? sides.source.coordinator.remove(source) }
    kind.prepare(job.destination.url, like: job.source.url)
    let carriesHistory = try isNew && _hasHistory(source)
    // The migration itself is no transaction of a history that is carried over.
    let destination = try _add(
      job.destination, to: sides.destination, isSource: false, tracksHistory: carriesHistory ? false : nil)
    do {
      try sides.destination.context.performAndWait {
        try sides.source.context.performAndWait {
          // Values that read as nil or empty because of an error must not be lost in the migrated store.
          let observe: (NSManagedObject, any Error) -> Void = { [unowned self] _, error in
            state.withLock {
              if $0.cancellation == nil { $0.cancellation = Self._cannotRead(job.source.url, error) }
            }
          }
          for side in [sides.source, sides.destination] {
            side.context.readFailurePolicy = .fail
            side.context.readFailureObserver = observe
          }
          defer { for side in [sides.source, sides.destination] { side.context.readFailureObserver = nil } }
          try _runPasses(job.mapping.entityMappings ?? [])
          try _save(sides.destination.context)
        }
      }
      try sides.destination.coordinator.remove(destination)
      if carriesHistory { try _carryHistory(of: source, to: job) }
    } catch {
      let reason = state.withLock { $0.cancellation } ?? error
      reset()
      try? sides.destination.coordinator.remove(destination)
      if isNew { try? kind.discard(at: job.destination.url) }
      throw reason
    }
  }

  private final func _hasHistory(_ store: NSPersistentStore) throws -> Bool {
    guard let engine = store.engine as? any HistoryKeeping, engine.keepsHistory else { return false }
    return try StoreErrors.translating(url: store.url) { try engine.historyRange() != nil }
  }

  private final func _carryHistory(of source: NSPersistentStore, to job: MigrationJob) throws {
    let sides = sides
    let objects = sides.destination.context.performAndWait { MigratedObjects(associations) }
    let destination = try _add(job.destination, to: sides.destination, isSource: false, tracksHistory: true)
    defer { try? sides.destination.coordinator.remove(destination) }
    guard let old = source.engine as? any HistoryKeeping, let new = destination.engine as? any HistoryKeeping
    else { return }
    let matching = SchemaMatching(from: ModelSchema(sourceModel), to: ModelSchema(destinationModel))
    var history = MigratedHistory(
      from: old, to: new, matching, objects, mappings: job.mapping.entityMappings ?? [])
    try StoreErrors.translating(url: job.destination.url) { try history.run() }
  }

  private static func _cannotRead(_ url: URL, _ error: any Error) -> any Error {
    CocoaError.coreData(
      NSMigrationError,
      "The store at \(url.path) cannot be migrated, because an object of it cannot be read: "
        + error.debugText, [NSUnderlyingErrorKey: error, NSURLErrorKey: url])
  }

  private final func _save(_ context: NSManagedObjectContext) throws {
    try _checkCancellation()
    do {
      try context.save()
    } catch let error as CocoaError where error.code.rawValue == NSManagedObjectConstraintMergeError {
      throw CocoaError.coreData(
        NSMigrationConstraintViolationError,
        "The migrated objects are in the way of a uniqueness constraint: \(error.debugText)",
        [NSUnderlyingErrorKey: error])
    } catch {
      throw CocoaError.coreData(
        NSMigrationError,
        "The migrated objects cannot be saved: \(error.debugText)",
        [NSUnderlyingErrorKey: error])
    }
  }

  // MARK: Passes

  private final func _runPasses(_ mappings: [NSEntityMapping]) throws {
    let policies = try mappings.map { (mapping: $0, policy: try PolicyClass.make(for: $0)) }
    try _pass(0, policies) { mapping, policy, progress in
      try policy.begin(mapping, with: self)
      let sources = try MappingEvaluation(self, mapping, policy: policy, source: nil).sources()
      for (number, source) in sources.enumerated() {
        try progress(number, sources.count)
        try policy.createDestinationInstances(forSource: source, in: mapping, manager: self)
      }
      try policy.endInstanceCreation(forMapping: mapping, manager: self)
    }
    try _pass(1, policies) { mapping, policy, progress in
      let created = destinationInstances(forEntityMappingName: mapping.name, sourceInstances: nil)
      for (number, destination) in created.enumerated() {
        try progress(number, created.count)
        try policy.createRelationships(forDestination: destination, in: mapping, manager: self)
      }
      try policy.endRelationshipCreation(forMapping: mapping, manager: self)
    }
    try _pass(2, policies) { mapping, policy, _ in
      try policy.performCustomValidation(forMapping: mapping, manager: self)
      try policy.end(mapping, manager: self)
    }
  }

  private final func _pass(
    _ pass: Int, _ policies: [(mapping: NSEntityMapping, policy: NSEntityMigrationPolicy)],
    _ body: (NSEntityMapping, NSEntityMigrationPolicy, (Int, Int) throws -> Void) throws -> Void
  ) throws {
    let passes: Float = 3
    for (position, item) in policies.enumerated() {
      func reportProgress(_ number: Int, _ count: Int) throws {
        let share = Float(number) / Float(max(1, count))
        let done = (Float(pass) + (Float(position) + share) / Float(policies.count)) / passes
        try state.withLock { state in
          if let error = state.cancellation { throw error }
          state.position = position
          state.progress = done
        }
      }
      try reportProgress(0, 1)
      try body(item.mapping, item.policy, reportProgress)
      try _checkCancellation()
    }
    state.withLock { $0.progress = Float(pass + 1) / passes }
  }

  private final func _checkCancellation() throws {
    if let error = state.withLock({ $0.cancellation }) { throw error }
  }
}
