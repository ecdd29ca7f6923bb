/// An unsaved change of one object's membership in a to-many.
struct MemberChange {
  /// Whether the object is a member.
  var isMember: Bool
  /// Whether the object was a member when the context read the to-many; nil if unknown, or if the reads of
  /// the two ends of a many-to-many disagree.
  var wasMember: Bool?

  /// Whether the change restores what was read and need not be recorded.
  var isRestoring: Bool { wasMember == isMember }
}

/// The changed members of a to-many, by identity, in the order of their first changes.
///
/// An array that is searched by address, through an open-addressed table once it has more than a few
/// elements. A Swift dictionary would hash each object through `NSObject`, which takes several times as long.
struct MemberChanges {
  typealias Element = (object: NSManagedObject, change: MemberChange)

  private var _elements: [Element] = []
  /// Positions in `_elements`, or -1; empty as long as a linear search is faster.
  private var _table: [Int32] = []
  private static let _mostSearchedLinearly = 8

  var isEmpty: Bool { _elements.isEmpty }

  /// The objects that became members.
  var added: [NSManagedObject] { _elements.compactMap { $0.change.isMember ? $0.object : nil } }

  /// The objects that are no longer members.
  var removed: [NSManagedObject] { _elements.compactMap { $0.change.isMember ? nil : $0.object } }

  var hasRemovals: Bool { _elements.contains { !$0.change.isMember } }

  /// Returns those of the given objects whose membership has changed.
  func objects(in wanted: Set<NSManagedObject>) -> [NSManagedObject] {
    _elements.compactMap { wanted.contains($0.object) ? $0.object : nil }
  }

  /// All changes.
  var all: [Element] { _elements }

  subscript(object: NSManagedObject) -> MemberChange? {
    get { _position(of: object).map { _elements[$0].change } }
    set {
      switch (_position(of: object), newValue) {
      case (let position?, let change?): _elements[position].change = change
      case (let position?, nil): _remove(at: position)
      case (nil, let change?): _append((object, change))
      case (nil, nil): break
      }
    }
  }

  /// Records a change of membership, or drops one that restores what was read.
  ///
  /// - Parameter wasMember: Whether the object was a member; if nil, the value in its last change, or the
  ///   opposite of `isMember` without one.
  mutating func record(_ object: NSManagedObject, isMember: Bool, wasMember: Bool?) {
    let position = _position(of: object)
    let was = wasMember ?? position.flatMap { _elements[$0].change.wasMember } ?? !isMember
    let change = MemberChange(isMember: isMember, wasMember: was)
    switch position {
    case let position?:
      if change.isRestoring { _remove(at: position) } else { _elements[position].change = change }
    case nil: if !change.isRestoring { _append((object, change)) }
    }
  }

  /// Replaces each change by what `body` returns.
  mutating func update(_ body: (Element) -> MemberChange) {
    for position in _elements.indices { _elements[position].change = body(_elements[position]) }
  }

  /// Returns the objects whose membership differs from an earlier state, each with its earlier membership.
  func changed(since earlier: MemberChanges) -> [(object: NSManagedObject, wasMember: Bool)] {
    let now = _elements.filter { earlier[$0.object]?.isMember != $0.change.isMember }
    let reverted = earlier._elements.filter { self[$0.object] == nil }
    return now.map { ($0.object, !$0.change.isMember) } + reverted.map { ($0.object, $0.change.isMember) }
  }

  // MARK: The table

  private func _position(of object: NSManagedObject) -> Int? {
    if _table.isEmpty {
      return _elements.isEmpty ? nil : _elements.firstIndex { $0.object === object }
    }
    let place = _place(of: object)
    return _table[place] < 0 ? nil : Int(_table[place])
  }

  /// Returns the place of an object in the table, or the free place where it belongs.
  private func _place(of object: NSManagedObject) -> Int {
    var place = _home(of: object)
    while _table[place] >= 0, _elements[Int(_table[place])].object !== object {
      place = (place + 1) & (_table.count - 1)
    }
    return place
  }

  /// Returns the place at which the search for an object starts.
  private func _home(of object: NSManagedObject) -> Int {
    // Objects are aligned to 16 bytes; the multiplication spreads the rest over the upper bits.
    let address = UInt(bitPattern: ObjectIdentifier(object))
    return Int(truncatingIfNeeded: (address >> 4 &* 0x9E37_79B9_7F4A_7C15) >> 32) & (_table.count - 1)
  }

  private mutating func _append(_ element: Element) {
    _elements.append(element)
    if _elements.count * 2 > _table.count {
      if _elements.count > Self._mostSearchedLinearly { _makeTable() }
    } else {
      _table[_place(of: element.object)] = Int32(_elements.count - 1)
    }
  }

  private mutating func _makeTable() {
    _table = Array(repeating: -1, count: max(32, _table.count * 2))
    for (position, element) in _elements.enumerated() {
      _table[_place(of: element.object)] = Int32(position)
    }
  }

  /// Removes a change and moves the last one into its position.
  private mutating func _remove(at position: Int) {
    let last = _elements.count - 1
    if _table.isEmpty {
      _elements.swapAt(position, last)
      _elements.removeLast()
      return
    }
    _free(_place(of: _elements[position].object))
    if position < last {
      _table[_place(of: _elements[last].object)] = Int32(position)
      _elements.swapAt(position, last)
    }
    _elements.removeLast()
  }

  /// Frees a place of the table and moves back later entries that the gap would make unreachable.
  private mutating func _free(_ freed: Int) {
    let mask = _table.count - 1
    var (gap, place) = (freed, freed)
    while true {
      place = (place + 1) & mask
      guard _table[place] >= 0 else { break }
      let home = _home(of: _elements[Int(_table[place])].object)
      // Reachable from its first place without the gap.
      if (place - home) & mask < (place - gap) & mask { continue }
      _table[gap] = _table[place]
      gap = place
    }
    _table[gap] = -1
  }
}
