/// The versions of an application's schema, and the stages between them.
public protocol SchemaMigrationPlan: SendableMetatype {
  /// The versions.
  static var schemas: [any VersionedSchema.Type] { get }
  /// The stages; they, not the order of the versions, define the possible migrations.
  static var stages: [MigrationStage] { get }
}

/// One step from a version of a schema to another.
public enum MigrationStage: @unchecked Sendable {
  // Unchecked: the closures run serially on the thread that creates the container; Apple's are not marked
  // either.

  /// The mapping can be inferred from the schemas.
  case lightweight(fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type)
  /// Code runs before and after the change: with a context for the old schema, then with one for the new.
  case custom(
    fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type,
    willMigrate: ((ModelContext) throws -> Void)?, didMigrate: ((ModelContext) throws -> Void)?)
}
