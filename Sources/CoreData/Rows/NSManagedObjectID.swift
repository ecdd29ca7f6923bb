import Foundation
import Synchronization

/// Identity of a managed object, the same in every context and coordinator over one store.
///
/// Immutable, may be read and passed on any thread. A temporary ID (an object not yet saved) stays as it is when the object
/// is saved; the object then answers another, permanent ID.
public final class NSManagedObjectID: NSObject, NSCopying, NSFetchRequestResult, @unchecked Sendable {
  // Unchecked: everything is immutable but `_link`, which is written once under its lock.
  let space: ObjectIDSpace
  /// Primary key, or the running number of a temporary ID.
  let reference: Int64
  private let _link: TemporaryLink?

  /// What a temporary ID learns later.
  private final class TemporaryLink: Sendable {
    let permanent = Mutex<NSManagedObjectID?>(nil)
  }

  private static let _nextTemporary = Atomic<Int64>(1)

  /// Count of temporary IDs that have become permanent so far, anywhere; lets a registry notice cheaply that it has news.
  static let linkEpoch = Atomic<Int>(0)

  /// A permanent ID.
  init(_ key: ObjectKey) {
    space = key.space
    reference = key.reference
    _link = nil
  }

  /// A new temporary ID; `space` has no store.
  init(temporaryIn space: ObjectIDSpace) {
    precondition(space.store == nil)
    self.space = space
    reference = Self._nextTemporary.wrappingAdd(1, ordering: .relaxed).oldValue
    _link = TemporaryLink()
  }

  /// Entity of the object.
  public var entity: NSEntityDescription { space.entity }

  /// Whether the object has never been saved nor been given a permanent ID.
  public var isTemporaryID: Bool { _link != nil }

  /// Store the object lives in; nil for a temporary ID, or when the store was removed.
  public var persistentStore: NSPersistentStore? { (permanent ?? self).space.persistentStore }

  /// The permanent ID: itself, or what a temporary ID has learned; nil if not saved yet.
  var permanent: NSManagedObjectID? {
    guard let _link else { return self }
    return _link.permanent.withLock { $0 }
  }

  /// The permanent ID if there is one, else itself: what identities are compared by.
  var canonical: NSManagedObjectID {
    guard let _link else { return self }
    return _link.permanent.withLock { $0 } ?? self
  }

  /// Key of the stored object; nil while there is none.
  var key: ObjectKey? {
    guard let permanent else { return nil }
    return ObjectKey(space: permanent.space, reference: permanent.reference)
  }

  /// Tells a temporary ID which object in the store it has become. Done before COMMIT, so that whoever sees the row in the
  /// store and the unsaved object in an overlay knows the two are one.
  func link(to permanent: NSManagedObjectID) {
    guard let _link else { return }
    _link.permanent.withLock { if $0 == nil { $0 = permanent } }
    Self.linkEpoch.wrappingAdd(1, ordering: .releasing)
  }

  /// The ID itself, which is immutable.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  /// The ID as a URI.
  public override var description: String { uriRepresentation().absoluteString }

  public override var hash: Int {
    var hasher = Hasher()
    hasher.combine(reference)
    hasher.combine(space.layout.rootNumber)
    return hasher.finalize()
  }

  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSManagedObjectID else { return false }
    if self === other { return true }
    guard reference == other.reference, isTemporaryID == other.isTemporaryID else { return false }
    if isTemporaryID { return true }
    return ObjectKey(space: space, reference: reference)
      == ObjectKey(space: other.space, reference: other.reference)
  }
}
