import CoreDataModelFiles
import CoreDataModelSchema
import CoreDataPredicateLanguage
import Foundation

/// The archived form of predicates and expressions, for those kinds whose form stores by Core Data show.
///
/// There is none for string operators other than LIKE, MATCHES and CONTAINS, for BETWEEN, subqueries,
/// aggregates with expressions in them, and set operations: what Core Data would make of a guess is not
/// known.
struct PredicateArchive: PredicateArchiving {
  func predicate(_ text: String) -> KeyedObject? {
    guard let template = try? PredicateTemplate.cached(text), let tree = try? template.predicate() else {
      return nil
    }
    return _form(tree, depth: 0)
  }

  func expression(_ text: String) -> KeyedObject? {
    guard let template = try? ExpressionTemplate.cached(text), let tree = try? template.expression() else {
      return nil
    }
    return _form(tree, depth: 0)
  }

  private static let _depthLimit = 48

  private func _form(_ tree: PredicateTree, depth: Int) -> KeyedObject? {
    guard depth < Self._depthLimit else { return nil }
    switch tree {
    case .comparison(let comparison): return _form(comparison, depth: depth)
    case .and(let parts): return _compound(1, parts, depth: depth)
    case .or(let parts): return _compound(2, parts, depth: depth)
    case .not(let part): return _compound(0, [part], depth: depth)
    case .constant, .block: return nil
    }
  }

  private func _compound(_ type: Int64, _ parts: [PredicateTree], depth: Int) -> KeyedObject? {
    let forms = parts.compactMap { _form($0, depth: depth + 1) }
    return forms.count == parts.count ? ArchivedForms.compound(type, forms) : nil
  }

  private func _form(_ comparison: PredicateTree.Comparison, depth: Int) -> KeyedObject? {
    guard let op = ArchivedForms.Comparison(rawValue: Int64(comparison.op.rawValue)),
      comparison.options.isSubset(of: [.caseInsensitive, .diacriticInsensitive]),
      let left = _form(comparison.left, depth: depth + 1),
      let right = _form(comparison.right, depth: depth + 1)
    else { return nil }
    return ArchivedForms.comparison(
      left, op, right, modifier: Int64(comparison.modifier.rawValue),
      options: Int64(comparison.options.rawValue))
  }

  private func _form(_ expression: ExpressionTree, depth: Int) -> KeyedObject? {
    guard depth < Self._depthLimit else { return nil }
    switch expression {
    case .evaluatedObject: return ArchivedForms.evaluatedObject()
    case .variable(let name): return ArchivedForms.variable(name)
    case .keyPath(let components): return ArchivedForms.keyPath(components)
    case .keyPathOf(let operand, let components):
      return _form(operand, depth: depth + 1).map { ArchivedForms.keyPath(components, of: $0) }
    case .constant(let value): return _constant(value).map { ArchivedForms.constant($0) }
    case .function(let selector, let arguments):
      let forms = arguments.compactMap { _form($0, depth: depth + 1) }
      return forms.count == arguments.count ? ArchivedForms.function(selector, forms) : nil
    default: return nil
    }
  }

  private func _constant(_ value: PredicateValue) -> KeyedValue? {
    switch value {
    case .null: .null
    case .bool(let flag): .boxed(.boolean(flag))
    case .int(let number): .boxed(.integer(number))
    case .double(let number): .boxed(.real(number))
    case .string(let text): .text(text)
    default: nil
    }
  }
}
