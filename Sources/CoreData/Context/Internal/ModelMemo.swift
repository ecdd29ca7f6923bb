import CoreDataModelSchema

/// What a context memoizes of its coordinator's model and stores.
struct ModelMemo {
  /// The coordinator's model once it is in use.
  var model: FrozenModel?
  /// The entity of the class that was last looked up.
  var entity: NSEntityDescription?
  /// The last ID space found to be of the coordinator's own stores, and the version of its stores then.
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

  /// Drops what depends on the coordinator, when it changes.
  mutating func forgetModel() {
    model = nil
    entity = nil
  }
}
