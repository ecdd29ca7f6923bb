import Foundation

/// The members of a to-many that has been read: what was read or last saved, in that order, and what has
/// changed since. A single change costs the same in a large set as in a small one.
///
/// A hash set and a Foundation set are made when one is first asked for, and kept up to date from then on:
/// most to-manys are only iterated.
struct MemberSet {
  /// The members as read.
  private var _read: [NSManagedObject] = []
  /// What was saved since, not in `_read` yet.
  private var _saved = MemberChanges()
  /// The difference between what was read or last saved and the members.
  private var _difference = MemberChanges()
  private(set) var count = 0
  /// All members; nil until one is searched.
  private var _set: Set<NSManagedObject>?
  /// All members; nil until asked for, and when the program has kept the last one.
  private var _foundationSet: NSMutableSet?
  /// A class to which all members are known to belong.
  private var _commonClass: ObjectIdentifier?

  init() {}

  init(_ read: [NSManagedObject]) { (_read, count) = (read, read.count) }

  // MARK: Reading

  /// The members as read or last saved, in that order.
  var base: [NSManagedObject] {
    mutating get {
      if !_saved.isEmpty {
        _read = Self._list(_read, _saved)
        _saved = MemberChanges()
      }
      return _read
    }
  }

  /// All members: those read or last saved, in that order, then those added, in theirs.
  var list: [NSManagedObject] {
    mutating get { _difference.isEmpty ? base : Self._list(base, _difference) }
  }

  /// All members, as a set to search.
  var set: Set<NSManagedObject> {
    mutating get {
      if let _set { return _set }
      let set = Set(list)
      _set = set
      return set
    }
  }

  mutating func contains(_ object: NSManagedObject) -> Bool { set.contains(object) }

  /// The members that were read or last saved and have been removed since.
  var removed: [NSManagedObject] { _difference.removed }

  /// The members as a plain set: Foundation does not bridge subclasses, so `as? Set<Book>` of one yields an
  /// empty set.
  var foundationSet: NSSet {
    mutating get {
      if let _foundationSet { return _foundationSet }
      let made = (_set.map { Array($0) } ?? list).withUnsafeBufferPointer { members in
        members.withMemoryRebound(to: AnyObject.self) {
          NSMutableSet(objects: $0.baseAddress, count: $0.count)
        }
      }
      _foundationSet = made
      return made
    }
  }

  /// Returns a member that is not of this class, if any.
  mutating func member<Object: NSManagedObject>(notOf type: Object.Type) -> NSManagedObject? {
    let wanted = ObjectIdentifier(type)
    if _commonClass == wanted || type == NSManagedObject.self { return nil }
    func isOther(_ member: NSManagedObject) -> Bool {
      ObjectIdentifier(Swift.type(of: member)) != wanted && !(member is Object)
    }
    if let other = _set.map({ $0.first(where: isOther) }) ?? list.first(where: isOther) { return other }
    _commonClass = wanted
    return nil
  }

  private static func _list(_ base: [NSManagedObject], _ changes: MemberChanges) -> [NSManagedObject] {
    (changes.hasRemovals ? base.filter { changes[$0] == nil } : base) + changes.added
  }

  // MARK: Changing

  /// - Returns: Whether the object was no member.
  mutating func insert(_ object: NSManagedObject) -> Bool {
    _makeSet()
    guard _set!.insert(object).inserted else { return false }
    count += 1
    _difference.record(object, isMember: true, wasMember: nil)
    if _commonClass != ObjectIdentifier(type(of: object)) { _commonClass = nil }
    if _ownsFoundationSet { _foundationSet!.add(object) }
    return true
  }

  /// - Returns: Whether the object was a member.
  mutating func remove(_ object: NSManagedObject) -> Bool {
    _makeSet()
    guard _set!.remove(object) != nil else { return false }
    count -= 1
    _difference.record(object, isMember: false, wasMember: nil)
    if _ownsFoundationSet { _foundationSet!.remove(object) }
    return true
  }

  /// Removes objects from the members and from what was read, in the time of the smaller of the two sets.
  ///
  /// - Returns: Whether there were any.
  mutating func drop(_ gone: Set<NSManagedObject>) -> Bool {
    if _set == nil, count <= 64, !base.contains(where: gone.contains) { return false }
    _makeSet()
    let found =
      gone.count < count
      ? Array(gone) : _set!.filter(gone.contains) + _difference.objects(in: gone)
    var hasDropped = false
    for object in found {
      let isMember = _set!.remove(object) != nil
      let wasMember = _difference[object].map { !$0.isMember } ?? isMember
      guard isMember || wasMember else { continue }
      hasDropped = true
      _difference[object] = nil
      if wasMember { _saved.record(object, isMember: false, wasMember: nil) }
      if isMember {
        count -= 1
        if _ownsFoundationSet { _foundationSet!.remove(object) }
      }
    }
    return hasDropped
  }

  /// Makes the members what was last saved.
  ///
  /// - Parameter order: The members in their order, if the to-many is ordered.
  mutating func commit(order: [NSManagedObject]?) {
    if let order {
      (_read, _saved) = (order, MemberChanges())
    } else {
      for (object, change) in _difference.all {
        _saved.record(object, isMember: change.isMember, wasMember: nil)
      }
    }
    _difference = MemberChanges()
  }

  /// Restores what was read or last saved.
  mutating func rollback() {
    for (object, change) in _difference.all { _ = change.isMember ? remove(object) : insert(object) }
  }

  /// What contradicts itself in the set, for tests.
  var inconsistencies: [String] {
    var copy = self
    let members = Set(copy.list)
    var found: [String] = []
    if members.count != count || copy.list.count != count {
      found.append("\(count) members are counted, \(copy.list.count) listed")
    }
    if let _set, _set != members { found.append("the set of members differs from their list") }
    if let _foundationSet, Set(_foundationSet.compactMap { $0 as? NSManagedObject }) != members {
      found.append("Foundation's set of members differs from their list")
    }
    return found
  }

  private mutating func _makeSet() { if _set == nil { _set = Set(list) } }

  /// Whether the Foundation set can be changed in place. Otherwise, one is made anew when it is asked for.
  private var _ownsFoundationSet: Bool {
    mutating get {
      if isKnownUniquelyReferenced(&_foundationSet) { return true }
      _foundationSet = nil
      return false
    }
  }
}
