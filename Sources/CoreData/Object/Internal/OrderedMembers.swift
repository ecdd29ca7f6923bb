import Foundation
import Synchronization

/// The members of an ordered to-many as the program reads them: an `NSOrderedSet` that knows the positions of
/// its objects. Foundation's class searches its objects from the first on.
final class OrderedMembers: NSOrderedSet {
  /// Positions by object, made when one is first asked for. An ordered set may be read on any thread.
  private let _positions = Mutex<[ObjectIdentifier: Int]?>(nil)

  // `init(array:)` of the superclass calls it.
  override init(objects: UnsafePointer<AnyObject>?, count cnt: Int) {
    super.init(objects: objects, count: cnt)
  }

  required init?(coder aDecoder: NSCoder) { nil }
  required init(arrayLiteral elements: Any...) {
    programmerError("the members of a to-many are read from its owner only.")
  }

  convenience init(_ members: [NSManagedObject]) {
    let members = members as [AnyObject]
    self.init(objects: members, count: members.count)
  }

  override func index(of object: Any) -> Int {
    // An object is equal to itself only.
    guard let object = object as? NSManagedObject else { return NSNotFound }
    let position = _positions.withLock { known in
      if known == nil {
        var positions = [ObjectIdentifier: Int](minimumCapacity: count)
        for (position, member) in enumerated() { positions[ObjectIdentifier(member as AnyObject)] = position }
        known = positions
      }
      return known?[ObjectIdentifier(object)]
    }
    return position ?? NSNotFound
  }

  // It does not change, as little as an `NSOrderedSet` itself does, whose methods ask for the exact class.
  override func copy() -> Any { self }
  override func copy(with zone: NSZone? = nil) -> Any { self }
}
