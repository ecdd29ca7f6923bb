import CoreData
import Observation

/// Observation of a model's properties that client code reports itself, such as computed ones. Stored
/// properties are reported automatically. Used where the model is used.
public struct _ModelObservationRegistrar {
  private let _storage: ModelStorage

  init(_ storage: ModelStorage) { _storage = storage }

  /// Records the read of a property.
  public func access<Subject: Observable, Member>(_ subject: Subject, keyPath: KeyPath<Subject, Member>) {
    if NSManagedObject.isTrackingReads { _storage.registrar.access(subject, keyPath: keyPath) }
  }

  /// Reports an imminent change of a property.
  public func willSet<Subject: Observable, Member>(_ subject: Subject, keyPath: KeyPath<Subject, Member>) {
    if _storage.flags.contains(.registered) { _storage.registrar.willSet(subject, keyPath: keyPath) }
  }

  /// Reports a change of a property.
  public func didSet<Subject: Observable, Member>(_ subject: Subject, keyPath: KeyPath<Subject, Member>) {
    if _storage.flags.contains(.registered) { _storage.registrar.didSet(subject, keyPath: keyPath) }
  }

  /// Reports a change made by a closure.
  public func withMutation<Subject: Observable, Member, Result>(
    of subject: Subject, keyPath: KeyPath<Subject, Member>, _ mutation: () throws -> Result
  ) rethrows -> Result {
    willSet(subject, keyPath: keyPath)
    defer { didSet(subject, keyPath: keyPath) }
    return try mutation()
  }
}
