import CoreDataModelSchema
import CoreDataPredicateLanguage
import Foundation

/// Whether unsaved objects meet a fetch's predicate. Comparisons of an attribute with a constant work on
/// slots; anything else is evaluated on the object.
struct PendingMatcher {
  /// An attribute that the predicate pins to one value: the way into the equality indexes.
  struct Pin {
    let slot: Int
    let key: EqualityKey
  }

  let pin: Pin?
  let test: SlotTest
  let plan: FetchPlan

  init(_ plan: __shared FetchPlan) {
    self.plan = plan
    test = SlotTest(plan)
    pin = test.pin
  }
}

/// A predicate on the cells of a Row, as far as it can be decided there.
enum SlotTest {
  case constant(Bool)
  case equal(slot: Int, Value)
  case compare(slot: Int, PredicateTree.Comparison.Operator, Value)
  case and([SlotTest])
  case or([SlotTest])
  indirect case not(SlotTest)
  /// Needs the object.
  case undecided

  /// The test of a plan's predicate.
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

  /// The test of an equality that is known without walking the tree; nil for any other comparison.
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
      case .constant(let constant) = comparison.right, let type = layout.slots[slot].type,
      let value = Value(constant, comparableWith: type)
    else { return .undecided }
    switch comparison.op {
    case .equal: return .equal(slot: slot, value)
    case .notEqual: return .not(.equal(slot: slot, value))
    case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
      if value.isNull { return .undecided }
      return .compare(slot: slot, comparison.op, value)
    default: return .undecided
    }
  }

  /// Nil if the cells do not decide.
  func verdict(_ row: Row) -> Bool? {
    switch self {
    case .constant(let value): return value
    case .undecided: return nil
    case .equal(let slot, let value):
      // Without options texts are compared by their bytes, as in SQL; Swift would take é and e´ for equal.
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

  /// An equality that everything matching must meet.
  var pin: PendingMatcher.Pin? {
    switch self {
    case .equal(let slot, let value): EqualityKey(value).map { PendingMatcher.Pin(slot: slot, key: $0) }
    case .and(let tests): tests.lazy.compactMap(\.pin).first
    default: nil
    }
  }
}

extension Value {
  /// A predicate's constant as the cell of an attribute of this type would be; nil if they compare in another
  /// way.
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

  /// Negative, zero or positive; nil for null and for cells that have no common order. Strings by their
  /// bytes.
  static func order(_ left: Value, _ right: Value) -> Int? {
    switch (left, right) {
    case (.int(let l), .int(let r)): l < r ? -1 : (l == r ? 0 : 1)
    case (.double(let l), .double(let r)): l < r ? -1 : (l == r ? 0 : 1)
    case (.string(let l), .string(let r)): binaryOrder(l, r)
    case (.decimal(let l), .decimal(let r)): l.decimal < r.decimal ? -1 : (l.decimal == r.decimal ? 0 : 1)
    default: nil
    }
  }

  /// Order of the UTF-8 bytes, as SQLite's BINARY collation has it.
  static func binaryOrder(_ left: String, _ right: String) -> Int {
    switch StringComparison.compare(left, right, .binary) {
    case .orderedAscending: -1
    case .orderedSame: 0
    case .orderedDescending: 1
    }
  }
}
