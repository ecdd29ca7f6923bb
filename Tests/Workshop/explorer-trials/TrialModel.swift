import CoreData
import Foundation

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

  private static func _attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    return attribute
  }

  private static func _relate(
    _ one: NSEntityDescription, _ toMany: String, _ many: NSEntityDescription, _ toOne: String
  ) {
    let (members, owner) = (NSRelationshipDescription(), NSRelationshipDescription())
    members.name = toMany
    members.destinationEntity = many
    members.maxCount = 0
    members.deleteRule = .nullifyDeleteRule
    owner.name = toOne
    owner.destinationEntity = one
    owner.maxCount = 1
    owner.deleteRule = .nullifyDeleteRule
    members.inverseRelationship = owner
    owner.inverseRelationship = members
    one.properties.append(members)
    many.properties.append(owner)
  }

  private static func _entity(_ name: String, _ attributes: [NSAttributeDescription]) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    entity.properties = attributes
    return entity
  }

  private static func _model(_ entities: NSEntityDescription...) -> NSManagedObjectModel {
    let model = NSManagedObjectModel()
    model.entities = entities
    return model
  }

  static var music: NSManagedObjectModel {
    let track = _entity(
      "Track",
      [
        _attribute("title", .stringAttributeType), _attribute("artist", .stringAttributeType),
        _attribute("plays", .integer32AttributeType), _attribute("seconds", .doubleAttributeType),
        _attribute("added", .dateAttributeType),
      ])
    let album = _entity("Album", [_attribute("title", .stringAttributeType)])
    _relate(album, "tracks", track, "album")
    track.indexes = [
      NSFetchIndexDescription(
        name: "byTitle",
        elements: [
          NSFetchIndexElementDescription(property: track.propertiesByName["title"]!, collationType: .binary)
        ])
    ]
    return _model(track, album)
  }

  static var library: NSManagedObjectModel {
    let name = _attribute("name", .stringAttributeType)
    name.isOptional = false
    let author = _entity("Author", [name])
    let book = _entity(
      "Book", [_attribute("title", .stringAttributeType), _attribute("pages", .integer32AttributeType)])
    _relate(author, "books", book, "author")
    return _model(author, book)
  }

  static var hostile: NSManagedObjectModel {
    _model(
      _entity(
        hostileEntity,
        [
          _attribute("a<b>\"'", .stringAttributeType), _attribute("onload=alert", .stringAttributeType),
          _attribute("<img src=x onerror=bytes", .binaryDataAttributeType),
        ]))
  }
}
