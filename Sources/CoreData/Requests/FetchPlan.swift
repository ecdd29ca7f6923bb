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
  var sort: [SortTerm] = []
  /// 0: none.
  var limit = 0
  var offset = 0
  var content = Content.values

  init(layout: PropertyLayout) { self.layout = layout }
}
