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

  /// How the coordinator's stores pack the rows of new objects, by entity number - 1.
  private var _draftFormats: [RowFormat?] = []
  /// The entity of the last new object, and its default values in that format.
  private var _template: (shape: ObjectIdentifier, row: Row?)?
  /// The version of the list of stores that both belong to.
  private var _draftsVersion = -1

  /// A new object's default values, packed as its store does it; nil if the store does not pack them.
  mutating func newDraft(of shape: FrozenEntity, in coordinator: NSPersistentStoreCoordinator) -> Row? {
    let version = coordinator.storesVersion.load(ordering: .acquiring)
    if let _template, _template.shape == ObjectIdentifier(shape), _draftsVersion == version {
      return _template.row.map { Row(draftLike: $0) }
    }
    if _draftsVersion != version { (_draftFormats, _draftsVersion) = (coordinator.draftFormats, version) }
    let index = shape.layout.entityNumber - 1
    let format = index < _draftFormats.count ? _draftFormats[index] : nil
    let row = format.map { shape.defaultRow(packed: $0) }
    // Defaults that cannot be packed make every row one of Values.
    let template = row.flatMap { $0.isPacked ? $0 : nil }
    _template = (ObjectIdentifier(shape), template)
    return template.map { Row(draftLike: $0) } ?? row
  }

  /// Drops everything memoized from the coordinator when it changes.
  mutating func forgetModel() {
    model = nil
    entity = nil
    (_template, _draftsVersion) = (nil, -1)
  }
}
