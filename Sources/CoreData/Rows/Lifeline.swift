import CoreDataCSwiftRuntime
import Synchronization

// References that keep nothing alive, for objects whose retains are hot.
//
// A Swift weak reference gives its object a side table, and from then on every retain and release of the
// object, anywhere, takes the runtime's slow path: measured here, a third of an import. So contexts,
// coordinators, stores and entities carry their weak references beside themselves: each owns a lifeline, and
// a reference to it is kept as its lifeline.

/// The way back to an object that may be gone; owned by the object, shared by references to it. May be used
/// on any thread.
final class Lifeline: Sendable {
  /// Address of the object, 0 when it is gone. The object cuts the line in its deinit, under this lock, so
  /// that the memory behind an address found here is still an object's.
  private let _address = Mutex<UInt>(0)

  /// Ties the line to its object, once, at the end of the object's init.
  func tie(to object: AnyObject) {
    let address = UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
    _address.withLock { $0 = address }
  }

  /// To be called first in the object's deinit.
  func cut() {
    _address.withLock { $0 = 0 }
  }

  /// The object, or nil once it is being deallocated.
  fileprivate func object<Object: Reachable>(as type: Object.Type) -> Object? {
    _address.withLock { address in
      guard let pointer = UnsafeMutableRawPointer(bitPattern: address),
        let retained = swift_tryRetain(pointer)
      else {
        return nil
      }
      // Retained just now; ownership passes to the result.
      return Unmanaged<Object>.fromOpaque(retained).takeRetainedValue()
    }
  }
}

/// An object that can be referred to through its lifeline.
protocol Reachable: AnyObject {
  var lifeline: Lifeline { get }
}

/// A property that refers to an object without keeping it alive, and without making its retains slower.
@propertyWrapper
struct Loose<Object: Reachable> {
  private var _line: Lifeline?

  init(wrappedValue: Object?) { _line = wrappedValue?.lifeline }

  var wrappedValue: Object? {
    get { _line?.object(as: Object.self) }
    set { _line = newValue?.lifeline }
  }
}

extension Loose: Sendable {}
