import Foundation

/// How a policy resolves conflicting changes; raw values match Apple's.
public enum NSMergePolicyType: UInt, Sendable {
  /// The save fails.
  case errorMergePolicyType = 0
  /// Merges property by property; where both sides changed one, the stored value wins.
  case mergeByPropertyStoreTrumpMergePolicyType = 1
  /// Merges property by property; where both sides changed one, the object's value wins.
  case mergeByPropertyObjectTrumpMergePolicyType = 2
  /// Writes the object's whole state.
  case overwriteMergePolicyType = 3
  /// Drops the object's changes.
  case rollbackMergePolicyType = 4
}

/// Resolves conflicts between a context's save and saves of others since it read the objects. Immutable.
///
/// ```swift
/// background.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
/// ```
open class NSMergePolicy: NSObject, @unchecked Sendable {
  // Unchecked: immutable.
  private let _type: NSMergePolicyType

  /// Creates a policy of the given type.
  public init(merge type: NSMergePolicyType) {
    _type = type
    super.init()
  }

  /// The type of the policy.
  open var mergeType: NSMergePolicyType { _type }

  /// Resolves all conflicts of a save: version conflicts first, then violations of uniqueness constraints.
  ///
  /// Called on the saving context's queue. An override of one of the three methods calls super and then
  /// adjusts the objects; the save includes its changes.
  ///
  /// ```swift
  /// final class KeepLongerTitle: NSMergePolicy, @unchecked Sendable {
  ///   override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
  ///     try super.resolve(optimisticLockingConflicts: list)
  ///     for conflict in list {
  ///       guard let book = conflict.sourceObject as? Book,
  ///         let stored = conflict.persistedSnapshot?["title"] as? String
  ///       else { continue }
  ///       if stored.count > book.title?.count ?? 0 { book.title = stored }
  ///     }
  ///   }
  /// }
  /// context.mergePolicy = KeepLongerTitle(merge: .mergeByPropertyObjectTrumpMergePolicyType)
  /// ```
  ///
  /// - Parameter list: `NSMergeConflict` and `NSConstraintConflict` objects.
  /// - Throws: Cocoa error 133020 or 133021 under the error policy. Any error from a subclass fails the save.
  open func resolve(mergeConflicts list: [Any]) throws {
    let versions = list.compactMap { $0 as? NSMergeConflict }
    if !versions.isEmpty { try resolve(optimisticLockingConflicts: versions) }
    let constraints = list.compactMap { $0 as? NSConstraintConflict }
    if !constraints.isEmpty { try resolve(constraintConflicts: constraints) }
  }

  /// What apps show of an error 133020.
  static let failure = "Could not merge changes."

  /// Resolves conflicts over objects that were changed in this context and elsewhere.
  ///
  /// - Throws: Cocoa error 133020 under the error policy.
  open func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
    guard mergeType != .errorMergePolicyType else {
      let objects = list.count == 1 ? "an object since it was" : "\(list.count) objects since they were"
      throw CocoaError.coreData(
        NSManagedObjectMergeError,
        "The save would overwrite changes made elsewhere to \(objects) read. Refresh and save again, or set a merge policy.",
        shown: Self.failure, [NSPersistentStoreSaveConflictsErrorKey: list])
    }
    for conflict in list { try VersionConflictResolver(conflict, mergeType)?.resolve() }
  }

  /// Resolves conflicts over objects that violate a uniqueness constraint.
  ///
  /// Under the trump policies, one row remains. A new object that duplicates a stored row takes over the
  /// row's identity.
  ///
  /// - Throws: Cocoa error 133021 under the error policy.
  open func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
    guard mergeType != .errorMergePolicyType else {
      let names = Set(list.map { $0.constraint.joined(separator: ", ") }).sorted()
      throw CocoaError.coreData(
        NSManagedObjectConstraintMergeError,
        "The save would break a uniqueness constraint on \(names.joined(separator: "; ")). Change the values, or "
          + "update the existing objects instead of inserting new ones.",
        [NSPersistentStoreSaveConflictsErrorKey: list])
    }
    var resolved = Set<NSManagedObject>()
    for conflict in list {
      // Resolves an object in several conflicts once; the next attempt reports the conflicts that remain.
      let objects = conflict.conflictingObjects + [conflict.databaseObject].compactMap { $0 }
      guard resolved.isDisjoint(with: objects) else { continue }
      resolved.formUnion(objects)
      ConstraintConflictResolver(conflict, mergeType)?.resolve()
    }
  }

  /// The save fails: the default.
  ///
  /// ```swift
  /// context.mergePolicy = NSMergePolicy.error
  /// do {
  ///   try context.save()
  /// } catch let error as CocoaError where error.code == .managedObjectMerge {
  ///   context.refreshAllObjects()  // takes the newer values and keeps the unsaved ones on top
  ///   try context.save()
  /// }
  /// ```
  public class var error: NSMergePolicy { _error }
  /// Local changes to conflicting objects are dropped.
  ///
  /// ```swift
  /// context.mergePolicy = NSMergePolicy.rollback  // a cache: what is stored counts
  /// ```
  public class var rollback: NSMergePolicy { _rollback }
  /// Local objects are written whole.
  ///
  /// ```swift
  /// context.mergePolicy = NSMergePolicy.overwrite  // an import: its records are complete
  /// ```
  public class var overwrite: NSMergePolicy { _overwrite }
  /// Property by property, local values first.
  ///
  /// ```swift
  /// context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump  // the usual choice for an app
  /// ```
  public class var mergeByPropertyObjectTrump: NSMergePolicy { _objectTrump }
  /// Property by property, stored values first.
  ///
  /// ```swift
  /// background.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump  // the user's edits win
  /// ```
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
