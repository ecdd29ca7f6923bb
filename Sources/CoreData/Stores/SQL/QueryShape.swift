import CoreDataModelSchema
import CoreDataPredicateLanguage

/// A fetch without its constants: all plans of one shape run the same SQL with different bindings.
package struct QueryShape: Hashable, Sendable {
  /// The kind of result.
  package enum Purpose: Hashable, Sendable {
    case objects
    case count
  }

  private enum Predicate: Hashable, Sendable {
    case none
    case shape(PredicateShape)
    /// The shape of a comparison created from a format, with a value of some kind; determined without walking
    /// the tree.
    case template(PredicateTemplate, kind: UInt8)
  }

  private let _entity: Int
  private let _predicate: Predicate
  private let _sort: [FetchPlan.SortTerm]
  private let _purpose: Purpose
  private let _content: FetchPlan.Content
  private let _includesSubentities: Bool
  private let _hasLimit: Bool
  private let _hasOffset: Bool

  /// Splits a plan into its shape and the constants to bind, from left to right.
  package static func taking(_ plan: FetchPlan, _ purpose: Purpose) -> (
    shape: QueryShape, constants: [PredicateValue]
  ) {
    if let known = plan.known {
      return (QueryShape(plan, purpose, .template(known.template, kind: known.kind)), [known.value])
    }
    guard let predicate = plan.predicate else { return (QueryShape(plan, purpose, .none), []) }
    let (shape, constants) = PredicateShape.taking(predicate)
    return (QueryShape(plan, purpose, .shape(shape)), constants)
  }

  private init(_ plan: FetchPlan, _ purpose: Purpose, _ predicate: Predicate) {
    _entity = plan.layout.entityNumber
    _predicate = predicate
    // A count has no order, and counting a whole table does not depend on the content read.
    _sort = purpose == .count ? [] : plan.sort
    _content = purpose == .count ? .identity : plan.content
    _purpose = purpose
    _includesSubentities = plan.includesSubentities
    _hasLimit = plan.limit > 0
    _hasOffset = plan.offset > 0
  }
}
