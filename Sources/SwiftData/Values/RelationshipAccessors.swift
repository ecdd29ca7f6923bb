import CoreData

/// A required to-one relationship.
final class ToOneAccessor<Model: PersistentModel>: ValueAccessor<Model>, @unchecked Sendable {
  override var destination: (any PersistentModel.Type)? { Model.self }
  override func copy() -> PropertyAccessor { ToOneAccessor(name) }

  override func value(_ object: NSManagedObject, _ storage: ModelStorage) -> Model {
    guard let target = object.target(at: slot) ?? object.unknownTarget(at: slot) else {
      programmerError(
        "'\(storage.modelClass.name).\(name)' leads to no model: it was deleted, or none was ever saved there. Declare "
          + "it as \(Model.self)? if it may be missing.")
    }
    return storage.model(of: target, as: Model.self)
  }

  override func set(_ value: Model, _ object: NSManagedObject, _ storage: ModelStorage) {
    object.setTarget(storage.object(of: value, for: name), at: slot)
  }

  override func placeholder(_ number: inout Int, _ recording: KeyPathRecording) -> Model? {
    recording.placeholder(Model.self)
  }
}

/// An optional to-one relationship.
final class OptionalToOneAccessor<Model: PersistentModel>: ValueAccessor<Model?>, @unchecked Sendable {
  override var destination: (any PersistentModel.Type)? { Model.self }
  override var isOptional: Bool { true }
  override func copy() -> PropertyAccessor { OptionalToOneAccessor(name) }

  override func value(_ object: NSManagedObject, _ storage: ModelStorage) -> Model? {
    object.target(at: slot).map { storage.model(of: $0, as: Model.self) }
  }

  override func set(_ value: Model?, _ object: NSManagedObject, _ storage: ModelStorage) {
    object.setTarget(value.map { storage.object(of: $0, for: name) }, at: slot)
  }

  override func fill(_ value: Any, _ object: NSManagedObject, _ storage: ModelStorage) {
    if let model = flattened(value) as? Model { set(model, object, storage) }
  }

  override func absent(_ model: String) -> Model? { nil }

  override func placeholder(_ number: inout Int, _ recording: KeyPathRecording) -> Model?? {
    .some(recording.placeholder(Model.self))
  }
}

/// A to-many relationship.
final class ToManyAccessor<Model: PersistentModel>: ValueAccessor<[Model]>, @unchecked Sendable {
  override var destination: (any PersistentModel.Type)? { Model.self }
  override var isToMany: Bool { true }
  override func copy() -> PropertyAccessor { ToManyAccessor(name) }

  override func value(_ object: NSManagedObject, _ storage: ModelStorage) -> [Model] {
    object.memberList(at: slot).map { storage.model(of: $0, as: Model.self) }
  }

  override func set(_ value: [Model], _ object: NSManagedObject, _ storage: ModelStorage) {
    object.setMemberList(value.map { storage.object(of: $0, for: name) }, at: slot)
  }

  override func fill(_ value: Any, _ object: NSManagedObject, _ storage: ModelStorage) {
    _addMembers(value as? [Model] ?? [], object, storage)
  }

  override func absent(_ model: String) -> [Model] { [] }
  override func placeholder(_ number: inout Int, _ recording: KeyPathRecording) -> [Model]? { [] }
}

/// An optional to-many relationship, of which nil and no members are the same to a store.
final class OptionalToManyAccessor<Model: PersistentModel>: ValueAccessor<[Model]?>, @unchecked Sendable {
  override var destination: (any PersistentModel.Type)? { Model.self }
  override var isToMany: Bool { true }
  override var isOptional: Bool { true }
  override func copy() -> PropertyAccessor { OptionalToManyAccessor(name) }

  override func value(_ object: NSManagedObject, _ storage: ModelStorage) -> [Model]? {
    object.memberList(at: slot).map { storage.model(of: $0, as: Model.self) }
  }

  override func set(_ value: [Model]?, _ object: NSManagedObject, _ storage: ModelStorage) {
    object.setMemberList((value ?? []).map { storage.object(of: $0, for: name) }, at: slot)
  }

  override func fill(_ value: Any, _ object: NSManagedObject, _ storage: ModelStorage) {
    _addMembers(flattened(value) as? [Model] ?? [], object, storage)
  }

  override func absent(_ model: String) -> [Model]? { nil }

  override func placeholder(_ number: inout Int, _ recording: KeyPathRecording) -> [Model]?? { .some([]) }
}

extension PropertyAccessor {
  /// Adds models to a to-many relationship.
  fileprivate func _addMembers<Model: PersistentModel>(
    _ models: [Model], _ object: NSManagedObject, _ storage: ModelStorage
  ) {
    guard !models.isEmpty else { return }
    let known = object.memberList(at: slot)
    object.setMemberList(known + models.map { storage.object(of: $0, for: name) }, at: slot)
  }
}
