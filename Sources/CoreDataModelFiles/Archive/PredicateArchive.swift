import CoreDataModelSchema
import CoreDataPredicateLanguage
import Foundation

/// The archived form of predicates and expressions.
struct PredicateArchive {
  /// The reader of the archive.
  enum Reader {
    /// Core Data as well, since it may open the store. Supports only forms found in stores written by Core
    /// Data: no string operators other than LIKE, MATCHES and CONTAINS, no BETWEEN, no aggregates with
    /// expressions, no custom functions. Core Data's reaction to a guessed form is unknown.
    case anyFramework
    /// A program with this library. Supports everything that `ArchivedPredicateText` reads.
    case thisLibrary
  }

  let reader: Reader

  /// Returns the archived form; nil for a predicate without a known form.
  func predicate(_ text: String) -> KeyedObject? {
    guard let template = try? PredicateTemplate.cached(text), let tree = try? template.predicate() else {
      return nil
    }
    return _form(tree, depth: 0)
  }

  /// Returns the archived form; nil for an expression without a known form.
  func expression(_ text: String) -> KeyedObject? {
    guard let template = try? ExpressionTemplate.cached(text), let tree = try? template.expression() else {
      return nil
    }
    return _form(tree, depth: 0)
  }

  /// Returns the archived form; nil for an expression without a known form.
  func form(_ expression: ExpressionTree) -> KeyedObject? { _form(expression, depth: 0) }

  private static let _depthLimit = 48

  private func _form(_ tree: PredicateTree, depth: Int) -> KeyedObject? {
    guard depth < Self._depthLimit else { return nil }
    switch tree {
    case .comparison(let comparison): return _form(comparison, depth: depth)
    case .and(let parts): return _compound(1, parts, depth: depth)
    case .or(let parts): return _compound(2, parts, depth: depth)
    case .not(let part): return _compound(0, [part], depth: depth)
    case .constant(let flag): return reader == .thisLibrary ? ArchivedForms.constantPredicate(flag) : nil
    case .block: return nil
    }
  }

  private func _compound(_ type: Int64, _ parts: [PredicateTree], depth: Int) -> KeyedObject? {
    let forms = parts.compactMap { _form($0, depth: depth + 1) }
    return forms.count == parts.count ? ArchivedForms.compound(type, forms) : nil
  }

  private func _form(_ comparison: PredicateTree.Comparison, depth: Int) -> KeyedObject? {
    guard let op = ArchivedForms.Comparison(rawValue: Int64(comparison.op.rawValue)),
      reader == .thisLibrary || op.isKnownFromStores,
      reader == .thisLibrary || comparison.options.isSubset(of: [.caseInsensitive, .diacriticInsensitive]),
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
    case .function(let function, let arguments):
      let forms = arguments.compactMap { _form($0, depth: depth + 1) }
      guard forms.count == arguments.count else { return nil }
      if function == .fetch {
        guard reader == .thisLibrary, forms.count == 3, case .constant(.bool(let countsOnly)) = arguments[2]
        else { return nil }
        return ArchivedForms.fetch(forms[0], in: forms[1], countsOnly: countsOnly)
      }
      return ArchivedForms.function(function.rawValue, forms)
    case .customFunction(let target, let selector, let arguments) where reader == .thisLibrary:
      let forms = arguments.compactMap { _form($0, depth: depth + 1) }
      guard forms.count == arguments.count, let target = _form(target, depth: depth + 1) else { return nil }
      return ArchivedForms.function(selector, of: target, forms)
    case .subquery(let collection, let variable, let predicate) where reader == .thisLibrary:
      guard let collection = _form(collection, depth: depth + 1),
        let predicate = _form(predicate, depth: depth + 1)
      else { return nil }
      return ArchivedForms.subquery(collection, variable, predicate)
    case .conditional(let predicate, let first, let second) where reader == .thisLibrary:
      guard let predicate = _form(predicate, depth: depth + 1), let first = _form(first, depth: depth + 1),
        let second = _form(second, depth: depth + 1)
      else { return nil }
      return ArchivedForms.conditional(predicate, first, second)
    case .set(let op, let left, let right) where reader == .thisLibrary:
      guard let left = _form(left, depth: depth + 1), let right = _form(right, depth: depth + 1) else {
        return nil
      }
      return ArchivedForms.set(op == .union ? 5 : op == .intersect ? 6 : 7, left, right)
    case .aggregate(let members) where reader == .thisLibrary:
      let forms = members.compactMap { _form($0, depth: depth + 1) }
      return forms.count == members.count ? ArchivedForms.aggregate(forms) : nil
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
    case .date(let seconds) where reader == .thisLibrary: SchemaLiteral.date(seconds).archived()
    case .decimal(let number) where reader == .thisLibrary: SchemaLiteral.decimal("\(number)").archived()
    case .uuid(let uuid) where reader == .thisLibrary: SchemaLiteral.uuid(uuid.uuidString).archived()
    case .url(let url) where reader == .thisLibrary: SchemaLiteral.uri(url.absoluteString).archived()
    case .collection(let members) where reader == .thisLibrary: _collection(members)
    default: nil
    }
  }

  private func _collection(_ members: [PredicateValue]) -> KeyedValue? {
    let forms = members.compactMap(_constant)
    guard forms.count == members.count else { return nil }
    return .object(KeyedObject(["NSArray", "NSObject"], [("NS.objects", .members(forms))]))
  }
}
