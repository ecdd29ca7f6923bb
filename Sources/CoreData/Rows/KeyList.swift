/// Keys of stored rows in any order: 8 bytes a row where all have the same ID space.
struct KeyList {
  /// Primary keys.
  private(set) var references: [Int64] = []
  /// The ID spaces of the keys: a single one if all keys share it, otherwise one per key.
  private var _spaces: [ObjectIDSpace] = []

  init() {}

  init(_ keys: some Sequence<ObjectKey>) {
    for key in keys { append(key) }
  }

  var count: Int { references.count }
  var isEmpty: Bool { references.isEmpty }

  subscript(index: Int) -> ObjectKey {
    ObjectKey(space: _spaces.count == 1 ? _spaces[0] : _spaces[index], reference: references[index])
  }

  mutating func append(_ key: ObjectKey) {
    if references.isEmpty {
      _spaces = [key.space]
    } else if _spaces.count > 1 {
      _spaces.append(key.space)
    } else if _spaces[0] !== key.space {
      _spaces = Array(repeating: _spaces[0], count: references.count)
      _spaces.append(key.space)
    }
    references.append(key.reference)
  }
}
