import Foundation
import Synchronization

/// The identity of a managed object, equal in every context and coordinator over one store.
///
/// Immutable; may be read and passed on any thread. Saving an object with a temporary ID leaves that ID
/// unchanged and gives the object another, permanent ID.
///
/// ```swift
/// let id = book.objectID
/// let copy = background.object(with: id)  // to be used on the queue of that context
/// ```
open class NSManagedObjectID: NSObject, NSCopying, NSFetchRequestResult, @unchecked Sendable {
  // Unchecked: immutable except `_permanent`, which is atomic and set once.
  package final let space: ObjectIDSpace
  /// The primary key, or the serial number of a temporary ID.
  package final let reference: Int64
  /// The permanent ID of a temporary one, once known; retained.
  private let _permanent = Atomic<UnsafeRawPointer?>(nil)

  private static let _nextTemporary = Atomic<Int64>(1)

  /// A permanent ID.
  package init(_ key: ObjectKey) {
    precondition(key.space.store != nil)
    space = key.space
    reference = key.reference
  }

  /// Creates an ID without an object, for test doubles that override an ID's members. Core Data creates all
  /// other IDs.
  public override init() {
    space = .missing
    reference = Self._nextTemporary.wrappingAdd(1, ordering: .relaxed).oldValue
  }

  /// Creates a new temporary ID; `space` has no store.
  package init(temporaryIn space: ObjectIDSpace) {
    precondition(space.store == nil)
    self.space = space
    reference = Self._nextTemporary.wrappingAdd(1, ordering: .relaxed).oldValue
  }

  deinit {
    if let known = _permanent.load(ordering: .acquiring) {
      Unmanaged<NSManagedObjectID>.fromOpaque(known).release()
    }
  }

  /// The object's entity.
  open var entity: NSEntityDescription { space.entity }

  /// Whether the object has never been saved or given a permanent ID.
  ///
  /// ```swift
  /// if book.objectID.isTemporaryID { try context.obtainPermanentIDs(for: [book]) }
  /// ```
  open var isTemporaryID: Bool { isTemporary }

  /// Whether the space has no store.
  @inline(__always) package final var isTemporary: Bool { space.number == 0 }

  /// The object's store; nil for a temporary ID, or after the store was removed.
  open var persistentStore: NSPersistentStore? { canonical.space.persistentStore }

  /// The ID as a URI: `x-coredata://<store UUID>/<Entity>/p<key>`, or `x-coredata:///<Entity>/t<number>` for
  /// a temporary one.
  ///
  /// In a custom store the key is the text of the reference object.
  ///
  /// A permanent ID's URI may be stored; a coordinator with the same store converts it back to the ID.
  ///
  /// ```swift
  /// let text = book.objectID.uriRepresentation().absoluteString
  /// let id = URL(string: text).flatMap(coordinator.managedObjectID(forURIRepresentation:))
  /// ```
  open func uriRepresentation() -> URL { uri }

  /// The permanent ID of a temporary one, once known; nil for a permanent ID.
  @inline(__always)
  private var _learned: NSManagedObjectID? {
    guard let known = _permanent.load(ordering: .acquiring) else { return nil }
    return Unmanaged<NSManagedObjectID>.fromOpaque(known).takeUnretainedValue()
  }

  /// The value by which identities are compared: key, and store with root entity, of the permanent ID if
  /// there is one. No reference counting.
  @inline(__always) package final var identity: (reference: Int64, space: UInt64) {
    if isTemporary, let known = _permanent.load(ordering: .acquiring) {
      return Unmanaged<NSManagedObjectID>.fromOpaque(known)._withUnsafeGuaranteedRef {
        ($0.reference, $0.space.number)
      }
    }
    return (reference, space.number)
  }

  /// Whether this ID is permanent, or a temporary one with a known permanent ID.
  @inline(__always)
  package final var isPermanent: Bool { !isTemporary || _permanent.load(ordering: .acquiring) != nil }

  /// The permanent ID: this one, or a temporary one's; nil before the first save.
  @inline(__always)
  package final var permanent: NSManagedObjectID? { isTemporary ? _learned : self }

  /// The permanent ID if there is one, otherwise this ID.
  package final var canonical: NSManagedObjectID { isTemporary ? _learned ?? self : self }

  /// Key of the stored object; nil without one.
  @inline(__always)
  package final var key: ObjectKey? {
    guard isTemporary else { return ObjectKey(space: space, reference: reference) }
    return _learned.map { ObjectKey(space: $0.space, reference: $0.reference) }
  }

  /// Links a temporary ID to its permanent one. Must precede COMMIT, so that a reader that sees both the row
  /// in the store and the unsaved object in an overlay recognizes them as one.
  package final func link(to permanent: NSManagedObjectID) {
    guard isTemporary else { return }
    let known = Unmanaged.passRetained(permanent)
    LinkedIDs.link {
      let (isFirst, _) = _permanent.compareExchange(
        expected: nil, desired: UnsafeRawPointer(known.toOpaque()), ordering: .acquiringAndReleasing)
      if !isFirst { known.release() }
    }
  }

  /// Returns this ID, which is immutable.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// The ID as a URI.
  open override var description: String { uriRepresentation().absoluteString }

  open override var hash: Int {
    // `Hasher` mixes the bits.
    Int(truncatingIfNeeded: reference) &* 31 &+ space.layout.rootNumber
  }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let object,
      let other = BoxedReference.exactly(object, NSManagedObjectID.self) ?? (object as? NSManagedObjectID)
    else { return false }
    if self === other { return true }
    guard reference == other.reference, isTemporary == other.isTemporary else { return false }
    if isTemporary { return true }
    return ObjectKey(space: space, reference: reference)
      == ObjectKey(space: other.space, reference: other.reference)
  }
}
