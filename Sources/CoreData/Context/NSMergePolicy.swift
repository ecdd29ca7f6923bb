import Foundation

/// How conflicting changes are settled; raw values are Apple's.
public enum NSMergePolicyType: UInt, Sendable {
  /// The save fails.
  case errorMergePolicyType = 0
  /// Property by property; where both sides changed one, the store's value stays.
  case mergeByPropertyStoreTrumpMergePolicyType = 1
  /// Property by property; where both sides changed one, the object's value is written.
  case mergeByPropertyObjectTrumpMergePolicyType = 2
  /// The object's whole state is written.
  case overwriteMergePolicyType = 3
  /// The object's changes are dropped.
  case rollbackMergePolicyType = 4
}

/// How a context settles conflicts between what it saves and what others have saved meanwhile. Immutable.
open class NSMergePolicy: NSObject, @unchecked Sendable {
  // Unchecked: immutable.
  private let _type: NSMergePolicyType

  /// Creates a policy of a type.
  public init(merge type: NSMergePolicyType) {
    _type = type
    super.init()
  }

  /// Type of the policy.
  open var mergeType: NSMergePolicyType { _type }

  /// The save fails: the default.
  public class var error: NSMergePolicy { _error }
  /// Local changes to conflicting objects are dropped.
  public class var rollback: NSMergePolicy { _rollback }
  /// Local objects are written whole.
  public class var overwrite: NSMergePolicy { _overwrite }
  /// Property by property, local values first.
  public class var mergeByPropertyObjectTrump: NSMergePolicy { _objectTrump }
  /// Property by property, stored values first.
  public class var mergeByPropertyStoreTrump: NSMergePolicy { _storeTrump }

  private static let _error = NSMergePolicy(merge: .errorMergePolicyType)
  private static let _rollback = NSMergePolicy(merge: .rollbackMergePolicyType)
  private static let _overwrite = NSMergePolicy(merge: .overwriteMergePolicyType)
  private static let _objectTrump = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
  private static let _storeTrump = NSMergePolicy(merge: .mergeByPropertyStoreTrumpMergePolicyType)
}

/// The policy under which a save with conflicts fails.
public var NSErrorMergePolicy: AnyObject { NSMergePolicy.error }
/// The policy by property under which stored values stay.
public var NSMergeByPropertyStoreTrumpMergePolicy: AnyObject { NSMergePolicy.mergeByPropertyStoreTrump }
/// The policy by property under which local values are written.
public var NSMergeByPropertyObjectTrumpMergePolicy: AnyObject { NSMergePolicy.mergeByPropertyObjectTrump }
/// The policy under which local objects are written whole.
public var NSOverwriteMergePolicy: AnyObject { NSMergePolicy.overwrite }
/// The policy under which local changes are dropped.
public var NSRollbackMergePolicy: AnyObject { NSMergePolicy.rollback }

/// One object that was changed both here and elsewhere.
open class NSMergeConflict: NSObject {
  /// The local object.
  public let sourceObject: NSManagedObject
  /// Values as the local object last read them.
  public let objectSnapshot: [String: Any]?
  /// Values in the coordinator's row cache, when the conflict is with another context.
  public let cachedSnapshot: [String: Any]?
  /// Values in the store, when the conflict is with another coordinator.
  public let persistedSnapshot: [String: Any]?
  /// Version that is there now; 0 if the row is gone.
  public let newVersionNumber: Int
  /// Version that the local object was read with.
  public let oldVersionNumber: Int

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
    // Known to this coordinator's row cache: another context saved it; else another coordinator or process did.
    let isCached =
      conflict.id.key.flatMap { object._context?.persistentStoreCoordinator?.rowCache.row(for: $0) }
      .map { $0.version == conflict.persisted?.version } ?? false
    self.init(
      source: object, newVersion: Int(conflict.persisted?.version ?? 0), oldVersion: Int(conflict.base.version),
      cachedSnapshot: isCached ? theirs : object.snapshot(of: conflict.base), persistedSnapshot: isCached ? nil : theirs)
  }
}

/// Objects that break a uniqueness constraint.
open class NSConstraintConflict: NSObject {
  /// Names of the constraint's properties.
  public let constraint: [String]
  /// The values that several objects have.
  public let constraintValues: [String: Any]
  /// The object that the store has with these values.
  public let databaseObject: NSManagedObject?
  /// Its values.
  public let databaseSnapshot: [AnyHashable: Any]?
  /// Local objects with these values.
  public let conflictingObjects: [NSManagedObject]
  /// Their values as last read.
  public let conflictingSnapshots: [[AnyHashable: Any]]

  /// Creates a conflict.
  public init(
    constraint contraint: [String], database databaseObject: NSManagedObject?, databaseSnapshot: [AnyHashable: Any]?,
    conflicting conflictingObjects: [NSManagedObject], conflictingSnapshots: [Any]
  ) {
    constraint = contraint
    self.databaseObject = databaseObject
    self.databaseSnapshot = databaseSnapshot
    self.conflictingObjects = conflictingObjects
    self.conflictingSnapshots = conflictingSnapshots.compactMap { $0 as? [AnyHashable: Any] }
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
    for (number, slot) in _layout.slots.enumerated() where !slot.isHidden && !slot.isToMany {
      if slot.attribute != nil {
        result[slot.name] = shown(row[number], number) ?? NSNull()
      } else {
        result[slot.name] = row[number].key.map { NSManagedObjectID($0) } ?? NSNull()
      }
    }
    return result
  }
}
