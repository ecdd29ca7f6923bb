import CoreDataModelSchema

/// Values memoized from a context's coordinator, its model and its stores.
struct ModelMemo {
  /// The coordinator's model, once used.
  var model: FrozenModel?
  /// The entity that was looked up last by its class.
  private var _entity: NSEntityDescription?
  /// The last ID space found to belong to the coordinator's stores, and the version of the list of stores at that time.
  var localSpace: (space: ObjectIDSpace?, storesVersion: Int) = (nil, 0)
  /// The ID space of temporary IDs by entity number - 1.
  private var _temporarySpaces: [ObjectIDSpace?] = []

  /// The ID space of an entity's temporary IDs.
  mutating func temporarySpace(_ entity: NSEntityDescription, _ layout: PropertyLayout) -> ObjectIDSpace {
    let index = layout.entityNumber - 1
    if index < _temporarySpaces.count, let space = _temporarySpaces[index] { return space }
    while _temporarySpaces.count <= index { _temporarySpaces.append(nil) }
    let space = ObjectIDSpace(layout: layout, entity: entity, store: nil, persistentStore: nil)
    _temporarySpaces[index] = space
    return space
  }

  /// The default values of new objects as their store packs them.
  private enum Template {
    case packed(Row)
    /// Defaults that the format cannot represent, or a store that does not pack the entity's rows.
    case unpacked
  }

  /// By entity number - 1; nil until an object of the entity is created.
  private var _templates: [Template?] = []
  /// The version of the list of stores that the templates belong to.
  private var _templatesVersion = -1

  /// A new object's default values, packed as its store does it; nil if the store does not pack them.
  mutating func newDraft(of shape: FrozenEntity, in coordinator: NSPersistentStoreCoordinator) -> Row? {
    let version = coordinator.storesVersion.load(ordering: .acquiring)
    if _templatesVersion != version { (_templates, _templatesVersion) = ([], version) }
    let index = shape.layout.entityNumber - 1
    while _templates.count <= index { _templates.append(nil) }
    if _templates[index] == nil {
      let row = coordinator.draftFormat(of: shape.layout).map { shape.defaultRow(packed: $0) }
      _templates[index] = row.flatMap { $0.isPacked ? .packed($0) : nil } ?? .unpacked
    }
    guard case .packed(let row) = _templates[index] else { return nil }
    return Row(draftLike: row)
  }

  /// Drops everything memoized from the coordinator when it changes.
  mutating func forgetModel() {
    model = nil
    _entity = nil
    _templatesVersion = -1
  }

  /// Returns the entity of class `type` in the context's model. Traps if there is none, or more than one.
  mutating func onlyEntity(
    of type: NSManagedObject.Type, in context: NSManagedObjectContext
  ) -> NSEntityDescription {
    if let known = _entity, known.shape.objectClass == type { return known }
    let entity = Self._onlyEntity(of: type, in: context)
    _entity = entity
    return entity
  }

  private static func _onlyEntity(
    of type: NSManagedObject.Type, in context: NSManagedObjectContext
  ) -> NSEntityDescription {
    guard let coordinator = context.persistentStoreCoordinator else {
      programmerError("\(context.label) has no coordinator, so that the entity of \(type) cannot be found.")
    }
    let found = coordinator.model.entities.filter { $0.shape.objectClass == type }
    guard found.count == 1 else {
      programmerError(
        found.isEmpty
          ? "no entity of the model has the class \(type). Set managedObjectClassName of its entity."
          : "several entities have the class \(type): \(found.compactMap(\.name).joined(separator: ", ")). Name one with "
            + "init(entity:insertInto:).")
    }
    return found[0]
  }
}
