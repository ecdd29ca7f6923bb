import CoreDataModelSchema
import CoreDataPredicateLanguage

/// The rows to which an equality or IN in a predicate limits a fetch. Others cannot match; whether these do is for
/// the whole predicate to decide.
enum RowPin {
  /// Rows of which a cell has one of these values.
  case cells(slot: Int, [EqualityKey])
  case keys([Int64])

  /// Creates the limit of a plan; nil if all rows may match.
  init?(_ plan: __shared FetchPlan, _ test: SlotTest) {
    if let pin = test.pin {
      self = .cells(slot: pin.slot, [pin.key])
    } else if let predicate = plan.predicate, let pin = Self(predicate, plan.layout) {
      self = pin
    } else {
      return nil
    }
  }

  private init?(_ tree: PredicateTree, _ layout: PropertyLayout) {
    switch tree {
    case .and(let members):
      guard let pin = members.lazy.compactMap({ RowPin($0, layout) }).first else { return nil }
      self = pin
    case .comparison(let comparison):
      guard comparison.modifier == .direct, comparison.options.isEmpty,
        case .constant(let constant) = comparison.right
      else { return nil }
      let values: [PredicateValue]
      switch (comparison.op, constant) {
      case (.equal, _): values = [constant]
      case (.in, .collection(let members)): values = members
      default: return nil
      }
      switch comparison.left {
      case .evaluatedObject:
        guard let keys = Self._keys(values, of: layout.rootNumber) else { return nil }
        self = .keys(keys)
      case .keyPath(let path) where path.count == 1:
        guard let slot = layout.slot(named: path[0]), let keys = Self._keys(values, layout, slot) else {
          return nil
        }
        self = .cells(slot: slot, keys)
      default: return nil
      }
    default: return nil
    }
  }

  /// Returns what cells equal to these constants are indexed by; nil if another cell may equal one of them.
  private static func _keys(_ values: [PredicateValue], _ layout: PropertyLayout, _ slot: Int)
    -> [EqualityKey]?
  {
    var keys: [EqualityKey] = []
    if let type = layout.slots[slot].type {
      for value in values {
        guard let key = Value(value, comparableWith: type).flatMap(EqualityKey.init) else { return nil }
        keys.append(key)
      }
    } else if layout.slots[slot].isToOne {
      for value in values {
        guard let reference = value._storedID?.key?.reference else { return nil }
        keys.append(.int(reference))
      }
    } else {
      return nil
    }
    return keys
  }

  private static func _keys(_ values: [PredicateValue], of root: Int) -> [Int64]? {
    var keys: [Int64] = []
    for value in values {
      guard let key = value._storedID?.key else { return nil }
      if key.space.layout.rootNumber == root { keys.append(key.reference) }
    }
    return keys
  }
}

extension PredicateValue {
  /// The ID, if the value is an object's or its ID.
  fileprivate var _storedID: NSManagedObjectID? {
    guard case .object(let object) = self else { return nil }
    return (object.wrapped as? any PredicateIdentifiable)?.predicateIdentity.base as? NSManagedObjectID
  }
}
