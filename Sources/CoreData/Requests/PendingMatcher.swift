import CoreDataModelSchema
import CoreDataPredicateLanguage
import Foundation

/// Matches unsaved objects against a fetch's predicate. Comparisons of an attribute with a constant are
/// evaluated on slots, all others on the object.
struct PendingMatcher {
  /// An attribute that the predicate fixes to one value: the key for the equality indexes.
  struct Pin {
    let slot: Int
    let key: EqualityKey
  }

  let pin: Pin?
  /// The values of an attribute to which the predicate limits a match, where it fixes none.
  let range: CellRange?
  let test: SlotTest
  let plan: FetchPlan

  init(_ plan: __shared FetchPlan) {
    self.plan = plan
    test = SlotTest(plan)
    pin = test.pin
    range = pin == nil ? test.range : nil
  }
}

/// A predicate evaluated on the cells of a Row, as far as they decide it.
enum SlotTest {
  case constant(Bool)
  case equal(slot: Int, Value)
  case compare(slot: Int, PredicateTree.Comparison.Operator, Value)
  case begins(slot: Int, String)
  case and([SlotTest])
  case or([SlotTest])
  indirect case not(SlotTest)
  /// Requires the object.
  case undecided

  /// Creates the test of a plan's predicate.
  init(_ plan: __shared FetchPlan) {
    if let known = plan.known, let test = Self(known, plan.layout) {
      self = test
    } else {
      self = plan.predicate.map { Self($0, plan.layout) } ?? .constant(true)
    }
  }

  private init(_ tree: PredicateTree, _ layout: PropertyLayout) {
    switch tree {
    case .constant(let value): self = .constant(value)
    case .and(let members): self = .and(members.map { SlotTest($0, layout) })
    case .or(let members): self = .or(members.map { SlotTest($0, layout) })
    case .not(let member): self = .not(SlotTest(member, layout))
    case .comparison(let comparison): self = Self._comparison(comparison, layout)
    case .block: self = .undecided
    }
  }

  /// Creates the test of a precomputed equality without walking the tree; nil for any other comparison.
  private init?(_ known: TemplatedComparison, _ layout: PropertyLayout) {
    guard let comparison = known.template.keyComparison, comparison.isPlain, comparison.op == .equal,
      comparison.path.count == 1, let slot = layout.slot(named: comparison.path[0]),
      let type = layout.slots[slot].type, let value = Value(known.value, comparableWith: type)
    else { return nil }
    self = .equal(slot: slot, value)
  }

  private static func _comparison(
    _ comparison: PredicateTree.Comparison, _ layout: PropertyLayout
  ) -> SlotTest {
    guard comparison.modifier == .direct, comparison.options.isEmpty,
      case .keyPath(let path) = comparison.left, path.count == 1, let slot = layout.slot(named: path[0]),
      case .constant(let constant) = comparison.right, let type = layout.slots[slot].type
    else { return .undecided }
    if comparison.op == .between, case .collection(let bounds) = constant, bounds.count == 2,
      let least = Value(bounds[0], comparableWith: type),
      let greatest = Value(bounds[1], comparableWith: type),
      !least.isNull, !greatest.isNull
    {
      return .and([
        .compare(slot: slot, .greaterThanOrEqual, least), .compare(slot: slot, .lessThanOrEqual, greatest),
      ])
    }
    guard let value = Value(constant, comparableWith: type) else { return .undecided }
    switch comparison.op {
    case .equal: return .equal(slot: slot, value)
    case .notEqual: return .not(.equal(slot: slot, value))
    case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
      if value.isNull { return .undecided }
      return .compare(slot: slot, comparison.op, value)
    case .beginsWith:
      guard type.form == .string, case .string(let prefix) = value else { return .undecided }
      return .begins(slot: slot, prefix)
    default: return .undecided
    }
  }

  /// Returns nil if the cells do not decide.
  func verdict(_ row: Row) -> Bool? {
    switch self {
    case .constant(let value): return value
    case .undecided: return nil
    case .equal(let slot, let value):
      // Without options, texts are compared by their bytes, as in SQL; Swift considers é and e´ equal.
      if case .string(let text) = value, case .string(let other) = row[slot] {
        return Value.binaryOrder(other, text) == 0
      }
      return row[slot] == value
    case .compare(let slot, let op, let value):
      guard let order = Value.order(row[slot], value) else { return nil }
      switch op {
      case .lessThan: return order < 0
      case .lessThanOrEqual: return order <= 0
      case .greaterThan: return order > 0
      default: return order >= 0
      }
    case .begins(let slot, let prefix):
      guard case .string(let text) = row[slot] else { return nil }
      return StringComparison.begins(text, with: prefix)
    case .not(let test): return test.verdict(row).map { !$0 }
    case .and(let tests):
      var isDecided = true
      for test in tests {
        guard let verdict = test.verdict(row) else {
          isDecided = false
          continue
        }
        if !verdict { return false }
      }
      return isDecided ? true : nil
    case .or(let tests):
      var isDecided = true
      for test in tests {
        guard let verdict = test.verdict(row) else {
          isDecided = false
          continue
        }
        if verdict { return true }
      }
      return isDecided ? false : nil
    }
  }

  /// An equality that is necessary for a match.
  var pin: PendingMatcher.Pin? {
    switch self {
    case .equal(let slot, let value): EqualityKey(value).map { PendingMatcher.Pin(slot: slot, key: $0) }
    case .and(let tests): tests.lazy.compactMap(\.pin).first
    default: nil
    }
  }
}

extension SlotTest {
  /// A range of an attribute's values that is necessary for a match.
  var range: CellRange? {
    switch self {
    case .compare(let slot, let op, let value):
      // Nothing is known of what is compared with no number.
      guard !value._isNotANumber, let rank = CellRank(value) else { return nil }
      switch op {
      case .lessThan, .lessThanOrEqual: return CellRange(slot: slot, greatest: rank)
      default: return CellRange(slot: slot, least: rank)
      }
    case .begins(let slot, let prefix):
      guard !prefix.isEmpty, let least = CellRank(.string(prefix)) else { return nil }
      return CellRange(slot: slot, least: least, greatest: .last(with: prefix))
    case .and(let tests):
      var result: CellRange?
      for range in tests.lazy.compactMap(\.range) {
        guard let known = result else {
          result = range
          continue
        }
        if range.slot == known.slot { result = known.intersection(range) }
      }
      return result
    default: return nil
    }
  }
}

extension Value {
  fileprivate var _isNotANumber: Bool { if case .double(let double) = self { double.isNaN } else { false } }

  /// Converts a predicate's constant to a cell of an attribute of this type; nil if they need another
  /// comparison.
  init?(_ constant: PredicateValue, comparableWith type: AttributeType) {
    switch (constant, type.form) {
    case (.null, _): self = .null
    case (.string(let string), .string): self = .string(string)
    case (.int(let int), .integer16), (.int(let int), .integer32), (.int(let int), .integer64),
      (.int(let int), .boolean):
      self = .int(int)
    case (.bool(let bool), .boolean), (.bool(let bool), .integer16), (.bool(let bool), .integer32),
      (.bool(let bool), .integer64):
      self = .int(bool ? 1 : 0)
    case (.double(let double), .double), (.double(let double), .float), (.date(let double), .date):
      self = .double(double)
    case (.int(let int), .double), (.int(let int), .float): self = .double(Double(int))
    case (.uuid(let uuid), .uuid): self = .uuid(uuid)
    case (.url(let url), .uri): self = .string(url.absoluteString)
    case (.data(let data), .binaryData): self = .data(data)
    default: return nil
    }
  }

  /// Returns a negative number, zero or a positive number; nil for null and for cells without a common order.
  /// Strings compare by their bytes.
  static func order(_ left: Value, _ right: Value) -> Int? {
    switch (left, right) {
    case (.int(let l), .int(let r)): l < r ? -1 : (l == r ? 0 : 1)
    case (.double(let l), .double(let r)): l < r ? -1 : (l == r ? 0 : 1)
    case (.string(let l), .string(let r)): binaryOrder(l, r)
    case (.decimal(let l), .decimal(let r)): l.decimal < r.decimal ? -1 : (l.decimal == r.decimal ? 0 : 1)
    default: nil
    }
  }

  /// Compares the UTF-8 bytes, like SQLite's BINARY collation.
  static func binaryOrder(_ left: String, _ right: String) -> Int {
    switch StringComparison.compare(left, right, .binary) {
    case .orderedAscending: -1
    case .orderedSame: 0
    case .orderedDescending: 1
    }
  }
}
