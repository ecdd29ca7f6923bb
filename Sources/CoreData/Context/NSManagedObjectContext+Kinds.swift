import Foundation

/// On which queue a context works; raw values are Apple's.
public enum NSManagedObjectContextConcurrencyType: UInt, Sendable {
  /// Legacy: the context is used on the thread that made it, without perform blocks.
  @available(*, deprecated, message: "Use a private-queue or main-queue context and its perform methods")
  case confinementConcurrencyType = 0
  /// A queue of its own.
  case privateQueueConcurrencyType = 1
  /// The main queue.
  case mainQueueConcurrencyType = 2

  /// The legacy kind, for the engine itself, which goes on supporting it.
  package static let confinement = NSManagedObjectContextConcurrencyType(rawValue: 0)!
}

extension NSManagedObjectContext {
  /// On which queue a context works, in Swift's spelling.
  ///
  /// ```swift
  /// let background = NSManagedObjectContext(.privateQueue)
  /// background.parent = context
  /// ```
  public struct ConcurrencyType: Hashable, RawRepresentable, Sendable {
    public let rawValue: NSManagedObjectContextConcurrencyType
    public init(rawValue: NSManagedObjectContextConcurrencyType) { self.rawValue = rawValue }
    /// A queue of its own.
    public static let privateQueue = ConcurrencyType(rawValue: .privateQueueConcurrencyType)
    /// The main queue.
    public static let mainQueue = ConcurrencyType(rawValue: .mainQueueConcurrencyType)
  }

  /// When an async `perform` runs its block.
  ///
  /// ```swift
  /// try await background.perform(schedule: .enqueued) {
  ///   try background.save()
  /// }
  /// ```
  public enum ScheduledTaskType: Hashable, Sendable {
    /// At once if already executing for the context, else in turn.
    case immediate
    /// Always in turn.
    case enqueued
  }
}
