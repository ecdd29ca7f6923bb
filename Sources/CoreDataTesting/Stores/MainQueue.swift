import CoreData
import Foundation

enum MainQueue {
  /// Whether the calling code may use a main-queue context, of which there is one.
  static var isCurrent: Bool {
    #if canImport(Darwin)
    Thread.isMainThread
    #else
    NSManagedObjectContext.isOnMainQueue
    #endif
  }
}
