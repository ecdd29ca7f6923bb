import CoreData
import Foundation

/// A container over the shop's model, which is as large as those of large apps.
final class ShopStore {
  private static let _products = 1000
  /// Products of the first fetch.
  static let pageSize = 50

  let container: NSPersistentContainer

  /// Opens a store, and makes it if it is not there.
  init(_ path: String) throws {
    container = NSPersistentContainer(name: "Shop")
    let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: path))
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { failure = $1 }
    if let failure { throw failure }
  }

  /// Makes a store with some objects of each entity.
  static func create(_ path: String) throws {
    let store = try ShopStore(path)
    let context = store.container.viewContext
    for entity in store.container.managedObjectModel.entities {
      guard let name = entity.name else { continue }
      let key = name.prefix(1).lowercased() + name.dropFirst() + "ID"
      for index in 1...(name == "Product" ? _products : 20) {
        let object = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
        object.setValue(Int64(index), forKey: key)
        for attribute in entity.attributesByName.values where attribute.attributeType == .stringAttributeType
        {
          object.setValue("\(attribute.name) \(index)", forKey: attribute.name)
        }
      }
    }
    try context.save()
    for store in store.container.persistentStoreCoordinator.persistentStores {
      try store.persistentStoreCoordinator?.remove(store)
    }
  }

  static func model() throws -> NSManagedObjectModel {
    NSPersistentContainer(name: "Shop").managedObjectModel
  }

  /// Fetches the first products with their values; the sum of their keys.
  func firstProducts() throws -> Int64 {
    let request = Product.fetchRequest()
    request.sortDescriptors = [NSSortDescriptor(key: "productID", ascending: true)]
    request.fetchLimit = Self.pageSize
    request.returnsObjectsAsFaults = false
    return try container.viewContext.fetch(request).reduce(0) { $0 + $1.productID }
  }
}
