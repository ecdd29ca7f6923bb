import CoreDataModelSchema
import Synchronization

/// One store as far as object identity goes: its UUID.
///
/// Two coordinators over the same file share one instance, so that an ID made by either is equal to the
/// other's. Interned for the life of the process; a process opens few stores.
package final class StoreKey: Sendable {
  package let identifier: String
  /// Tells the store from every other of the process; from 1.
  package let number: UInt32
  private static let _lastNumber = Atomic<UInt32>(0)

  /// Numbers for the references that the store, if it is a custom one, has chosen.
  let references = ObjectReferences()

  private init(_ identifier: String) {
    self.identifier = identifier
    number = Self._lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
  }

  private static let _interned = Mutex<[String: StoreKey]>([:])

  package static func named(_ identifier: String) -> StoreKey {
    _interned.withLock { keys in
      if let key = keys[identifier] { return key }
      let key = StoreKey(identifier)
      keys[identifier] = key
      return key
    }
  }
}

/// The object IDs of one entity in one store of one coordinator (or of no store yet: temporary ones).
///
/// What an ID needs to know beside its number, in one object, so that an ID costs one retain and a reference
/// in a Row two words.
package final class ObjectIDSpace: @unchecked Sendable {
  // Unchecked: all members are immutable; the description is frozen before the first space is made, and a
  // lifeline may be read on any thread.
  package let layout: PropertyLayout
  package let entity: NSEntityDescription
  /// Nil for temporary IDs.
  package let store: StoreKey?
  /// Store and root entity in one word: what keys are compared by. 0 for temporary IDs.
  package let number: UInt64
  @Loose private(set) var persistentStore: NSPersistentStore?
  /// What the keys stand for, in a store that chooses references of its own.
  let references: ObjectReferences?

  /// The space of IDs that no context has made.
  package static let missing = ObjectIDSpace(
    layout: NSEntityDescription.missing.shape.layout, entity: .missing, store: nil, persistentStore: nil)

  package convenience init(
    layout: PropertyLayout, entity: NSEntityDescription, store: StoreKey?, persistentStore: NSPersistentStore?
  ) {
    self.init(
      layout: layout, entity: entity, store: store, persistentStore: persistentStore, references: nil)
  }

  init(
    layout: PropertyLayout, entity: NSEntityDescription, store: StoreKey?,
    persistentStore: NSPersistentStore?, references: ObjectReferences?
  ) {
    self.references = references
    self.layout = layout
    self.entity = entity
    self.store = store
    number = store.map { UInt64($0.number) << 32 | UInt64(layout.rootNumber) } ?? 0
    _persistentStore = Loose(wrappedValue: persistentStore)
  }
}

/// Identity of a stored object: entity, store and primary key. Equal by store, root entity and key.
package struct ObjectKey: Hashable, Sendable {
  package let space: ObjectIDSpace
  package let reference: Int64

  @inline(__always)
  package init(space: ObjectIDSpace, reference: Int64) {
    self.space = space
    self.reference = reference
  }

  package static func == (left: ObjectKey, right: ObjectKey) -> Bool {
    left.reference == right.reference
      && (left.space === right.space || left.space.number == right.space.number)
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(reference)
    hasher.combine(space.number)
  }
}
