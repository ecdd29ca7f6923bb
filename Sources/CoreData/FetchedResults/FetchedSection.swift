import CoreDataModelSchema
import Foundation

/// A run of results with the same section name. Used on the queue of the controller's context.
final class FetchedSection: NSFetchedResultsSectionInfo {
  let name: String
  /// The results of the section in order.
  var results = RankedTree<FetchedResult>()
  /// Handle among the sections; nil once the section is removed.
  var handle: RankedTree<FetchedSection>.Handle?
  /// Sort keys of the first result, or of the last remaining one: the section's position among the others.
  var pivot = SortKeys.none
  private weak var _core: FetchedResultsCore?
  private var _objects = CachedList<Any>()
  /// The IDs of the results, for snapshots.
  private var _items = CachedList<AnyHashable>()
  /// Whether one of the IDs was temporary when the list was made.
  private var _hasTemporaryItems = false

  init(_ name: String, _ core: FetchedResultsCore) {
    self.name = name
    _core = core
  }

  var indexTitle: String? {
    // A title that the controller or its delegate omits remains nil.
    guard let owner = _core?.owner else { return FetchedResultsCore.initial(of: name) }
    return owner.indexTitle(forSection: name)
  }

  var numberOfObjects: Int { results.count }

  var objects: [Any]? { _objects.elements { results.elements.map(\.object) } }

  /// The IDs of the objects in order.
  var items: [AnyHashable] {
    if _hasTemporaryItems { _items.invalidate() }
    _hasTemporaryItems = false
    return _items.elements {
      var items: [AnyHashable] = []
      items.reserveCapacity(results.count)
      results.forEach { items.append(_item($0)) }
      return items
    }
  }

  private func _item(_ result: FetchedResult) -> AnyHashable {
    if result.object._objectID.isTemporary { _hasTemporaryItems = true }
    return result.object._objectID
  }

  /// Inserts a result at a position.
  func insert(_ result: FetchedResult, at position: Int, rank: UInt64) {
    result.section = self
    result.handle = results.insert(result, at: position, rank: rank)
    _objects.insert(result.object, at: position)
    _items.insert(_item(result), at: position)
  }

  /// Removes a result of the section.
  func remove(_ result: FetchedResult) {
    if _objects.isCached || _items.isCached {
      let position = results.position(of: result.handle)
      _objects.remove(at: position)
      _items.remove(at: position)
    }
    results.remove(result.handle)
    result.handle = .none
  }

  /// Sort keys that determine the section's position.
  var keys: SortKeys { results.first?.keys ?? pivot }
}

/// One object of the results, with its sort keys, which must not change while it is in place.
///
/// There is one per row of a list, so its members are ordered for the smallest size.
final class FetchedResult {
  let object: NSManagedObject
  var keys: SortKeys
  var handle = RankedTree<FetchedResult>.Handle.none
  /// The section owns its results.
  unowned var section: FetchedSection

  init(_ object: NSManagedObject, keys: SortKeys, section: FetchedSection) {
    self.object = object
    self.keys = keys
    self.section = section
  }

  var item: Int { section.results.position(of: handle) }
}

/// The sort keys of an object, one per sort descriptor. Most lists have one descriptor, which needs no array.
enum SortKeys {
  case one(Value)
  case several([Value])

  /// Keys of an object that was never placed.
  static let none = SortKeys.several([])

  init(_ values: some Collection<Value>) {
    if values.count == 1, let first = values.first {
      self = .one(first)
    } else {
      self = .several(Array(values))
    }
  }

  var count: Int {
    switch self {
    case .one: 1
    case .several(let values): values.count
    }
  }

  var first: Value? {
    switch self {
    case .one(let value): value
    case .several(let values): values.first
    }
  }

  var values: [Value] {
    switch self {
    case .one(let value): [value]
    case .several(let values): values
    }
  }
}

/// Locations of the results' sort keys and section name in the model.
struct FetchedKeys {
  private let _plan: FetchPlan
  /// Slot of each sort term; nil for a longer key path.
  private let _slots: [Int?]
  private let _terms: [(comparison: FetchPlan.SortTerm.Comparison, ascending: Bool)]
  private let _isRanked: Bool
  private let _sectionSlot: Int?
  private let _sectionPath: String?

  init(_ plan: FetchPlan, sectionNameKeyPath: String?) {
    _plan = plan
    _terms = plan.sort.map { ($0.comparison, $0.ascending) }
    _slots = plan.sort.map { term in
      guard term.keyPath.count == 1, let slot = plan.layout.slot(named: term.keyPath[0]),
        plan.layout.slots[slot].isAttribute
      else { return nil }
      return slot
    }
    if let first = plan.sort.first {
      _isRanked = Self._ranks(first, _slots[0], plan.layout)
    } else {
      _isRanked = false
    }
    _sectionPath = sectionNameKeyPath
    // Stored values are read from the row; all others (transient, computed, across relationships) from the
    // object.
    _sectionSlot = sectionNameKeyPath.flatMap { plan.layout.slot(named: $0) }.flatMap { slot in
      plan.layout.slots[slot].isAttribute && !plan.layout.slots[slot].isTransient ? slot : nil
    }
  }

  /// Slots of the sort terms, then the section's; nil unless all of them are stored in the row.
  var storedSlots: [Int]? {
    let slots = _slots.compactMap { $0 }
    guard slots.count == _slots.count else { return nil }
    return _sectionPath == nil ? slots : _sectionSlot.map { slots + [$0] }
  }

  func sortKeys(of object: NSManagedObject, _ row: Row) throws -> SortKeys {
    if _slots.count == 1, let slot = _slots[0] { return .one(row[slot]) }
    var keys: [Value] = []
    keys.reserveCapacity(_slots.count)
    for (index, slot) in _slots.enumerated() {
      keys.append(try slot.map { row[$0] } ?? RowOrdering.cell(_plan.sort[index].keyPath, of: object))
    }
    return SortKeys(keys)
  }

  /// Returns the section name of an object: the text of the value, empty for nil.
  func sectionName(of object: NSManagedObject, _ row: Row) -> String {
    guard let _sectionPath else { return "" }
    if let _sectionSlot { return sectionName(row[_sectionSlot], of: object) }
    return Self._text(object.value(forKeyPath: _sectionPath))
  }

  /// Returns the section name of an object with this value in the section's slot.
  func sectionName(_ value: Value, of object: NSManagedObject) -> String {
    switch value {
    case .null: return ""
    case .string(let text): return text
    case .int(let number): return String(number)
    default: return Self._text(_sectionSlot.flatMap { object.shown(value, $0) })
    }
  }

  private static func _text(_ value: Any?) -> String {
    switch value {
    case nil: ""
    case let text as String: text
    case let number as NSNumber: number.stringValue
    case let other?: String(describing: other)
    }
  }

  /// Returns a number that orders like the keys, as far as possible; for equal numbers compare the keys.
  func rank(of keys: SortKeys) -> UInt64 {
    guard _isRanked, let first = keys.first else { return 0 }
    let rank = PackedCell.rank(of: first)
    return _terms[0].ascending ? rank : ~rank
  }

  /// Whether values of this term order by their bytes or as numbers. For other terms, all ranks are zero.
  private static func _ranks(_ term: FetchPlan.SortTerm, _ slot: Int?, _ layout: PropertyLayout) -> Bool {
    guard let slot, let type = layout.slots[slot].type else { return false }
    switch type {
    case .boolean, .integer16, .integer32, .integer64, .float, .double, .date: return true
    case .string: return term.comparison == .binary
    default: return false
    }
  }

  /// Returns a negative number, zero or a positive number in the order of the fetch.
  func order(_ left: SortKeys, _ right: SortKeys) -> Int {
    if case .one(let l) = left, case .one(let r) = right {
      let verdict = RowOrdering.compare(l, r, _terms[0].comparison)
      return _terms[0].ascending ? verdict : -verdict
    }
    let (left, right) = (left.values, right.values)
    for (index, term) in _terms.enumerated() {
      let verdict = RowOrdering.compare(left[index], right[index], term.comparison)
      if verdict != 0 { return term.ascending ? verdict : -verdict }
    }
    return 0
  }
}
