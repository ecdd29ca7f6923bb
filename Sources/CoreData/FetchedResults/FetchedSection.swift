import Foundation

/// A run of results under one name. Used on the controller's context's queue.
final class FetchedSection: NSFetchedResultsSectionInfo {
  let name: String
  /// The results of the section in order.
  var results = RankedTree<FetchedResult>()
  /// Place among the sections; nil once the section is gone.
  var handle: RankedTree<FetchedSection>.Handle?
  /// Sort keys of the first result, or of the last one there was: where the section stands among the others.
  var pivot: [Value] = []
  private weak var _core: FetchedResultsCore?
  private var _objects: [Any]?

  init(_ name: String, _ core: FetchedResultsCore) {
    self.name = name
    _core = core
  }

  var indexTitle: String? {
    // A title that the controller or its delegate leaves out stays out.
    guard let owner = _core?.owner else { return FetchedResultsCore.initial(of: name) }
    return owner.indexTitle(forSection: name)
  }

  var numberOfObjects: Int { results.count }

  var objects: [Any]? {
    if let _objects { return _objects }
    let objects: [Any] = results.elements.map(\.object)
    _objects = objects
    return objects
  }

  /// Results were inserted or removed.
  func noteChange() { _objects = nil }

  /// Sort keys that the section is placed by.
  var keys: [Value] { results.first?.keys ?? pivot }
}

/// One object of the results, with the keys it is placed by: those must not change while it stands there.
final class FetchedResult {
  let object: NSManagedObject
  var keys: [Value]
  /// The section holds its results.
  unowned var section: FetchedSection
  var handle: RankedTree<FetchedResult>.Handle?

  init(_ object: NSManagedObject, keys: [Value], section: FetchedSection) {
    self.object = object
    self.keys = keys
    self.section = section
  }

  var item: Int { section.results.position(of: handle!) }
}

/// Where in the model a result's sort keys and section name are read.
struct FetchedKeys {
  private let _plan: FetchPlan
  /// Slot of each sort term; nil for a key path that leads on.
  private let _slots: [Int?]
  private let _sectionSlot: Int?
  private let _sectionPath: String?

  init(_ plan: FetchPlan, sectionNameKeyPath: String?) {
    _plan = plan
    _slots = plan.sort.map { term in
      guard term.keyPath.count == 1, let slot = plan.layout.slot(named: term.keyPath[0]),
        plan.layout.slots[slot].attribute != nil
      else { return nil }
      return slot
    }
    _sectionPath = sectionNameKeyPath
    // What is stored is read off the row; anything else (transient, computed, across relationships) is the
    // object's to say.
    _sectionSlot = sectionNameKeyPath.flatMap { plan.layout.slot(named: $0) }.flatMap { slot in
      plan.layout.slots[slot].attribute != nil && !plan.layout.slots[slot].isTransient ? slot : nil
    }
  }

  /// Slots that place an object, those of the sort terms and then the section's; nil if any of it is not
  /// stored in its row.
  var storedSlots: [Int]? {
    let slots = _slots.compactMap { $0 }
    guard slots.count == _slots.count else { return nil }
    return _sectionPath == nil ? slots : _sectionSlot.map { slots + [$0] }
  }

  func sortKeys(of object: NSManagedObject, _ row: Row) throws -> [Value] {
    var keys: [Value] = []
    keys.reserveCapacity(_slots.count)
    for (index, slot) in _slots.enumerated() {
      keys.append(try slot.map { row[$0] } ?? RowOrdering.cell(_plan.sort[index].keyPath, of: object))
    }
    return keys
  }

  /// Name of the section that an object belongs to: the text of the value, empty for nil.
  func sectionName(of object: NSManagedObject, _ row: Row) -> String {
    guard let _sectionPath else { return "" }
    if let _sectionSlot { return sectionName(row[_sectionSlot], of: object) }
    return Self._text(object.value(forKeyPath: _sectionPath))
  }

  /// Name of the section that an object with this value in the section's slot belongs to.
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

  /// Negative, zero or positive, as the fetch orders.
  func order(_ left: [Value], _ right: [Value]) -> Int {
    for (index, term) in _plan.sort.enumerated() {
      let verdict = RowOrdering.compare(left[index], right[index], term.comparison)
      if verdict != 0 { return term.ascending ? verdict : -verdict }
    }
    return 0
  }
}
