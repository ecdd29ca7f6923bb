/// A list of the results that is patched when some of them change, and not made anew.
///
/// A list that nobody reads is let go: many changes at once would move its elements many times.
struct KeptList<Element> {
  /// The most changes between two readings.
  static var limit: Int { 64 }

  private var _elements: [Element]?
  private var _changes = 0

  /// Whether changes must be told.
  var isKept: Bool { _elements != nil }

  /// Returns the elements, made by `make` if there is no list.
  mutating func elements(orMake make: () -> [Element]) -> [Element] {
    _changes = 0
    if let _elements { return _elements }
    let made = make()
    _elements = made
    return made
  }

  mutating func insert(_ element: @autoclosure () -> Element, at position: Int) {
    guard _isStillKept() else { return }
    _elements!.insert(element(), at: position)
  }

  mutating func remove(at position: Int) {
    guard _isStillKept() else { return }
    _elements!.remove(at: position)
  }

  mutating func letGo() { _elements = nil }

  private mutating func _isStillKept() -> Bool {
    guard _elements != nil else { return false }
    _changes += 1
    if _changes > Self.limit { _elements = nil }
    return _elements != nil
  }
}

/// The changes of the results since they were last read as one list, in order.
///
/// A controller and the facade that its delegate gets have each a list of their own, with elements of their type, and
/// bring it up to date by these.
struct ListEdits {
  enum Edit {
    case remove(at: Int)
    case insert(NSManagedObject, at: Int)
  }

  private var _edits: [(version: Int, edit: Edit)] = []
  /// The versions of the lists, by whose they are.
  private var _versions: [ObjectIdentifier: Int] = [:]

  /// Whether there is a list that edits bring up to date.
  var isWanted: Bool { !_versions.isEmpty }

  /// Notes that the list of a controller is of this version. Edits that all lists have got are let go, and with them the
  /// objects.
  mutating func note(_ version: Int, of reader: AnyObject) {
    _versions[ObjectIdentifier(reader)] = version
    guard !_edits.isEmpty else { return }
    let oldest = _versions.values.min() ?? version
    _edits.removeAll { $0.version <= oldest }
  }

  /// Lets all lists be made anew.
  mutating func end() {
    _versions = [:]
    _edits = []
  }

  /// Adds an edit that leads to a version.
  mutating func add(_ edit: Edit, to version: Int) {
    if _edits.count == KeptList<Any>.limit { return end() }
    _edits.append((version, edit))
  }

  /// Returns the edits that bring the list of a controller up to date; nil if it must be made anew.
  func edits(for reader: AnyObject) -> [Edit]? {
    _versions[ObjectIdentifier(reader)].map { version in
      _edits.filter { $0.version > version }.map(\.edit)
    }
  }
}
