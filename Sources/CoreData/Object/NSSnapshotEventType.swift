import Foundation

/// The event that restored an object's values; raw values match Apple's.
///
/// ```swift
/// final class Note: NSManagedObject {
///   var layout: [CGRect]?
///
///   override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
///     super.awake(fromSnapshotEvents: flags)
///     if !flags.isDisjoint(with: [.refresh, .rollback]) { layout = nil }
///   }
/// }
/// ```
public struct NSSnapshotEventType: OptionSet, Sendable, Hashable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }
  /// An insertion was undone.
  public static let undoInsertion = NSSnapshotEventType(rawValue: 1 << 1)
  /// A deletion was undone.
  public static let undoDeletion = NSSnapshotEventType(rawValue: 1 << 2)
  /// A change of values was undone.
  public static let undoUpdate = NSSnapshotEventType(rawValue: 1 << 3)
  /// The context was rolled back.
  public static let rollback = NSSnapshotEventType(rawValue: 1 << 4)
  /// The object was refreshed, directly or by a merge.
  public static let refresh = NSSnapshotEventType(rawValue: 1 << 5)
  /// A merge policy resolved a conflict.
  public static let mergePolicy = NSSnapshotEventType(rawValue: 1 << 6)
}

/// How a set changes; raw values match Foundation's on Apple platforms.
public enum NSKeyValueSetMutationKind: UInt, Sendable {
  /// Members are added.
  case union = 1
  /// Members are removed.
  case minus = 2
  /// All but some members are removed.
  case intersect = 3
  /// All members are replaced.
  case set = 4
}
