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

  /// How the coordinator's stores pack the rows of new objects, by entity number - 1, and the version of the list of
  /// stores.
  private var _draftFormats: (formats: [RowFormat?], storesVersion: Int) = ([], -1)

  /// The format of a new object's values, as its store packs them; nil if it does not.
  mutating func draftFormat(of layout: PropertyLayout, in coordinator: NSPersistentStoreCoordinator)
    -> RowFormat?
  {
    let version = coordinator.storesVersion.load(ordering: .acquiring)
    if _draftFormats.storesVersion != version { _draftFormats = (coordinator.draftFormats, version) }
    let index = layout.entityNumber - 1
    return index < _draftFormats.formats.count ? _draftFormats.formats[index] : nil
  }

  /// Drops everything memoized from the coordinator when it changes.
  mutating func forgetModel() {
    model = nil
    entity = nil
    _draftFormats = ([], -1)
  }
}
