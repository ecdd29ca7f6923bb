import CoreData

extension NSManagedObjectModel {
  /// Creates the Core Data model of model classes, for a stack that opens the store of a container.
  ///
  /// Its entities have the class `NSManagedObject`; set `managedObjectClassName` for another one. The version
  /// hashes equal those of the container's store.
  ///
  /// - Parameters:
  ///   - types: The classes; those reachable through relationships are added.
  ///   - model: A model whose entities are added; nil for none.
  /// - Returns: Nil for an invalid schema, with the reason logged to standard error.
  public static func makeManagedObjectModel(
    for types: [any PersistentModel.Type], mergedWith model: NSManagedObjectModel? = nil
  ) -> NSManagedObjectModel? {
    do {
      let made = try Schema(types).managedModel(configurations: [])
      for entity in made.entities {
        entity.objectClass = nil
        entity.managedObjectClassName = NSStringFromClass(NSManagedObject.self)
      }
      return model.map { NSManagedObjectModel(byMerging: [made, $0]) } ?? made
    } catch {
      Console.warn("the model classes give no model: \(error)")
      return nil
    }
  }
}
