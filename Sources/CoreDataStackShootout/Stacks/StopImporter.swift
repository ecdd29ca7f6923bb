import CoreData
import Foundation

/// The import of stops, in plain, ordinary Core Data code. Used on the context's queue.
struct StopImporter {
  let mode: ImportMode
  let context: NSManagedObjectContext

  /// Imports the stops between two saves.
  func place(_ batch: ArraySlice<Stop>) throws {
    switch mode {
    case .findOrCreate: try _findOrCreate(batch)
    case .bulk: try _findInBulk(batch)
    case .insert: for stop in batch { _fill(_insert(), with: stop) }
    }
  }

  private func _findOrCreate(_ batch: ArraySlice<Stop>) throws {
    for stop in batch {
      let request = NSFetchRequest<NSManagedObject>(entityName: StopModel.entityName)
      request.predicate = NSPredicate(format: "identifier == %@", stop.identifier)
      request.fetchLimit = 1
      _fill(try context.fetch(request).first ?? _insert(), with: stop)
    }
  }

  private func _findInBulk(_ batch: ArraySlice<Stop>) throws {
    let request = NSFetchRequest<NSManagedObject>(entityName: StopModel.entityName)
    request.predicate = NSPredicate(format: "identifier IN %@", batch.map(\.identifier))
    request.returnsObjectsAsFaults = false
    var known: [String: NSManagedObject] = [:]
    for object in try context.fetch(request) {
      if let identifier = object.value(forKey: "identifier") as? String { known[identifier] = object }
    }
    for stop in batch {
      let object = known[stop.identifier] ?? _insert()
      known[stop.identifier] = object
      _fill(object, with: stop)
    }
  }

  private func _insert() -> NSManagedObject {
    NSEntityDescription.insertNewObject(forEntityName: StopModel.entityName, into: context)
  }

  private func _fill(_ object: NSManagedObject, with stop: Stop) {
    object.setValue(stop.identifier, forKey: "identifier")
    object.setValue(stop.name, forKey: "name")
    object.setValue(stop.latitude, forKey: "latitude")
    object.setValue(stop.longitude, forKey: "longitude")
  }
}
