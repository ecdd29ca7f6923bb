import CoreData
import Foundation
import Testing

/// Records the user info of every notification of one name that a context posts.
final class Posted: @unchecked Sendable {
  // Unchecked: written on the observed context's queue, read after its work is done.
  private(set) var userInfos: [[AnyHashable: Any]] = []
  private var _token: (any NSObjectProtocol)?

  init(_ name: NSNotification.Name, by object: AnyObject, then action: (@Sendable () -> Void)? = nil) {
    _token = NotificationCenter.default.addObserver(forName: name, object: object, queue: nil) {
      [unowned self] in
      userInfos.append($0.userInfo ?? [:])
      action?()
    }
  }

  deinit { if let _token { NotificationCenter.default.removeObserver(_token) } }

  /// Returns the number of members of a set in the last notification; nil if it is missing.
  func count(_ key: String) -> Int? {
    switch userInfos.last?[key] {
    case let objects as Set<NSManagedObject>: objects.count
    case let ids as Set<NSManagedObjectID>: ids.count
    default: nil
    }
  }
}

extension NSManagedObjectContext {
  /// Runs `body` on the context's queue, saves, and returns the did-save notification.
  func saved(
    _ name: Notification.Name = .NSManagedObjectContextDidSave, _ body: () throws -> Void = {}
  ) throws -> Notification {
    nonisolated(unsafe) var notification: Notification?
    let token = NotificationCenter.default.addObserver(forName: name, object: self, queue: nil) {
      notification = $0
    }
    defer { NotificationCenter.default.removeObserver(token) }
    try performAndWait {
      try body()
      try save()
    }
    return try #require(notification)
  }
}
