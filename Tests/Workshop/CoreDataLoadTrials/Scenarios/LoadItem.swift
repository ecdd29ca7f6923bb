import CoreData
import CoreDataStackShootout
import Synchronization

/// The rows of all scenarios but SwiftData's: things with a name, by which a list sorts them.
final class LoadItem: NSManagedObject {
  private static let _nameKey = ManagedKey<String?>("name")
  private static let _identifierKey = ManagedKey<Int64>("identifier")
  private static let _saverKey = ManagedKey<Int64>("saver")
  private static let _revisionKey = ManagedKey<Int64>("revision")
  private static let _noteKey = ManagedKey<String?>("note")
  private static let _live = Atomic<Int>(0)

  /// The number of items in memory, in all contexts.
  static var liveCount: Int { _live.load(ordering: .relaxed) }

  override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    super.init(entity: entity, insertInto: context)
    Self._live.add(1, ordering: .relaxed)
  }

  deinit { Self._live.subtract(1, ordering: .relaxed) }

  /// What lists sort by.
  var name: String? {
    get { Self._nameKey[self] }
    set { Self._nameKey[self] = newValue }
  }
  var identifier: Int64 {
    get { Self._identifierKey[self] }
    set { Self._identifierKey[self] = newValue }
  }
  /// The number of the saver that wrote the item last; -1 if that counts its saves in no track.
  var saver: Int64 {
    get { Self._saverKey[self] }
    set { Self._saverKey[self] = newValue }
  }
  /// The number of that save among those of its saver.
  var revision: Int64 {
    get { Self._revisionKey[self] }
    set { Self._revisionKey[self] = newValue }
  }
  var note: String? {
    get { Self._noteKey[self] }
    set { Self._noteKey[self] = newValue }
  }

  /// A request for all items, by name.
  static func all() -> NSFetchRequest<LoadItem> {
    let request = NSFetchRequest<LoadItem>(entityName: LoadModel.entityName)
    request.sortDescriptors = [
      NSSortDescriptor(key: "name", ascending: true), NSSortDescriptor(key: "identifier", ascending: true),
    ]
    return request
  }
}

/// The model of all scenarios but SwiftData's.
enum LoadModel {
  static let entityName = "Item"

  /// A new model; each coordinator has its own, as in programs.
  static func make() -> NSManagedObjectModel {
    let (name, identifier) = (
      NSAttributeDescription(mandatory: "name", .stringAttributeType, default: ""),
      NSAttributeDescription(mandatory: "identifier", .integer64AttributeType, default: -1)
    )
    let entity = NSEntityDescription()
    entity.name = entityName
    entity.managedObjectClassName = NSStringFromClass(LoadItem.self)
    entity.properties = [
      name, identifier, NSAttributeDescription(mandatory: "saver", .integer64AttributeType, default: -1),
      NSAttributeDescription(mandatory: "revision", .integer64AttributeType, default: -1),
      NSAttributeDescription(mandatory: "note", .stringAttributeType, default: ""),
    ]
    entity.indexes = [name, identifier].map { property in
      NSFetchIndexDescription(
        name: "by" + property.name.capitalized,
        elements: [NSFetchIndexElementDescription(property: property, collationType: .binary)])
    }
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return model
  }
}
