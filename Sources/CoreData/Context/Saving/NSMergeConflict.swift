import CoreDataModelSchema
import Foundation

/// A conflict over an object that was changed both in this context and elsewhere.
///
/// ```swift
/// do {
///   try context.save()
/// } catch let error as CocoaError where error.code == .managedObjectMerge {
///   let conflicts = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict] ?? []
///   for conflict in conflicts {
///     print(conflict.sourceObject.objectID, conflict.oldVersionNumber, conflict.newVersionNumber)
///   }
/// }
/// ```
open class NSMergeConflict: NSObject {
  /// The local object.
  open private(set) var sourceObject: NSManagedObject
  /// Attributes and to-one IDs as the local object last read them.
  open private(set) var objectSnapshot: [String: Any]?
  /// Values in the coordinator's row cache: the saved ones if another context of this coordinator saved them,
  /// otherwise those from before another coordinator's save.
  open private(set) var cachedSnapshot: [String: Any]?
  /// Values in the store, if another coordinator saved them.
  open private(set) var persistedSnapshot: [String: Any]?
  /// Version of the stored row; 0 if the row is gone.
  open private(set) var newVersionNumber: Int
  /// Version that the local object was read with.
  open private(set) var oldVersionNumber: Int
  /// The conflict that the store reported; nil for a conflict created by a caller.
  final var reported: VersionConflict?

  /// Creates a conflict.
  public init(
    source srcObject: NSManagedObject, newVersion newvers: Int, oldVersion oldvers: Int,
    cachedSnapshot cachesnap: [String: Any]?, persistedSnapshot persnap: [String: Any]?
  ) {
    sourceObject = srcObject
    objectSnapshot = srcObject._row.map { srcObject.snapshot(of: $0) }
    cachedSnapshot = cachesnap
    persistedSnapshot = persnap
    newVersionNumber = newvers
    oldVersionNumber = oldvers
  }

  convenience init(_ conflict: VersionConflict, object: NSManagedObject) {
    let theirs = conflict.persisted.map { object.snapshot(of: $0) }
    let cached = conflict.id.key.flatMap {
      object._context?.persistentStoreCoordinator?.rowCache.row(for: $0)
    }
    // If this coordinator's row cache has the version, another context saved it; otherwise another
    // coordinator or process.
    let isCached = cached?.version == conflict.persisted?.version
    self.init(
      source: object, newVersion: Int(conflict.persisted?.version ?? 0),
      oldVersion: Int(conflict.base.version),
      cachedSnapshot: isCached ? theirs : object.snapshot(of: cached ?? conflict.base),
      persistedSnapshot: isCached ? nil : theirs)
    reported = conflict
  }

  /// Returns the row currently in the store; nil if it is gone.
  ///
  /// - Throws: Errors of reading the row of a conflict that a caller has created.
  final func currentRow(in context: NSManagedObjectContext) throws -> Row? {
    if let reported { return reported.persisted }
    guard let key = sourceObject._objectID.key else { return nil }
    return try context.persistentStoreCoordinator?.rows(for: [key]).first ?? nil
  }
}

/// A conflict over objects that violate a uniqueness constraint.
///
/// ```swift
/// do {
///   try context.save()
/// } catch let error as CocoaError where error.code == .managedObjectConstraintMerge {
///   let conflicts = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict] ?? []
///   for conflict in conflicts { print("There is a book with \(conflict.constraintValues) already.") }
/// }
/// ```
open class NSConstraintConflict: NSObject {
  /// Names of the constraint's properties.
  open private(set) var constraint: [String]
  /// The duplicate values.
  open private(set) var constraintValues: [String: Any]
  /// The stored object with these values; nil when the conflict is among objects of the context.
  ///
  /// After `resolve(constraintConflicts:)`, the object that takes over the row's identity, which may be an
  /// inserted one.
  open var databaseObject: NSManagedObject? { survivor ?? _database }
  /// Values of the stored row.
  open private(set) var databaseSnapshot: [String: Any]?
  /// Local objects with these values.
  open private(set) var conflictingObjects: [NSManagedObject]
  /// The last read values of these objects, or the current values of inserted ones; empty for an unchanged
  /// object.
  open private(set) var conflictingSnapshots: [[AnyHashable: Any]]

  private let _database: NSManagedObject?

  /// Creates an empty conflict.
  public convenience override init() {
    self.init(constraint: [], database: nil, databaseSnapshot: nil, conflicting: [], conflictingSnapshots: [])
  }

  /// The stored row; nil for a conflict created by a caller or among objects of the context.
  final var existing: StoredObject?
  /// Whether the program referenced the stored row's object before the conflict was detected.
  final var databaseIsInUse = true
  /// The object that survives the resolution.
  final var survivor: NSManagedObject?

  /// Creates a conflict.
  public init(
    constraint contraint: [String], database databaseObject: NSManagedObject?,
    databaseSnapshot: [AnyHashable: Any]?,
    conflicting conflictingObjects: [NSManagedObject], conflictingSnapshots: [Any]
  ) {
    constraint = contraint
    _database = databaseObject
    self.databaseSnapshot = databaseSnapshot.map { snapshot in
      Dictionary(snapshot.compactMap { key, value in (key as? String).map { ($0, value) } }) { first, _ in
        first
      }
    }
    self.conflictingObjects = conflictingObjects
    self.conflictingSnapshots = conflictingSnapshots.map { $0 as? [AnyHashable: Any] ?? [:] }
    var values: [String: Any] = [:]
    if let object = conflictingObjects.first ?? databaseObject {
      for name in contraint { values[name] = object.value(forKey: name) ?? NSNull() }
    }
    constraintValues = values
  }
}

extension NSManagedObject {
  /// Attributes and to-one IDs of a row by name; nil values appear as NSNull.
  final func snapshot(of row: Row) -> [String: Any] {
    var result: [String: Any] = [:]
    for (number, slot) in _layout.slots.enumerated()
    where !slot.isHidden && !slot.isToMany && number < row.count {
      if slot.isAttribute {
        result[slot.name] = shown(row[number], number) ?? NSNull()
      } else {
        switch row[number] {
        case .reference(let key): result[slot.name] = NSManagedObjectID(key)
        case .pending(let id): result[slot.name] = id.canonical
        default: result[slot.name] = NSNull()
        }
      }
    }
    return result
  }
}
