/// The versions of an application's schema, and the stages that lead from one to another.
public protocol SchemaMigrationPlan: SendableMetatype {
  /// The versions.
  static var schemas: [any VersionedSchema.Type] { get }
  /// The stages; they, and not the order of the versions, say what can be migrated to what.
  static var stages: [MigrationStage] { get }
}

/// One step from a version of a schema to another.
public enum MigrationStage: @unchecked Sendable {
  // Unchecked: the closures run on the thread that makes the container, one at a time; Apple's are not marked either.

  /// The change of the schema says all.
  case lightweight(fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type)
  /// Code runs before and after the change: with a context over the old schema, then with one over the new.
  case custom(
    fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type,
    willMigrate: ((ModelContext) throws -> Void)?, didMigrate: ((ModelContext) throws -> Void)?)
}
