import CoreDataModelSchema

/// Values memoized from a context's coordinator, its model and its stores.
struct ModelMemo {
  /// The coordinator's model, once used.
  var model: FrozenModel?
  /// The class last looked up and its entity.
  var entity: NSEntityDescription?
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

  /// Drops everything memoized from the coordinator when it changes.
  mutating func forgetModel() {
    model = nil
    entity = nil
  }
}
