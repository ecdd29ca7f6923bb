import Foundation
import ModelSchema
import PredicateLanguage

/// A fetch request resolved against a frozen model: what a store is asked.
///
/// Object and object-ID constants in the predicate are `PredicateValue.object` around an `NSManagedObjectID`; an unsaved
/// object's ID matches no stored row.
struct FetchPlan: Sendable {
  struct SortTerm: Sendable, Hashable {
    /// How two strings are ordered; anything else is compared by its natural order.
    enum Comparison: Sendable, Hashable {
      case binary
      case caseInsensitive
      case localized
      case localizedCaseInsensitive
      case localizedStandard
    }

    let keyPath: [String]
    let ascending: Bool
    let comparison: Comparison
  }

  /// What is read of each row.
  enum Content: Sendable, Hashable {
    /// All values.
    case values
    /// Identity only.
    case identity
    /// Identity, and the values at some slots.
    case slots([Int])
  }

  var layout: PropertyLayout
  var includesSubentities = true
  var predicate: PredicateTree?
  /// The format that `predicate` was made of, if all its predicates are alike but for one plain value.
  var template: PredicateTemplate?
  var sort: [SortTerm] = []
  /// 0: none.
  var limit = 0
  var offset = 0
  var content = Content.values

  init(layout: PropertyLayout) { self.layout = layout }

  /// The same without an order.
  var unsorted: FetchPlan {
    var plan = self
    plan.sort = []
    return plan
  }

  /// Takes a request's predicate as stores do.
  ///
  /// - Throws: What a nested fetch throws; `PredicateEvaluationError` for a predicate that is no tree.
  mutating func take(_ predicate: NSPredicate) throws {
    if let comparison = predicate as? NSComparisonPredicate, comparison.template != nil,
      case .comparison(let parts) = comparison.tree, case .constant(let value) = parts.right,
      PredicateShape.kind(of: value) != nil
    {
      // A key and a plain value: nothing in it has to be carried out or replaced.
      (self.predicate, template) = (comparison.tree, comparison.template)
    } else {
      self.predicate = try PredicateTree(predicate).forStores
    }
  }
}
