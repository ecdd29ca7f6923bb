import CoreDataModelSchema
import Foundation
import Synchronization

/// A model in use, prepared for the engine: slots instead of names, and all derived data computed once.
package final class FrozenModel: Reachable, @unchecked Sendable {
  // Unchecked: all members are immutable, as are the descriptions, which trap on any change from here on.
  let weakAnchor = WeakAnchor()
  package let layout: ModelLayout
  /// The entities sorted by number, starting at 1.
  package let entities: [NSEntityDescription]
  let entitiesByName: [String: NSEntityDescription]
  package let versionHashes: [String: Data]

  fileprivate init(_ layout: ModelLayout, entities: [NSEntityDescription], versionHashes: [String: Data]) {
    self.layout = layout
    self.entities = entities
    self.versionHashes = versionHashes
    entitiesByName = Dictionary(
      zip(layout.layouts.map(\.entityName), entities), uniquingKeysWith: { first, _ in first })
    weakAnchor.tie(to: self)
  }

  deinit { weakAnchor.cut() }

  /// Warnings, one per transformer, for attributes whose value transformer is not registered, which it must
  /// be before a store is loaded.
  var missingTransformers: [String] {
    var seen = Set<String>()
    return layout.layouts.flatMap { layout in
      layout.transformableSlots.compactMap { slot -> String? in
        guard let name = layout.slots[slot].attribute?.valueTransformerName, !name.isEmpty,
          ValueTransformer.registered(NSValueTransformerName(name)) == nil, seen.insert(name).inserted
        else { return nil }
        return
          "no value transformer '\(name)' is registered for '\(layout.entityName).\(layout.slots[slot].name)'. Register it "
          + "before the store is loaded; until then its values show as nil and cannot be saved."
      }
    }
  }

  /// Returns the entity with this number.
  func entity(numbered number: Int) -> NSEntityDescription { entities[number - 1] }
}

/// An entity in use, prepared for the engine.
final class FrozenEntity: @unchecked Sendable {
  // Unchecked: all members are immutable, as are the descriptions, which trap on any change from here on.
  let layout: PropertyLayout
  /// Identifies the frozen entity in caches of slots.
  let serial = FrozenEntity._serials.wrappingAdd(1, ordering: .relaxed).newValue
  private static let _serials = Atomic<UInt32>(0)
  /// Class of the entity's objects.
  let objectClass: NSManagedObject.Type
  /// Values of a new object by slot.
  let defaults: [Value]
  /// Slots with a value in a new object.
  let defaultedSlots: [Int]
  /// Transient slots among these: a fetched object's row lacks their values.
  let transientDefaults: [Int]
  /// The description of each slot's property; nil for hidden slots.
  let properties: [NSPropertyDescription?]
  /// The coding of each slot's values; nil for relationships.
  let codings: [AttributeCoding?]
  let propertiesByName: [String: NSPropertyDescription]
  let versionHash: Data
  let validation: ValidationPlan
  /// Transient attributes whose changes do not make an object dirty.
  let ignoredChanges: SlotSet
  /// Whether there are any.
  let ignoresChanges: Bool
  /// Whether objects are of a custom class, which may override hooks.
  let hasOwnClass: Bool
  /// The save hooks that this class overrides.
  let hooks: ClassHooks

  fileprivate init(_ entity: NSEntityDescription, layout: PropertyLayout, versionHash: Data) {
    self.layout = layout
    self.versionHash = versionHash
    objectClass =
      entity.objectClass
      ?? EntityClass.resolve(
        entity.managedObjectClassName, for: layout.entityName, warns: !(entity.owner?.isFromStore ?? false))
    hasOwnClass = objectClass != NSManagedObject.self
    hooks = ClassHooks(of: objectClass)
    let byName = entity.propertiesByName
    propertiesByName = byName
    properties = layout.slots.map { $0.isHidden ? nil : byName[$0.name] }
    validation = ValidationPlan(layout, properties)
    let type = objectClass
    ignoredChanges = SlotSet(
      layout.slots.indices.filter { slot in
        layout.slots[slot].isTransient && layout.slots[slot].isAttribute && type != NSManagedObject.self
          && type.contextShouldIgnoreChanges(forKey: layout.slots[slot].name)
      })
    ignoresChanges = !ignoredChanges.isEmpty
    let codings = layout.slots.map { slot in
      slot.attribute.map { AttributeCoding($0, entityName: layout.entityName) }
    }
    self.codings = codings
    let defaults = zip(properties, codings).map { property, coding -> Value in
      guard let coding, let attribute = property as? NSAttributeDescription,
        let value = attribute.defaultValue
      else {
        return .null
      }
      do {
        return try coding.value(from: value)
      } catch {
        Console.warnOnce(
          about: "default of \(layout.entityName).\(attribute.name)",
          "the default value of '\(layout.entityName).\(attribute.name)' is left out: \(error)")
        return .null
      }
    }
    self.defaults = defaults
    defaultedSlots = defaults.indices.filter { !defaults[$0].isNull }
    transientDefaults = defaultedSlots.filter { layout.slots[$0].isTransient }
  }
}

extension NSManagedObjectModel {
  /// Returns the frozen model. The first call makes the model immutable; later calls return the same object.
  /// Any thread.
  ///
  /// - Throws: `ModelLayoutError` for an invalid model, which stays editable.
  package final func frozen() throws -> FrozenModel {
    try frozenModel.withLock { known in
      if let known { return known }
      let made = try _freeze()
      known = made
      return made
    }
  }

  private func _freeze() throws -> FrozenModel {
    let layout = try knownLayout ?? ModelLayout(ModelSchema(self))
    let hashes = layout.versionHashes.mapValues { Data($0) }
    let byName = Dictionary(entities.map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    let ordered = layout.layouts.map { byName[$0.entityName]! }
    let frozen = zip(ordered, layout.layouts).map { entity, layout in
      FrozenEntity(entity, layout: layout, versionHash: hashes[layout.entityName]!)
    }
    // Nothing throws from here on. Initialize everything lazy now, because many threads will read it.
    for (entity, frozen) in zip(ordered, frozen) {
      for property in entity.ownProperties { property._prepareToFreeze() }
      for index in entity.indexes { _ = index.partialIndexPredicate }
      for property in entity.ownProperties { property.isFrozen = true }
      for index in entity.indexes { index.isFrozen = true }
      entity.frozen = frozen
    }
    return FrozenModel(layout, entities: ordered, versionHashes: hashes)
  }
}

extension NSPropertyDescription {
  fileprivate final func _prepareToFreeze() {
    switch self {
    case let derived as NSDerivedAttributeDescription: _ = derived.derivationExpression
    case let fetched as NSFetchedPropertyDescription: _ = fetched.fetchRequest
    case let composite as NSCompositeAttributeDescription:
      for element in composite.elements {
        element._prepareToFreeze()
        element.isFrozen = true
      }
    default: break
    }
  }
}

extension NSEntityDescription {
  /// The frozen entity; freezes the model on first use.
  @inline(__always) final var shape: FrozenEntity { shapeReference.takeUnretainedValue() }

  /// The frozen entity, which the entity retains, for reading without reference counting.
  @inline(__always) final var shapeReference: Unmanaged<FrozenEntity> {
    frozenReference ?? .passUnretained(_freeze())
  }

  @inline(never) private final func _freeze() -> FrozenEntity {
    guard let owner else {
      programmerError("entity '\(name ?? "?")' belongs to no model; set it among a model's entities first.")
    }
    do {
      _ = try owner.frozen()
    } catch {
      programmerError("the model cannot be used: \(error)")
    }
    guard let frozen else { programmerError("entity '\(name ?? "?")' is not among its model's entities.") }
    return frozen
  }

  /// The slots.
  final var layout: PropertyLayout { shape.layout }

  /// Represents the entity of an object that was created without one: no name, no properties, no model.
  package nonisolated(unsafe) static let missing: NSEntityDescription = {
    // Unsafe: frozen here, hence immutable.
    let template = NSEntityDescription()
    template.name = "none"
    let model = NSManagedObjectModel()
    model.entities = [template]
    let entity = NSEntityDescription()
    entity.frozen = template.shape
    return entity
  }()
}

extension NSManagedObjectModel {
  /// Whether an entity has the given number or is one of its subentities.
  final func isKind(_ layout: PropertyLayout, ofEntityNumbered number: Int) -> Bool {
    guard let frozen = try? frozen() else { return false }
    return frozen.layout.layout(numbered: number).family.contains(layout.entityNumber)
  }
}

extension FrozenEntity {
  /// Returns the default values of a new object, in a packed row if `format` is given and can represent them.
  func defaultRow(packed format: RowFormat?) -> Row {
    var row =
      format.map { Row(draft: $0, version: 1) } ?? Row(count: layout.slots.count, version: 1)
    for slot in defaultedSlots { row.set(defaults[slot], at: slot) }
    return row
  }
}
