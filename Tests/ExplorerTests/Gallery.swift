import CoreData
import CoreDataSQLiteBinding
import Foundation

/// A store with every kind of attribute, relationship and rule, and the values by which pages differ: none, empty, long, and of
/// several scripts. All of it is the same each time.
final class Gallery {
  let directory: URL
  var store: URL { directory.appendingPathComponent("Gallery.sqlite") }

  init() throws {
    directory = FileManager.default.temporaryDirectory.appendingPathComponent("gallery-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self._model)
    let store = try coordinator.addPersistentStore(
      type: .sqlite, at: self.store,
      options: [NSPersistentHistoryTrackingKey: true, NSSQLitePragmasOption: ["journal_mode": "DELETE"]])
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait { try Self._fill(context) }
    try coordinator.remove(store)
    // The history of every gallery is of the same days.
    try Connection(path: self.store.path, mode: .readWrite).execute(
      "UPDATE ATRANSACTION SET ZTIMESTAMP = 500000000 + Z_PK * 5000")
  }

  deinit { try? FileManager.default.removeItem(at: directory) }

  // MARK: Objects

  private static func _fill(_ context: NSManagedObjectContext) throws {
    context.transactionAuthor = "curator"
    func make(_ entity: String, _ values: [String: Any]) throws -> NSManagedObject {
      let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
      for (key, value) in values.sorted(by: { $0.key < $1.key }) { object.setValue(value, forKey: key) }
      // One by one, so that keys follow the order here.
      try context.save()
      return object
    }
    let rooms = try ["North", "South", "Empty"].map { try make("Room", ["name": $0]) }
    let tags = try ["blue", "old", "שלום"].map { try make("Tag", ["text": $0]) }
    for number in 1...30 {
      var values: [String: Any] = [
        "title": "Work \(number)", "number": number * 7, "height": Double(number) / 4,
        "price": Decimal(number) * Decimal(string: "1.25")!, "isShown": number % 3 == 0,
        "made": Date(timeIntervalSinceReferenceDate: Double(number) * 1_000_000),
        "room": rooms[number % 2], "tags": Set(tags.suffix(number % 2)),
      ]
      if number % 5 == 0 {
        values["code"] = UUID(uuid: (UInt8(number), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
      }
      if number % 7 == 0 { values["site"] = URL(string: "https://example.org/works/\(number)")! }
      _ = try make(number % 6 == 0 ? "Sculpture" : "Work", values)
    }
    let odd = try make(
      "Work",
      [
        "title": "<i>“Ünïcode” & \u{202E}more</i>\n" + String(repeating: "long ", count: 200), "number": -1,
        "picture": Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + [UInt8](repeating: 7, count: 90)),
        "raw": Data(#"{"a": [1, 2, {"b": null}]}"#.utf8),
        "colors": ["red", 3, ["deep": Date(timeIntervalSinceReferenceDate: 5)]] as NSArray,
        "size": ["width": 3.5, "unit": "m"],
      ])
    odd.setValue(NSOrderedSet(array: [tags[2], tags[0]]), forKey: "labels")
    _ = try make("Work", ["title": "", "number": 0])
    context.transactionAuthor = "second"
    odd.setValue(-2, forKey: "number")
    try context.save()
    context.delete(rooms[2])
    try context.save()
  }

  // MARK: Model

  private static func _attribute(
    _ name: String, _ type: NSAttributeType, _ change: (NSAttributeDescription) -> Void = { _ in }
  ) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.isOptional = true
    change(attribute)
    return attribute
  }

  private static func _relationship(
    _ name: String, _ destination: NSEntityDescription, _ maxCount: Int, _ rule: NSDeleteRule,
    _ change: (NSRelationshipDescription) -> Void = { _ in }
  ) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    relationship.name = name
    relationship.destinationEntity = destination
    relationship.maxCount = maxCount
    relationship.minCount = 0
    relationship.deleteRule = rule
    relationship.isOptional = true
    change(relationship)
    return relationship
  }

  private static var _model: NSManagedObjectModel {
    let room = NSEntityDescription(), tag = NSEntityDescription(), work = NSEntityDescription()
    let sculpture = NSEntityDescription(), thing = NSEntityDescription()
    (room.name, tag.name, work.name, sculpture.name, thing.name) = (
      "Room", "Tag", "Work", "Sculpture", "Thing"
    )
    thing.isAbstract = true
    thing.subentities = [work]
    work.subentities = [sculpture]
    let size = NSCompositeAttributeDescription()
    size.name = "size"
    size.isOptional = true
    size.elements = [_attribute("width", .doubleAttributeType), _attribute("unit", .stringAttributeType)]
    let workCount = NSDerivedAttributeDescription()
    workCount.name = "workCount"
    workCount.attributeType = .integer64AttributeType
    workCount.isOptional = true
    workCount.derivationExpression = NSExpression(format: "works.@count")
    room.properties = [
      _attribute("name", .stringAttributeType) {
        $0.isOptional = false
        $0.defaultValue = "new"
        $0.setValidationPredicates(
          [NSPredicate(format: "length >= 2"), NSPredicate(format: "SELF MATCHES '[A-Z].*'")],
          withValidationWarnings: ["short", "small"])
      }, workCount,
    ]
    tag.properties = [_attribute("text", .stringAttributeType)]
    tag.uniquenessConstraints = [["text"]]
    thing.properties = [
      _attribute("title", .stringAttributeType) { $0.preservesValueInHistoryOnDeletion = true },
      _attribute("number", .integer32AttributeType) { $0.defaultValue = 4 },
    ]
    let tags = _relationship("tags", tag, 3, .nullifyDeleteRule),
      works = _relationship("works", thing, 0, .denyDeleteRule)
    let labels = _relationship("labels", tag, 0, .noActionDeleteRule) { $0.isOrdered = true }
    let inRoom = _relationship("room", room, 1, .nullifyDeleteRule),
      inRoomWorks = _relationship("works", work, 0, .cascadeDeleteRule) { $0.minCount = 1 }
    (tags.inverseRelationship, works.inverseRelationship) = (works, tags)
    (inRoom.inverseRelationship, inRoomWorks.inverseRelationship) = (inRoomWorks, inRoom)
    thing.properties += [tags, labels]
    tag.properties.append(works)
    room.properties.append(inRoomWorks)
    work.properties = [
      _attribute("height", .doubleAttributeType) {
        $0.setValidationPredicates(
          [NSPredicate(format: "SELF >= 0"), NSPredicate(format: "SELF <= 900")],
          withValidationWarnings: ["low", "high"])
      }, _attribute("price", .decimalAttributeType), _attribute("isShown", .booleanAttributeType),
      _attribute("made", .dateAttributeType), _attribute("code", .UUIDAttributeType),
      _attribute("site", .URIAttributeType),
      _attribute("picture", .binaryDataAttributeType) { $0.allowsExternalBinaryDataStorage = true },
      _attribute("raw", .binaryDataAttributeType),
      _attribute("colors", .transformableAttributeType) {
        $0.valueTransformerName = "NSSecureUnarchiveFromData"
      },
      _attribute("mood", .stringAttributeType) { $0.isTransient = true }, size, inRoom,
    ]
    work.indexes = [
      NSFetchIndexDescription(
        name: "byMade",
        elements: [
          NSFetchIndexElementDescription(property: work.propertiesByName["made"]!, collationType: .binary),
          NSFetchIndexElementDescription(property: thing.propertiesByName["title"]!, collationType: .binary),
        ])
    ]
    sculpture.properties = [_attribute("weight", .floatAttributeType)]
    let model = NSManagedObjectModel()
    model.entities = [room, tag, thing, work, sculpture]
    return model
  }
}
