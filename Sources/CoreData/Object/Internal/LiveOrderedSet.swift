import Foundation

/// An ordered to-many that is read and written in place; returned by `value(forKey:)` and
/// `mutableOrderedSetValue(forKey:)`.
///
/// About half of the readers of Foundation's class (`array`, `firstObject`, iteration) cannot be overridden
/// and read the superclass's storage, so every change of the relationship is copied into that storage. After
/// a merge or refresh invalidates the relationship, a retained set shows the new members from the next call
/// of `count`, `object(at:)`, `index(of:)` or `contains(_:)` on.
final class LiveOrderedSet: NSMutableOrderedSet {
  private let _owner: NSManagedObject
  private let _slot: Int
  /// Contents of the superclass's storage.
  private var _stored: [NSManagedObject] = []
  /// True while that storage is mutated: the superclass then calls the methods overridden here.
  private var _isStoring = false

  init(_ owner: NSManagedObject, slot: Int) {
    _owner = owner
    _slot = slot
    super.init(capacity: 0)
    _ = _order
  }

  required init?(coder aDecoder: NSCoder) { nil }
  required init(arrayLiteral elements: Any...) {
    programmerError("a live ordered set is made by mutableOrderedSetValue(forKey:) only.")
  }

  private var _order: [NSManagedObject] {
    let state = _owner.members(_slot)
    if state.live !== self {
      state.live = self
      synchronize(with: state.order)
    }
    return state.order
  }

  /// The order, for a change that depends on it; nil if it cannot be read, which refuses the change.
  private var _orderToChange: [NSManagedObject]? { _owner.membersToChange(_slot) == nil ? nil : _order }

  /// Copies the order of the relationship into the superclass's storage.
  ///
  /// - Complexity: One comparison per member, plus one mutation per member added, removed or moved.
  func synchronize(with order: [NSManagedObject]) {
    _isStoring = true
    defer { _isStoring = false }
    let shorter = Swift.min(order.count, _stored.count)
    var start = 0
    while start < shorter, order[start] === _stored[start] { start += 1 }
    var rest = 0
    while rest < shorter - start, order[order.count - 1 - rest] === _stored[_stored.count - 1 - rest] {
      rest += 1
    }
    for index in (start..<_stored.count - rest).reversed() {
      super.removeObject(at: index)
      _stored.remove(at: index)
    }
    for index in start..<order.count - rest {
      super.insert(order[index], at: index)
      _stored.insert(order[index], at: index)
    }
  }

  // MARK: Reading

  override var description: String { NSOrderedSet(array: _order).description }

  override var count: Int { _isStoring ? _stored.count : _order.count }
  override func object(at idx: Int) -> Any { _order[idx] }
  override func index(of object: Any) -> Int {
    (object as? NSManagedObject).flatMap { object in _order.firstIndex { $0 === object } } ?? NSNotFound
  }
  override func contains(_ object: Any) -> Bool {
    guard !_isStoring, let object = object as? NSManagedObject else { return false }
    return _owner.members(_slot).members.contains(object)
  }

  // MARK: Writing

  override func add(_ object: Any) { _owner.addMember(managed(object), _slot) }
  override func add(_ objects: UnsafePointer<AnyObject>?, count: Int) {
    for object in UnsafeBufferPointer(start: objects, count: count) { add(object) }
  }
  override func insert(_ object: Any, at idx: Int) { _owner.addMember(managed(object), _slot, at: idx) }
  override func removeObject(at idx: Int) {
    if let order = _orderToChange { _owner.removeMember(order[idx], _slot) }
  }
  override func remove(_ object: Any) { _owner.removeMember(managed(object), _slot) }
  override func replaceObject(at idx: Int, with obj: Any) {
    removeObject(at: idx)
    insert(obj, at: idx)
  }
  override func setObject(_ obj: Any, at idx: Int) {
    if idx == count { add(obj) } else { replaceObject(at: idx, with: obj) }
  }

  override func addObjects(from array: [Any]) { for object in array { add(object) } }
  override func removeAllObjects() { for object in _orderToChange ?? [] { remove(object) } }
  override func removeObjects(in array: [Any]) { for object in array { remove(object) } }
  override func insert(_ objects: [Any], at indexes: IndexSet) {
    for (object, index) in zip(objects, indexes) { insert(object, at: index) }
  }
  override func removeObjects(at indexes: IndexSet) {
    guard let order = _orderToChange else { return }
    for index in indexes { remove(order[index]) }
  }
  override func removeObjects(in range: NSRange) {
    removeObjects(at: IndexSet(integersIn: range.location..<range.location + range.length))
  }
  override func replaceObjects(at indexes: IndexSet, with objects: [Any]) {
    // As one assignment, since an object may move to the position of another one that is replaced as well.
    guard var order = _orderToChange else { return }
    for (object, index) in zip(objects, indexes) { order[index] = managed(object) }
    _owner.setToMany(_slot, order)
  }
  override func replaceObjects(in range: NSRange, with objects: UnsafePointer<AnyObject>!, count: Int) {
    removeObjects(in: range)
    for (offset, object) in UnsafeBufferPointer(start: objects, count: count).enumerated() {
      insert(object, at: range.location + offset)
    }
  }
  override func union(_ other: NSOrderedSet) { addObjects(from: other.array) }
  override func minus(_ other: NSOrderedSet) { removeObjects(in: other.array) }
  override func intersect(_ other: NSOrderedSet) {
    for object in _orderToChange ?? [] where !other.contains(object) { remove(object) }
  }
  override func unionSet(_ other: Set<AnyHashable>) { for object in other { add(object.base) } }
  override func minusSet(_ other: Set<AnyHashable>) { for object in other { remove(object.base) } }
  override func intersectSet(_ other: Set<AnyHashable>) {
    for object in _orderToChange ?? [] where !other.contains(object) { remove(object) }
  }

  // MARK: Ordering

  override func exchangeObject(at idx1: Int, withObjectAt idx2: Int) {
    guard var order = _orderToChange else { return }
    order.swapAt(idx1, idx2)
    _owner.setToMany(_slot, order)
  }
  override func moveObjects(at indexes: IndexSet, to idx: Int) {
    guard let order = _orderToChange else { return }
    let moved = indexes.map { order[$0] }
    var rest = order.indices.filter { !indexes.contains($0) }.map { order[$0] }
    rest.insert(contentsOf: moved, at: Swift.min(idx, rest.count))
    _owner.setToMany(_slot, rest)
  }
  override func sort(comparator cmptr: (Any, Any) -> ComparisonResult) {
    sort(options: [], usingComparator: cmptr)
  }
  override func sort(options opts: NSSortOptions = [], usingComparator cmptr: (Any, Any) -> ComparisonResult)
  {
    sortRange(NSRange(location: 0, length: count), options: opts, usingComparator: cmptr)
  }
  override func sortRange(
    _ range: NSRange, options opts: NSSortOptions = [], usingComparator cmptr: (Any, Any) -> ComparisonResult
  ) {
    guard var order = _orderToChange, range.length > 0 else { return }
    let part = range.location..<range.location + range.length
    order.replaceSubrange(part, with: order[part].ordered { cmptr($0, $1) == .orderedAscending })
    _owner.setToMany(_slot, order)
  }
  override func sort(using sortDescriptors: [Foundation.NSSortDescriptor]) {
    sort { left, right in
      sortDescriptors.lazy.map { $0.compare(left, to: right) }.first { $0 != .orderedSame } ?? .orderedSame
    }
  }

  // MARK: Copying

  override func copy(with zone: NSZone? = nil) -> Any { NSOrderedSet(array: _order) }
  override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableOrderedSet(array: _order) }
}
