import Foundation
import Synchronization

/// Identity of a managed object, the same in every context and coordinator over one store.
///
/// Immutable, may be read and passed on any thread. A temporary ID (an object not yet saved) stays as it is
/// when the object is saved; the object then answers another, permanent ID.
///
/// ```swift
/// let id = book.objectID
/// let copy = background.object(with: id)  // to be used on the queue of that context
/// ```
open class NSManagedObjectID: NSObject, NSCopying, NSFetchRequestResult, @unchecked Sendable {
  // Unchecked: everything is immutable but `_permanent`, which is atomic and set once.
  package final let space: ObjectIDSpace
  /// Primary key, or the running number of a temporary ID.
  package final let reference: Int64
  /// What a temporary ID learns later: a permanent one that it holds a count of from then on.
  private let _permanent = Atomic<UnsafeRawPointer?>(nil)

  private static let _nextTemporary = Atomic<Int64>(1)

  /// Count of temporary IDs that have become permanent so far, anywhere; lets a registry notice cheaply that
  /// it has news.
  package static let linkEpoch = Atomic<Int>(0)

  /// A permanent ID.
  package init(_ key: ObjectKey) {
    precondition(key.space.store != nil)
    space = key.space
    reference = key.reference
  }

  /// Creates an ID of no object. Core Data makes IDs; a test double that overrides what an ID answers begins
  /// with this one.
  public override init() {
    space = .missing
    reference = Self._nextTemporary.wrappingAdd(1, ordering: .relaxed).oldValue
  }

  /// A new temporary ID; `space` has no store.
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

  /// Entity of the object.
  open var entity: NSEntityDescription { space.entity }

  /// Whether the object has never been saved nor been given a permanent ID.
  ///
  /// ```swift
  /// if book.objectID.isTemporaryID { try context.obtainPermanentIDs(for: [book]) }
  /// ```
  open var isTemporaryID: Bool { isTemporary }

  /// Whether the space has no store.
  @inline(__always) package final var isTemporary: Bool { space.number == 0 }

  /// Store the object lives in; nil for a temporary ID, or when the store was removed.
  open var persistentStore: NSPersistentStore? { canonical.space.persistentStore }

  /// The ID as a URI: `x-coredata://<store UUID>/<Entity>/p<key>`, or `x-coredata:///<Entity>/t<number>` for
  /// a temporary one.
  ///
  /// In a custom store the key is the text of the reference object.
  ///
  /// A permanent ID's URI may be kept and turned back into the ID by a coordinator with the same store.
  ///
  /// ```swift
  /// let text = book.objectID.uriRepresentation().absoluteString
  /// let id = URL(string: text).flatMap(coordinator.managedObjectID(forURIRepresentation:))
  /// ```
  open func uriRepresentation() -> URL { uri }

  /// What a temporary ID has learned; nil for a permanent one.
  private var _learned: NSManagedObjectID? {
    guard let known = _permanent.load(ordering: .acquiring) else { return nil }
    return Unmanaged<NSManagedObjectID>.fromOpaque(known).takeUnretainedValue()
  }

  /// What identities are compared by: key, and store with root entity, of the permanent ID if there is one.
  /// Counts nothing.
  @inline(__always) package final var identity: (reference: Int64, space: UInt64) {
    if isTemporary, let known = _permanent.load(ordering: .acquiring) {
      return Unmanaged<NSManagedObjectID>.fromOpaque(known)._withUnsafeGuaranteedRef {
        ($0.reference, $0.space.number)
      }
    }
    return (reference, space.number)
  }

  /// Whether there is a permanent ID: this one, or what a temporary ID has learned.
  @inline(__always)
  package final var isPermanent: Bool { !isTemporary || _permanent.load(ordering: .acquiring) != nil }

  /// The permanent ID: itself, or what a temporary ID has learned; nil if not saved yet.
  package final var permanent: NSManagedObjectID? { isTemporary ? _learned : self }

  /// The permanent ID if there is one, else itself: what identities are compared by.
  package final var canonical: NSManagedObjectID { isTemporary ? _learned ?? self : self }

  /// Key of the stored object; nil while there is none.
  package final var key: ObjectKey? {
    guard isTemporary else { return ObjectKey(space: space, reference: reference) }
    return _learned.map { ObjectKey(space: $0.space, reference: $0.reference) }
  }

  /// Tells a temporary ID which object in the store it has become. Done before COMMIT, so that a reader that
  /// sees the row in the store and the unsaved object in an overlay knows that the two are one.
  package final func link(to permanent: NSManagedObjectID) {
    guard isTemporary else { return }
    let known = Unmanaged.passRetained(permanent)
    let (isFirst, _) = _permanent.compareExchange(
      expected: nil, desired: UnsafeRawPointer(known.toOpaque()), ordering: .acquiringAndReleasing)
    if !isFirst { known.release() }
    Self.linkEpoch.wrappingAdd(1, ordering: .releasing)
  }

  /// The ID itself, which is immutable.
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
