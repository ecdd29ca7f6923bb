import CoreData
import CoreDataModelFiles
import Foundation

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
    let (folder, album, item) = (NSEntityDescription(), NSEntityDescription(), NSEntityDescription())
    folder.name = "Folder"
    album.name = "Album"
    item.name = "Item"
    func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.attributeType = type
      attribute.isOptional = true
      return attribute
    }
    func relate(_ name: String, _ destination: NSEntityDescription, maxCount: Int, isOrdered: Bool = false)
      -> NSRelationshipDescription
    {
      let relationship = NSRelationshipDescription()
      relationship.name = name
      relationship.destinationEntity = destination
      relationship.maxCount = maxCount
      relationship.isOrdered = isOrdered
      relationship.isOptional = true
      return relationship
    }
    let items = relate("items", item, maxCount: 0, isOrdered: true)
    let parent = relate("folder", folder, maxCount: 1)
    let tags = relate("tags", folder, maxCount: 0)
    let tagged = relate("tagged", item, maxCount: 0)
    (items.inverseRelationship, parent.inverseRelationship) = (parent, items)
    (tags.inverseRelationship, tagged.inverseRelationship) = (tagged, tags)
    let bytes = attribute("bytes", .binaryDataAttributeType)
    bytes.allowsExternalBinaryDataStorage = true
    folder.properties = [attribute("name", .stringAttributeType), items, tagged]
    album.properties = [attribute("year", .integer16AttributeType)]
    folder.subentities = [album]
    item.properties = [
      attribute("number", .integer64AttributeType), attribute("isOpen", .booleanAttributeType),
      attribute("date", .dateAttributeType), attribute("weight", .doubleAttributeType),
      attribute("price", .decimalAttributeType), attribute("title", .stringAttributeType),
      attribute("link", .URIAttributeType), attribute("token", .UUIDAttributeType),
      attribute("list", .transformableAttributeType), bytes, parent, tags,
    ]
    let model = NSManagedObjectModel()
    model.entities = [folder, album, item]
    return model
  }
}
