import CoreDataModelSchema
import Foundation

/// Hooks and validation before a save is collected.
struct SaveHooks {
  let context: NSManagedObjectContext

  init(_ context: NSManagedObjectContext) { self.context = context }

  /// Calls `willSave` until it makes no further changes, then validates, and repeats if validation made
  /// changes.
  func run() throws {
    defer { context.saving.primitives = [:] }
    var passes = 0
    _materializeHooked()
    var objects = _objectsToSave()
    if objects.allSatisfyUnretained({ $0._shape.hooks.isDisjoint(with: .beforeSaving) }) {
      // No object has hooks: validate once, and only where the model has rules.
      try _validate(objects, onlyWhereRulesAre: true)
      return
    }
    while true {
      passes += 1
      if passes > 1000 {
        programmerError(
          "\(context.label) could not settle its changes within 1000 passes: a willSave, validation or notification handler keeps "
            + "changing objects. Compare before assigning there.")
      }
      for object in objects { object._state.beginHookPass() }
      _callWillSave(objects)
      context.processPendingChanges()
      var touched = _objectsToSave().filter { $0._flags.contains(.touchedInSave) }
      if touched.isEmpty {
        try _validate(_objectsToSave())
        context.processPendingChanges()
        touched = _objectsToSave().filter { $0._flags.contains(.touchedInSave) }
        if touched.isEmpty { return }
      }
      objects = touched
    }
  }

  private func _callWillSave(_ objects: [NSManagedObject]) {
    context.saving.isCallingWillSave = true
    defer { context.saving.isCallingWillSave = false }
    for object in objects where object._shape.hooks.contains(.willSave) {
      if !context.saving.primitives.isEmpty { context.saving.primitives[ObjectIdentifier(object)] = nil }
      object.willSave()
    }
  }

  /// Creates the objects for entries from children whose class overrides hooks: these take part in every save
  /// at every level.
  private func _materializeHooked() {
    guard context.overlay.layers.contains(where: \.hasHooks) else { return }
    context.overlay.layers.composedEntries.forEachUnretained { entry in
      if entry.kind != .insertedThenDeleted, !entry.id.entity.shape.hooks.isEmpty {
        _ = context.links.materialize(entry)
      }
    }
  }

  /// Returns this context's changed objects, and those from children whose class overrides hooks.
  private func _objectsToSave() -> [NSManagedObject] {
    var objects = context.unsaved.changed
    if context.overlay.layers.contains(where: \.hasHooks) {
      context.table.forEach { object in
        if object._flags.contains(.adopted), !object._flags.contains(.listed), !object._shape.hooks.isEmpty {
          objects.append(object)
        }
      }
    }
    return objects
  }

  /// - Parameter onlyWhereRulesAre: Whether to skip objects without hooks for which the model has no rule.
  private func _validate(_ objects: [NSManagedObject], onlyWhereRulesAre: Bool = false) throws {
    var errors: [any Error] = []
    var gone: [NSManagedObject] = []
    objects.forEachUnretained { object in
      if onlyWhereRulesAre, object._shape.validation.isEmpty, !object._flags.contains(.deleted) { return }
      let wasDeleted = object._flags.contains(.deleted)
      do {
        if wasDeleted {
          if !object._flags.contains(.inserted) { try object.validateForDelete() }
        } else if object.isInserted {
          try object.validateForInsert()
        } else {
          try object.validateForUpdate()
        }
      } catch {
        // The row is gone, and validation saw only nil values: ignore its errors.
        if wasDeleted || !object._flags.contains(.deleted) { errors += ValidationErrors.flatten(error) }
      }
      if !wasDeleted, object._flags.contains(.deleted) { gone.append(object) }
    }
    try ValidationErrors.throwIfAny(errors)
    // Cut unsaved references to the vanished objects before the save is collected. Their values are nil, as
    // in Core Data, so no delete rule finds anything to follow.
    for object in gone { context.links.cutReferences(to: object, cascading: false) }
    if !gone.isEmpty { context.processPendingChanges() }
  }
}
