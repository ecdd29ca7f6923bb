import CoreData
import CoreDataModelSchema
import Foundation

/// The changes that a save would write.
struct EditChanges: Sendable {
  enum Kind: String, Sendable { case inserted, updated, deleted }

  /// A property before and after; nil for nil.
  struct Difference: Sendable {
    let property: String
    let before: String?
    let after: String?
  }

  struct Object: Sendable {
    let kind: Kind
    let target: EditSession.Target
    let name: String
    let entity: String
    let differences: [Difference]

    /// On the context's queue.
    init(
      _ object: NSManagedObject, _ kind: Kind, _ target: EditSession.Target, name: String,
      _ layout: ModelLayout,
      _ naming: (NSManagedObject) -> String
    ) {
      self.kind = kind
      self.target = target
      self.name = name
      entity = object.entity.name ?? ""
      guard kind != .deleted, let entity = layout.layoutsByName[entity] else {
        differences = []
        return
      }
      let changed = object.changedValues().keys.sorted()
      let committed = kind == .inserted ? [:] : object.committedValues(forKeys: changed)
      differences = changed.compactMap { key in
        guard let number = entity.slot(named: key), !entity.slots[number].isTransient else { return nil }
        let slot = entity.slots[number]
        let after = EditForm.text(object, slot, naming)
        let before = Self._before(committed[key], slot, naming)
        // Skip unchanged values, such as an attribute without value in a new object.
        return before == after ? nil : Difference(property: key, before: before, after: after)
      }
    }

    private static func _before(
      _ value: Any?, _ slot: PropertyLayout.Slot, _ naming: (NSManagedObject) -> String
    ) -> String? {
      if let attribute = slot.attribute { return EditForm.text(value, attribute) }
      switch value {
      case let object as NSManagedObject: return naming(object)
      case let ordered as NSOrderedSet:
        return ordered.array.compactMap { ($0 as? NSManagedObject).map(naming) }.joined(separator: "\n")
      case let set as Set<NSManagedObject>: return set.map(naming).sorted().joined(separator: "\n")
      default: return slot.isToMany ? "" : nil
      }
    }
  }

  let objects: [Object]
  /// Name of the next undo step; nil if there is none.
  let undo: String?
  /// Name of the next redo step; nil if there is none.
  let redo: String?
}

/// Why a save failed: the store's objects have changed, or values that must be unique exist already.
struct EditConflicts: Error, Sendable {
  /// A property of an object in conflict, as text in three versions; nil for nil.
  struct Property: Sendable {
    let name: String
    let base: String?
    let mine: String?
    let theirs: String?
    /// Whether both sides changed it.
    let isContested: Bool
  }

  struct Object: Sendable {
    let name: String
    /// Whether the row is gone.
    let isGone: Bool
    let properties: [Property]
  }

  /// Objects that would have equal values.
  struct Constraint: Sendable {
    let properties: [String]
    let values: [String]
    let mine: [String]
    let stored: String?
  }

  let objects: [Object]
  let constraints: [Constraint]
  let message: String

  /// Nil for an error that is not a conflict. On the context's queue.
  init?(_ error: any Error, _ layout: ModelLayout, _ name: (NSManagedObject) -> String) {
    let cocoa = error as NSError
    guard let list = cocoa.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [Any] else { return nil }
    message = error.debugText
    objects = list.compactMap { $0 as? NSMergeConflict }.map { Self._object($0, layout, name) }
    constraints = list.compactMap { $0 as? NSConstraintConflict }.map { conflict in
      Constraint(
        properties: conflict.constraint,
        values: conflict.constraint.map { conflict.constraintValues[$0].map { "\($0)" } ?? "nil" },
        mine: conflict.conflictingObjects.map(name), stored: conflict.databaseObject.map(name))
    }
    if objects.isEmpty, constraints.isEmpty { return nil }
  }

  private static func _object(
    _ conflict: NSMergeConflict, _ layout: ModelLayout, _ name: (NSManagedObject) -> String
  ) -> Object {
    let object = conflict.sourceObject
    let stored = conflict.persistedSnapshot ?? conflict.cachedSnapshot
    guard conflict.newVersionNumber != 0, let stored,
      let entity = layout.layoutsByName[object.entity.name ?? ""]
    else {
      return Object(name: name(object), isGone: true, properties: [])
    }
    let base = conflict.objectSnapshot ?? [:]
    let changed = Set(object.changedValues().keys)
    let properties = entity.slots.filter {
      !$0.isHidden && !$0.isTransient && !$0.isToMany && $0.type != .transformable
    }
    .compactMap { slot -> Property? in
      let (before, theirs) = (_text(base[slot.name], slot), _text(stored[slot.name], slot))
      guard changed.contains(slot.name) || before != theirs else { return nil }
      let mine = EditForm.text(object, slot, name)
      return Property(
        name: slot.name, base: before, mine: mine, theirs: theirs,
        isContested: changed.contains(slot.name) && before != theirs && mine != theirs)
    }
    return Object(name: name(object), isGone: false, properties: properties)
  }

  private static func _text(_ value: Any?, _ slot: PropertyLayout.Slot) -> String? {
    if let id = value as? NSManagedObjectID {
      return "\(id.entity.name ?? "")/\(id.uriRepresentation().lastPathComponent)"
    }
    return slot.attribute.flatMap { EditForm.text(value, $0) }
  }
}
