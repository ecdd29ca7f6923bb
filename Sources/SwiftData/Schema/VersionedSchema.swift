/// One version of an application's schema: the model classes as they were then.
public protocol VersionedSchema: SendableMetatype {
  /// Label of the version.
  static var versionIdentifier: Schema.Version { get }
  /// The model classes.
  static var models: [any PersistentModel.Type] { get }
}
