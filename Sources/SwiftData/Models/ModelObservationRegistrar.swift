import CoreData
import Observation

/// Who observes a model, as far as the client's code tells of its properties itself, such as computed ones. Stored
/// properties are told of without it. Used where the model is used.
public struct _ModelObservationRegistrar {
  private let _storage: ModelStorage

  init(_ storage: ModelStorage) { _storage = storage }

  /// Notes that a property is read.
  public func access<Subject: Observable, Member>(_ subject: Subject, keyPath: KeyPath<Subject, Member>) {
    if NSManagedObject.isTrackingReads { _storage.registrar.access(subject, keyPath: keyPath) }
  }

  /// Tells that a property is about to change.
  public func willSet<Subject: Observable, Member>(_ subject: Subject, keyPath: KeyPath<Subject, Member>) {
    if _storage.flags.contains(.registered) { _storage.registrar.willSet(subject, keyPath: keyPath) }
  }

  /// Tells that a property has changed.
  public func didSet<Subject: Observable, Member>(_ subject: Subject, keyPath: KeyPath<Subject, Member>) {
    if _storage.flags.contains(.registered) { _storage.registrar.didSet(subject, keyPath: keyPath) }
  }

  /// Tells of the change that a closure makes.
  public func withMutation<Subject: Observable, Member, Result>(
    of subject: Subject, keyPath: KeyPath<Subject, Member>, _ mutation: () throws -> Result
  ) rethrows -> Result {
    willSet(subject, keyPath: keyPath)
    defer { didSet(subject, keyPath: keyPath) }
    return try mutation()
  }
}
