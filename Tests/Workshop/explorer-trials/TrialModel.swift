import CoreData
import Foundation
import ModelMaking

/// The models of the stores, built in code.
enum TrialModel {
  static let attacks = [
    "<script>document.title='owned'</script>", "\"><img src=x onerror=\"document.title='owned'\">",
    "'; DROP TABLE ZX; --", "</title><script>document.title='owned'</script>",
    "javascript:document.title='owned'",
    "\u{202E}gnp.exe", "{{7*7}}${7*7}",
  ]
  static let hostileEntity = "X<script>document.title='owned'</script>\"'&"

  static func open(
    _ path: String, _ model: NSManagedObjectModel, keepsHistory: Bool = true
  ) throws -> NSManagedObjectContext {
    let container = NSPersistentContainer(name: "Trials", managedObjectModel: model)
    let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: path))
    description.setOption(keepsHistory as NSNumber, forKey: NSPersistentHistoryTrackingKey)
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    let context = container.newBackgroundContext()
    return context
  }

  static var music: NSManagedObjectModel {
    let track = NSEntityDescription(
      "Track",
      [
        ("title", .stringAttributeType), ("artist", .stringAttributeType),
        ("plays", .integer32AttributeType), ("seconds", .doubleAttributeType), ("added", .dateAttributeType),
      ])
    let album = NSEntityDescription("Album", [("title", .stringAttributeType)])
    album.relate(.many("tracks"), to: track, .one("album"))
    track.indexes = [
      NSFetchIndexDescription(
        name: "byTitle",
        elements: [
          NSFetchIndexElementDescription(property: track.propertiesByName["title"]!, collationType: .binary)
        ])
    ]
    return NSManagedObjectModel([track, album])
  }

  static var library: NSManagedObjectModel {
    let author = NSEntityDescription("Author", [("name", .stringAttributeType)])
    author.attributesByName["name"]?.isOptional = false
    let book = NSEntityDescription(
      "Book", [("title", .stringAttributeType), ("pages", .integer32AttributeType)])
    author.relate(.many("books"), to: book, .one("author"))
    return NSManagedObjectModel([author, book])
  }

  static var hostile: NSManagedObjectModel {
    NSManagedObjectModel([
      NSEntityDescription(
        hostileEntity,
        [
          ("a<b>\"'", .stringAttributeType), ("onload=alert", .stringAttributeType),
          ("<img src=x onerror=bytes", .binaryDataAttributeType),
        ])
    ])
  }
}
