import CoreDataModelSchema
import CoreDataPredicateLanguage
import Foundation

/// A fetch request resolved against a frozen model, in the form that stores execute.
///
/// In the predicate, objects and object IDs are replaced by `PredicateValue.object` with an
/// `NSManagedObjectID`. The ID of an unsaved object matches no stored row.
package struct FetchPlan: Sendable {
  package struct SortTerm: Sendable, Hashable {
    /// How strings are ordered; other values use their natural order.
    package enum Comparison: Sendable, Hashable {
      case binary
      case caseInsensitive
      case localized
      case localizedCaseInsensitive
      case localizedStandard
    }

    package let keyPath: [String]
    package let ascending: Bool
    package let comparison: Comparison
  }

  /// The part of each row to read.
  package enum Content: Sendable, Hashable {
    /// All values.
    case values
    /// The ID only.
    case identity
    /// The ID and the values at some slots.
    case slots([Int])
  }

  /// The plan's storage. A single reference, because a plan is passed through many functions, each of which
  /// would otherwise retain every part.
  private final class Contents: @unchecked Sendable {
    // Unchecked: written only while uniquely referenced by one plan; see `_own`.
    @exclusivity(unchecked) var layout: PropertyLayout
    @exclusivity(unchecked) var includesSubentities = true
    @exclusivity(unchecked) var predicate: PredicateTree?
    @exclusivity(unchecked) var known: TemplatedComparison?
    @exclusivity(unchecked) var sort: [SortTerm] = []
    @exclusivity(unchecked) var limit = 0
    @exclusivity(unchecked) var offset = 0
    @exclusivity(unchecked) var content = Content.values

    init(_ layout: PropertyLayout) { self.layout = layout }

    init(copying other: Contents) {
      layout = other.layout
      includesSubentities = other.includesSubentities
      predicate = other.predicate
      known = other.known
      sort = other.sort
      limit = other.limit
      offset = other.offset
      content = other.content
    }
  }

  private var _contents: Contents

  package init(layout: PropertyLayout) { _contents = Contents(layout) }

  /// Returns the storage, uniquely referenced by this plan.
  private mutating func _own() -> Contents {
    if !isKnownUniquelyReferenced(&_contents) { _contents = Contents(copying: _contents) }
    return _contents
  }

  /// Slots of the fetched entity.
  package var layout: PropertyLayout { _contents.layout }

  package var includesSubentities: Bool {
    get { _contents.includesSubentities }
    set { _own().includesSubentities = newValue }
  }

  package var predicate: PredicateTree? {
    get { _contents.known?.tree ?? _contents.predicate }
    set {
      let contents = _own()
      contents.predicate = newValue
      contents.known = nil
    }
  }

  /// The predicate, if it compares a key with a value. Cheaper to evaluate than its tree.
  package var known: TemplatedComparison? { _contents.known }

  package var sort: [SortTerm] {
    get { _contents.sort }
    set { _own().sort = newValue }
  }

  /// Maximum number of results; 0 for no limit.
  package var limit: Int {
    get { _contents.limit }
    set { _own().limit = newValue }
  }

  package var offset: Int {
    get { _contents.offset }
    set { _own().offset = newValue }
  }

  package var content: Content {
    get { _contents.content }
    set { _own().content = newValue }
  }

  /// The same plan without an order.
  package var unsorted: FetchPlan {
    var plan = self
    plan.sort = []
    return plan
  }

  /// Sets a request's predicate in the form that stores evaluate.
  ///
  /// - Throws: Errors of a nested fetch; `PredicateEvaluationError` for a predicate without a tree.
  package mutating func setPredicate(_ predicate: NSPredicate) throws {
    if let comparison = predicate as? NSComparisonPredicate, let known = comparison.templated {
      // The tree contains no nested fetches and no objects to replace.
      let contents = _own()
      contents.predicate = nil
      contents.known = known
    } else {
      self.predicate = try PredicateTree(predicate).forStores
    }
  }
}
