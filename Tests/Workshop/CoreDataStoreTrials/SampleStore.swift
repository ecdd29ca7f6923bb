import CoreData
import CoreDataModelFiles
import Foundation
import ModelMaking

/// A store created here, with every kind of content: the original for trials without a collection.
package final class SampleStore {
  package let url: URL
  private let _directory: URL

  package init() throws {
    _directory = FileManager.default.temporaryDirectory.appendingPathComponent("sample-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: _directory, withIntermediateDirectories: true)
    url = _directory.appendingPathComponent("Sample.sqlite")
    let model = Self.model()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url,
      options: [NSSQLitePragmasOption: ["journal_mode": "DELETE"]])
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      var folders: [NSManagedObject] = []
      for number in 0..<8 {
        let folder = NSManagedObject(
          entity: model.entitiesByName[number % 2 == 0 ? "Folder" : "Album"]!, insertInto: context)
        folder.setValue("Folder \(number)", forKey: "name")
        folders.append(folder)
      }
      for number in 0..<30 {
        let item = NSManagedObject(entity: model.entitiesByName["Item"]!, insertInto: context)
        for attribute in item.entity.attributesByName.values
        where !(attribute is NSDerivedAttributeDescription) {
          item.setValue(TrialObjects.value(for: attribute, unlike: nil), forKey: attribute.name)
        }
        item.setValue(Data(repeating: UInt8(number), count: number * 10), forKey: "bytes")
        item.setValue(["a", "b", number] as NSArray, forKey: "list")
        item.setValue(folders[number % folders.count], forKey: "folder")
        item.mutableSetValue(forKey: "tags").add(folders[(number + 1) % folders.count])
      }
      try context.save()
    }
    try coordinator.remove(store)
  }

  deinit { try? FileManager.default.removeItem(at: _directory) }

  /// The compiled model, as stores contain it.
  package static func compiledModel() throws -> Data {
    let place = FileManager.default.temporaryDirectory.appendingPathComponent("contents-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: place) }
    try model().write(to: place)
    return CompiledModelWriter.write(try ModelFile.load(path: place.path), for: .store)
  }

  /// Items of every type in folders, one kind of which has a parent.
  package static func model() -> NSManagedObjectModel {
    let folder = NSEntityDescription("Folder", [("name", .stringAttributeType)])
    let album = NSEntityDescription("Album", [("year", .integer16AttributeType)])
    folder.subentities = [album]
    let item = NSEntityDescription(
      "Item",
      [
        ("number", .integer64AttributeType), ("isOpen", .booleanAttributeType), ("date", .dateAttributeType),
        ("weight", .doubleAttributeType), ("price", .decimalAttributeType), ("title", .stringAttributeType),
        ("link", .URIAttributeType), ("token", .UUIDAttributeType), ("list", .transformableAttributeType),
      ])
    item.properties.append(NSAttributeDescription.externalBytes("bytes"))
    item.relate(.one("folder"), to: folder, .many("items", isOrdered: true))
    item.relate(.many("tags"), to: folder, .many("tagged"))
    return NSManagedObjectModel([folder, album, item])
  }
}
