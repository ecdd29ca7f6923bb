import CoreDataModelSchema
import Synchronization

/// The identity of a store in object IDs: its UUID.
///
/// Coordinators over the same file share one instance, so that their IDs are equal. Interned as long as a store or an ID
/// refers to it.
package final class StoreKey: Reachable, Sendable {
  package let identifier: String
  /// Identifies the key in the process; starts at 1.
  package let number: UInt32
  private static let _lastNumber = Atomic<UInt32>(0)

  /// Numbers for the reference objects of a custom store.
  let references = ObjectReferences()
  let weakAnchor = WeakAnchor()

  private init(_ identifier: String) {
    self.identifier = identifier
    number = Self._lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
    weakAnchor.tie(to: self)
  }

  deinit {
    weakAnchor.cut()
    Self._interned.withLock { keys in
      // Another key may have taken the place meanwhile.
      if keys[identifier]?.number == number { keys[identifier] = nil }
    }
  }

  private struct Entry: Sendable {
    let number: UInt32
    @Loose var key: StoreKey?
  }

  private static let _interned = Mutex<[String: Entry]>([:])

  package static func named(_ identifier: String) -> StoreKey {
    _interned.withLock { keys in
      if let key = keys[identifier]?.key { return key }
      let key = StoreKey(identifier)
      keys[identifier] = Entry(number: key.number, key: key)
      return key
    }
  }
}

/// The object IDs of one entity in one store of one coordinator (or without a store: temporary ones).
///
/// Holds everything an ID needs except its number in one object, so that an ID costs one retain and a
/// reference in a Row two words.
package final class ObjectIDSpace: @unchecked Sendable {
  // Unchecked: all members are immutable; the description is frozen before the first space is created, and a
  // weakAnchor may be read on any thread.
  package let layout: PropertyLayout
  package let entity: NSEntityDescription
  /// Nil for temporary IDs.
  package let store: StoreKey?
  /// Store and root entity in one word, for comparing keys. 0 for temporary IDs.
  package let number: UInt64
  @Loose private(set) var persistentStore: NSPersistentStore?
  /// The reference objects behind the keys of a custom store.
  let references: ObjectReferences?

  /// The space of IDs that no context created.
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

/// The identity of a stored object: entity, store and primary key. Equal by store, root entity and key.
package struct ObjectKey: Hashable, Sendable {
  package let space: ObjectIDSpace
  package let reference: Int64

  @inlinable @inline(__always)
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
