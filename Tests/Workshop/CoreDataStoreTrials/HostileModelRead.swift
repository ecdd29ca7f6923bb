import CoreData
import Foundation

/// Loads an untrusted compiled model, reads all of it and creates stores with it: the result is a model or an
/// error.
package struct HostileModelRead {
  /// The contents, or the first error, in a few words.
  package let outcome: String

  package init(_ url: URL) {
    do {
      let model = try NSManagedObjectModel.load(contentsOf: url)
      outcome = "\(Self._look(at: model)); \(Self._use(model))"
    } catch {
      outcome = "\(type(of: error))"
    }
  }

  private static func _look(at model: NSManagedObjectModel) -> String {
    var count = 0
    for entity in model.entities {
      count += entity.propertiesByName.count + entity.indexes.count + entity.uniquenessConstraints.count
      for property in entity.properties {
        count += property.versionHash.count + property.validationPredicates.count
        _ = property.description
      }
    }
    _ = model.entityVersionHashesByName
    _ = model.fetchRequestTemplatesByName.values.map { $0.predicate?.description }
    let copy = model.copy() as? NSManagedObjectModel
    _ = copy?.isConfiguration(withName: nil, compatibleWithStoreMetadata: [:])
    return "\(model.entities.count) entities"
  }

  private static func _use(_ model: NSManagedObjectModel) -> String {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
      "model-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    do {
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      let store = try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: directory.appendingPathComponent("s.sqlite"))
      defer { try? coordinator.remove(store) }
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator
      return try context.performAndWait {
        for entity in model.entities.prefix(8) where !entity.isAbstract {
          _ = TrialObjects.make(entity, in: context)
          let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
          _ = try context.fetch(request)
        }
        try context.save()
        return "saved"
      }
    } catch {
      let error = error as NSError
      return "\(error.domain) \(error.code)"
    }
  }
}
