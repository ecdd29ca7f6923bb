import CoreData
import Foundation
import Synchronization
import TestSupport
import Testing

/// Observations of the notification center that end while the center removes a block.
@Suite struct ObserverRemovalTests {
  private static let _name = Notification.Name("ObserverRemovalTests")

  @Test func `a context with an undo manager can be let go by an observer that is removed`() throws {
    let stack = try TestStack(.memory)
    #expect(
      ObserverBlock.letsGo {
        let context = stack.child(of: stack.root)
        context.undoManager = UndoManager()
        context.performAndWait { _ = context.insert("Author", ["name": "Ada"]) }
        return context
      })
  }

  @Test func `an observation that is let go hears nothing more`() {
    let heard = Mutex(0)
    let poster = NSObject()
    var observation: NotificationObservation? = NotificationObservation(of: Self._name, from: poster) { _ in
      heard.withLock { $0 += 1 }
    }
    NotificationCenter.default.post(name: Self._name, object: poster)
    withExtendedLifetime(observation) {}
    observation = nil
    NotificationCenter.default.post(name: Self._name, object: poster)
    #expect(heard.withLock { $0 } == 1)
  }

  @Test func `an observation that has ended hears nothing more and keeps nothing`() {
    final class Kept: Sendable {}
    weak var kept: Kept?
    let heard = Mutex(0)
    let observation = {
      let object = Kept()
      kept = object
      return NotificationObservation(of: Self._name) { _ in
        withExtendedLifetime(object) { heard.withLock { $0 += 1 } }
      }
    }()
    #expect(kept != nil)
    observation.end()
    NotificationCenter.default.post(name: Self._name, object: nil)
    #expect(heard.withLock { $0 } == 0 && kept == nil)
  }

  @Test func `an observation may be let go by a body that it calls`() {
    let held = Mutex<NotificationObservation?>(nil)
    let heard = Mutex(0)
    let poster = NSObject()
    held.withLock {
      $0 = NotificationObservation(of: Self._name, from: poster) { _ in
        let observation = held.withLock { held in
          defer { held = nil }
          return held
        }
        withExtendedLifetime(observation) { heard.withLock { $0 += 1 } }
      }
    }
    for _ in 0..<2 { NotificationCenter.default.post(name: Self._name, object: poster) }
    #expect(heard.withLock { $0 } == 1)
  }
}
