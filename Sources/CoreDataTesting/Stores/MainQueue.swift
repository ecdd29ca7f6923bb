import Dispatch
import Foundation

/// Detects whether code runs on the main queue, which after `dispatchMain()` is drained by threads other than
/// the main one.
enum MainQueue {
  private static let _key: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  static var isCurrent: Bool { Thread.isMainThread || DispatchQueue.getSpecific(key: _key) == true }
}
