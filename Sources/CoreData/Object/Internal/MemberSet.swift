import Foundation

/// The members of a to-many as a Foundation set. Going through them makes no set; looking one up does, once.
final class MemberSet: NSSet {
  private let _list: [NSManagedObject]
  private lazy var _set = Set(_list)

  /// - Parameter list: The members, none of them twice.
  init(_ list: [NSManagedObject]) {
    _list = list
    super.init(objects: nil, count: 0)
  }

  override init(objects: UnsafePointer<AnyObject>!, count: Int) {
    var members: Set<NSManagedObject> = []
    for index in 0..<count {
      guard let member = objects[index] as? NSManagedObject else {
        programmerError("a to-many relationship holds managed objects, not a \(type(of: objects[index])).")
      }
      members.insert(member)
    }
    _list = Array(members)
    super.init(objects: nil, count: 0)
  }

  required init?(coder: NSCoder) { nil }

  override var count: Int { _list.count }

  override func member(_ object: Any) -> Any? {
    guard let object = object as? NSManagedObject, _set.contains(object) else { return nil }
    return object
  }

  override func objectEnumerator() -> NSEnumerator { Enumerator(_list) }

  override func copy(with zone: NSZone? = nil) -> Any { self }
  override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableSet(array: _list) }

  /// Goes through the members.
  private final class Enumerator: NSEnumerator {
    private let _list: [NSManagedObject]
    private var _next = 0

    init(_ list: [NSManagedObject]) { _list = list }

    override func nextObject() -> Any? {
      guard _next < _list.count else { return nil }
      defer { _next += 1 }
      return _list[_next]
    }
  }
}
