// Lightweight migrations that were put off.

extension NSPersistentStoreCoordinator {
  /// Does what lightweight migrations of this coordinator's stores have put off. There never is anything:
  /// here the whole migration happens in the one transaction in which a store is added.
  public final func finishDeferredLightweightMigration() throws {}

  /// Does the next task of what lightweight migrations have put off; as the other form.
  public final func finishDeferredLightweightMigrationTask() throws {}
}
