import CoreDataCSwiftRuntime
import Synchronization

// Weak references for objects whose retains are hot.
//
// A Swift weak reference gives its object a side table, after which every retain and release of the object,
// anywhere, takes the runtime's slow path; in a measurement here, that cost a third of an import. Contexts,
// coordinators, stores and entities therefore own a weakAnchor each, and a reference to such an object stores
// its weakAnchor.

/// A path to an object that may be deallocated; owned by the object, shared by references to it. May be used
/// on any thread.
final class WeakAnchor: Sendable {
  /// Address of the object; 0 after its deallocation. The object's deinit cuts the line under this lock, so
  /// an address read under the lock is still valid.
  private let _address = Mutex<UInt>(0)

  /// Ties the weakAnchor to its object; call once, at the end of the object's init.
  func tie(to object: AnyObject) {
    let address = UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
    _address.withLock { $0 = address }
  }

  /// Call first in the object's deinit.
  func cut() {
    _address.withLock { $0 = 0 }
  }

  /// Returns the object, or nil once it is being deallocated.
  fileprivate func _object<Object: Reachable>(as type: Object.Type) -> Object? {
    _address.withLock { address in
      guard let pointer = UnsafeMutableRawPointer(bitPattern: address),
        let retained = swift_tryRetain(pointer)
      else {
        return nil
      }
      // Retained above; ownership passes to the result.
      return Unmanaged<Object>.fromOpaque(retained).takeRetainedValue()
    }
  }
}

/// An object that can be referenced through its weakAnchor.
protocol Reachable: AnyObject {
  var weakAnchor: WeakAnchor { get }
}

/// A property that references an object without retaining it or slowing down its retains.
@propertyWrapper
struct Loose<Object: Reachable> {
  private var _line: WeakAnchor?

  init(wrappedValue: Object?) { _line = wrappedValue?.weakAnchor }

  var wrappedValue: Object? {
    get { _line?._object(as: Object.self) }
    set { _line = newValue?.weakAnchor }
  }
}

extension Loose: Sendable {}
