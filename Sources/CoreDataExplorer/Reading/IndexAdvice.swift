import CoreData
import CoreDataModelSchema
import Foundation

/// Suggests indexes that save a query from scanning every row.
struct IndexAdvice {
  /// Sentences, the most useful first.
  private(set) var sentences: [String] = []

  private let _entity: PropertyLayout
  private let _layout: ModelLayout

  /// - Parameter plan: Lines of SQLite's EXPLAIN QUERY PLAN.
  init(_ request: TableRequest, _ store: ExploredStore, plan: [String]) {
    _entity = request.entity
    _layout = store.layout
    let steps = plan.map { $0.trimmingCharacters(in: .whitespaces) }
    let scans = steps.contains { $0.hasPrefix("SCAN") && !$0.contains("USING") }
    let sorts = steps.contains { $0.hasPrefix("USE TEMP B-TREE FOR ORDER BY") }
    var comparisons: [CoreData.NSComparisonPredicate] = []
    var isAlternative = false
    if let predicate = request.predicate { Self._gather(predicate, &comparisons, &isAlternative) }
    if scans || sorts {
      for comparison in comparisons { _advise(comparison, isAlternative) }
      if let sort = request.sort, sorts { _advise(sort) }
    }
    if sentences.isEmpty, scans, request.predicate != nil {
      sentences.append(
        "SQLite scans every row: no condition compares an attribute of \(_entity.entityName) in a way that an index supports."
      )
    }
  }

  private static func _gather(
    _ predicate: NSPredicate, _ found: inout [CoreData.NSComparisonPredicate], _ isAlternative: inout Bool
  ) {
    if let comparison = predicate as? CoreData.NSComparisonPredicate { found.append(comparison) }
    guard let compound = predicate as? NSCompoundPredicate else { return }
    if compound.compoundPredicateType != .and { isAlternative = true }
    for member in compound.subpredicates { _gather(member, &found, &isAlternative) }
  }

  private mutating func _advise(_ comparison: CoreData.NSComparisonPredicate, _ isAlternative: Bool) {
    guard comparison.leftExpression.expressionType == .keyPath else { return }
    let path = comparison.leftExpression.keyPath
    guard let slot = _entity.slot(named: path), let attribute = _entity.slots[slot].attribute else { return }
    switch comparison.predicateOperatorType {
    case .contains, .endsWith, .like, .matches:
      sentences.append(
        "No index helps a search within '\(path)'. If it is frequent, keep the words in a separate entity, or compare with "
          + "BEGINSWITH.")
    case .beginsWith, .equalTo, .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .between,
      .in:
      guard comparison.options.isEmpty else {
        sentences.append(
          "A comparison of '\(path)' without regard to case or accents uses no index. Keep a folded copy in another attribute, "
            + "with an index, and compare that.")
        return
      }
      _advise(
        attribute, path,
        isAlternative ? "each side of an OR needs one" : "the condition on it then finds its rows directly")
    default: break
    }
  }

  private mutating func _advise(_ sort: PropertyPath) {
    guard sort.names.count == 1, case .attribute(let attribute) = sort.kind else {
      sentences.append("Sorting by '\(sort.text)', a column of another table, scans every row.")
      return
    }
    _advise(attribute, sort.text, "rows then come in its order, and the first page needs no others")
  }

  private mutating func _advise(_ attribute: AttributeSchema, _ name: String, _ reason: String) {
    guard !_isIndexed(name, attribute) else { return }
    let sentence = "Add a fetch index on '\(name)' to \(_entity.entityName) in the model: \(reason)."
    if !sentences.contains(sentence) { sentences.append(sentence) }
  }

  /// Whether an index of the entity or of an ancestor begins with the attribute.
  private func _isIndexed(_ name: String, _ attribute: AttributeSchema) -> Bool {
    if attribute.isIndexed { return true }
    var number: Int? = _entity.entityNumber
    while let current = number {
      let layout = _layout.layout(numbered: current)
      if let schema = _layout.schema.entities.first(where: { $0.name == layout.entityName }) {
        if schema.indexes.contains(where: {
          $0.elements.first?.property == name && $0.partialIndexPredicate == nil
        }) {
          return true
        }
        if schema.compoundIndexes.contains(where: { $0.first == name }) { return true }
        if schema.uniquenessConstraints.contains(where: { $0.first == name }) { return true }
      }
      number = layout.parentNumber
    }
    return false
  }
}
