import Foundation
import ModelSchema
import PredicateLanguage

/// A fetch request resolved against a frozen model: what a store is asked.
///
/// Object and object-ID constants in the predicate are `PredicateValue.object` around an `NSManagedObjectID`; an unsaved
/// object's ID matches no stored row.
struct FetchPlan: Sendable {
  /// A comparison of a key with a plain value, made of a format whose predicates differ in this value only.
  struct TemplatedComparison: Sendable {
    let template: PredicateTemplate
    let value: PredicateValue
    /// What the value adds to the shape.
    let kind: UInt8
  }

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
  var predicate: PredicateTree? {
    didSet { known = nil }
  }
  /// What is known of `predicate` without walking it.
  private(set) var known: TemplatedComparison?
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
    if let comparison = predicate as? NSComparisonPredicate, let known = comparison.templated {
      // Nothing in it has to be carried out or replaced.
      self.predicate = comparison.tree
      self.known = known
    } else {
      self.predicate = try PredicateTree(predicate).forStores
    }
  }
}

extension FetchPlan.TemplatedComparison {
  /// Nil where the format's argument was an object, a collection or an expression, which say more than a value.
  init?(_ template: PredicateTemplate, _ tree: PredicateTree) {
    guard case .comparison(let comparison) = tree, case .constant(let value) = comparison.right,
      let kind = PredicateShape.kind(of: value)
    else { return nil }
    self.init(template: template, value: value, kind: kind)
  }
}
