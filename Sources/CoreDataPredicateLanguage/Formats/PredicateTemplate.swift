import Foundation

/// A parsed format without its arguments. Parsed once per format text, then reused with different arguments.
package final class PredicateTemplate: Sendable {
  let format: String
  let tree: PredicateTree
  let placeholders: [Placeholder]
  /// The most frequent format by far, `key == %@`: a comparison whose right side is the only argument, which
  /// needs no search.
  private let _single: (comparison: PredicateTree.Comparison, placeholder: Int)?
  /// The comparison, if it compares a key with the only argument: all predicates of the template then differ
  /// only in this value.
  package let keyComparison: KeyComparison?

  /// A comparison of a key with a value, without the value.
  package struct KeyComparison: Sendable {
    package let path: [String]
    package let op: PredicateTree.Comparison.Operator
    /// Whether it has neither modifier nor options.
    package let isPlain: Bool
    fileprivate let placeholder: Int
  }

  /// Parses `format`; prefer `cached(_:)`.
  /// - Throws: `PredicateFormatError`.
  package init(parsing format: String) throws(PredicateFormatError) {
    self.format = format
    (tree, placeholders) = try Parser.predicate(format)
    _single = Self._single(tree, placeholders)
    if let single = _single, case .keyPath(let path) = single.comparison.left {
      keyComparison = KeyComparison(
        path: path, op: single.comparison.op,
        isPlain: single.comparison.modifier == .direct && single.comparison.options.isEmpty,
        placeholder: single.placeholder)
    } else {
      keyComparison = nil
    }
  }

  private static func _single(
    _ tree: PredicateTree, _ placeholders: [Placeholder]
  ) -> (comparison: PredicateTree.Comparison, placeholder: Int)? {
    guard placeholders.count == 1, case .comparison(let comparison) = tree,
      case .variable(let name) = comparison.right,
      let number = Placeholder.number(in: name)
    else { return nil }
    return (comparison, number)
  }

  private static let _cache = TemplateCache<PredicateTemplate>()

  /// The template of `format`, parsed now or before. May be called on any thread.
  /// - Throws: `PredicateFormatError`.
  package static func cached(_ format: String) throws(PredicateFormatError) -> PredicateTemplate {
    if let template = _cache[format] { return template }
    let template = try PredicateTemplate(parsing: format)
    _cache[format] = template
    return template
  }

  /// Returns the predicate with arguments. Ignores surplus arguments.
  ///
  /// - Parameters:
  ///   - count: Number of arguments.
  ///   - argument: Returns the argument with a number, counted from zero.
  /// - Throws: `PredicateFormatError` if an argument is missing or of the wrong kind; any error of
  ///   `argument`.
  package func predicate(
    count: Int, argument: (Int) throws -> FormatArgument
  ) throws -> PredicateTree {
    guard !placeholders.isEmpty else { return tree }
    let binding = ArgumentBinding(format: format, placeholders: placeholders, count: count)
    if let _single {
      var comparison = _single.comparison
      comparison.right = try binding.argument(_single.placeholder, argument)
      return .comparison(comparison)
    }
    return try binding.bound(tree, argument)
  }

  package func predicate(_ arguments: [FormatArgument] = []) throws -> PredicateTree {
    try predicate(count: arguments.count) { arguments[$0] }
  }

  /// Returns the comparison with arguments; nil unless it compares a key with a plain value.
  /// - Throws: As `predicate(count:argument:)`.
  package func comparison(
    count: Int, argument: (Int) throws -> FormatArgument
  ) throws -> TemplatedComparison? {
    guard let placeholder = keyComparison?.placeholder else { return nil }
    let binding = ArgumentBinding(format: format, placeholders: placeholders, count: count)
    guard let value = try binding.value(placeholder, argument) else { return nil }
    return TemplatedComparison(self, value)
  }

  /// The predicate that compares the key with a value.
  func tree(comparingWith value: PredicateValue) -> PredicateTree {
    guard var comparison = _single?.comparison else { return tree }
    comparison.right = .constant(value)
    return .comparison(comparison)
  }
}

extension PredicateTemplate: Hashable {
  /// Templates are the same only if they are the same object.
  package static func == (left: PredicateTemplate, right: PredicateTemplate) -> Bool { left === right }

  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The template of a format with a single expression.
package final class ExpressionTemplate: Sendable {
  let format: String
  let tree: ExpressionTree
  let placeholders: [Placeholder]

  /// Parses `format`; prefer `cached(_:)`.
  /// - Throws: `PredicateFormatError`.
  package init(parsing format: String) throws(PredicateFormatError) {
    self.format = format
    (tree, placeholders) = try Parser.expression(format)
  }

  private static let _cache = TemplateCache<ExpressionTemplate>()

  /// The template of `format`, parsed now or before. May be called on any thread.
  /// - Throws: `PredicateFormatError`.
  package static func cached(_ format: String) throws(PredicateFormatError) -> ExpressionTemplate {
    if let template = _cache[format] { return template }
    let template = try ExpressionTemplate(parsing: format)
    _cache[format] = template
    return template
  }

  /// Returns the expression with arguments.
  /// - Throws: `PredicateFormatError` if an argument is missing or of the wrong kind; any error of
  ///   `argument`.
  package func expression(
    count: Int, argument: (Int) throws -> FormatArgument
  ) throws -> ExpressionTree {
    guard !placeholders.isEmpty else { return tree }
    let binding = ArgumentBinding(format: format, placeholders: placeholders, count: count)
    return try binding.bound(tree, argument) ?? tree
  }

  package func expression(_ arguments: [FormatArgument] = []) throws -> ExpressionTree {
    try expression(count: arguments.count) { arguments[$0] }
  }
}
