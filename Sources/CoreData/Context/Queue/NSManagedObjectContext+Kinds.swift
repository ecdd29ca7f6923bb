import Foundation

/// The queue on which a context works; raw values match Apple's.
public enum NSManagedObjectContextConcurrencyType: UInt, Sendable {
  /// Legacy: the context is used on the thread that created it, without perform blocks.
  @available(*, deprecated, message: "Use a private-queue or main-queue context and its perform methods")
  case confinementConcurrencyType = 0
  /// A private queue of the context.
  case privateQueueConcurrencyType = 1
  /// The main queue.
  case mainQueueConcurrencyType = 2

  /// The legacy kind, for internal use; the engine still supports it.
  package static let confinement = NSManagedObjectContextConcurrencyType(rawValue: 0)!
}

extension NSManagedObjectContext {
  /// The queue on which a context works, in Swift spelling.
  ///
  /// ```swift
  /// let background = NSManagedObjectContext(.privateQueue)
  /// background.parent = context
  /// ```
  public struct ConcurrencyType: Hashable, RawRepresentable, Sendable {
    public let rawValue: NSManagedObjectContextConcurrencyType
    public init(rawValue: NSManagedObjectContextConcurrencyType) { self.rawValue = rawValue }
    /// A private queue of the context.
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
    /// Immediately if already executing for the context, otherwise in turn.
    case immediate
    /// Always in turn.
    case enqueued
  }
}
