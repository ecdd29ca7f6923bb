import CoreDataModelSchema
import Foundation

/// A conflict over one object that was changed in this context and elsewhere.
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
  /// Values in the coordinator's row cache, when the conflict is with another context, or as this coordinator
  /// knew them before another one saved.
  open private(set) var cachedSnapshot: [String: Any]?
  /// Values in the store, when the conflict is with another coordinator.
  open private(set) var persistedSnapshot: [String: Any]?
  /// Version of the stored row; 0 if the row is gone.
  open private(set) var newVersionNumber: Int
  /// Version that the local object was read with.
  open private(set) var oldVersionNumber: Int
  /// What the store reported; nil in a conflict made by a caller.
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
    // Known to this coordinator's row cache: another context saved it; else another coordinator or process
    // did.
    let isCached = cached?.version == conflict.persisted?.version
    self.init(
      source: object, newVersion: Int(conflict.persisted?.version ?? 0),
      oldVersion: Int(conflict.base.version),
      cachedSnapshot: isCached ? theirs : object.snapshot(of: cached ?? conflict.base),
      persistedSnapshot: isCached ? nil : theirs)
    reported = conflict
  }

  /// What the store holds now; nil if the row is gone.
  final func currentRow(in context: NSManagedObjectContext) -> Row? {
    if let reported { return reported.persisted }
    guard let key = sourceObject._objectID.key else { return nil }
    return try? context.persistentStoreCoordinator?.rows(for: [key]).first ?? nil
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
  /// After `resolve(constraintConflicts:)` the object that takes the row's identity, which may be an inserted
  /// one.
  open var databaseObject: NSManagedObject? { survivor ?? _database }
  /// Values of the stored row.
  open private(set) var databaseSnapshot: [String: Any]?
  /// Local objects with these values.
  open private(set) var conflictingObjects: [NSManagedObject]
  /// Their values as last read, or in new objects as they are; empty for an unchanged one.
  open private(set) var conflictingSnapshots: [[AnyHashable: Any]]

  private let _database: NSManagedObject?

  /// Creates an empty conflict.
  public convenience override init() {
    self.init(constraint: [], database: nil, databaseSnapshot: nil, conflicting: [], conflictingSnapshots: [])
  }

  /// The stored row; nil in a conflict made by a caller and in one within the context.
  final var existing: StoredObject?
  /// Whether the program held the stored row's object before the conflict was found.
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
  /// Attributes and to-one IDs of a row by name; nil shows as NSNull.
  final func snapshot(of row: Row) -> [String: Any] {
    var result: [String: Any] = [:]
    for (number, slot) in _layout.slots.enumerated()
    where !slot.isHidden && !slot.isToMany && number < row.count {
      if slot.attribute != nil {
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
