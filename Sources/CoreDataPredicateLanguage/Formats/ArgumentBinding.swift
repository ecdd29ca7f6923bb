import Foundation

/// Substitutes arguments for the placeholders of a template. Parts without placeholders are shared with the
/// template.
struct ArgumentBinding {
  /// Returns the argument with a number, counted from zero.
  typealias Source = (Int) throws -> FormatArgument

  let format: String
  let placeholders: [Placeholder]
  /// Number of arguments there are.
  let count: Int

  func bound(_ tree: PredicateTree, _ source: Source) throws -> PredicateTree {
    if case .comparison(var comparison) = tree {
      if let left = try bound(comparison.left, source) { comparison.left = left }
      if let right = try bound(comparison.right, source) { comparison.right = right }
      return .comparison(comparison)
    }
    return try tree.rewritten { try _replacement(for: $0, source) } ?? tree
  }

  /// Substitutes the expression's arguments; nil if it has no placeholders.
  func bound(_ tree: ExpressionTree, _ source: Source) throws -> ExpressionTree? {
    try tree.rewritten { try _replacement(for: $0, source) }
  }

  private func _replacement(for tree: ExpressionTree, _ source: Source) throws -> ExpressionTree? {
    switch tree {
    case .variable(let name):
      guard let number = Placeholder.number(in: name) else { return nil }
      return try argument(number, source)
    case .keyPath(let path):
      if path.count == 1 {
        guard let number = Placeholder.number(in: path[0]) else { return nil }
        return try _root(of: number, source)
      }
      guard let components = try _path(path, source) else { return nil }
      // `%K.name` with "SELF": the path alone.
      if components.first?.uppercased() == "SELF", Placeholder.number(in: path[0]) != nil {
        return components.count == 1 ? .evaluatedObject : .keyPath(Array(components.dropFirst()))
      }
      return .keyPath(components)
    case .keyPathOf(let base, let path):
      let newBase = try base.rewritten { try _replacement(for: $0, source) }
      let newPath = try _path(path, source)
      if newBase == nil, newPath == nil { return nil }
      return .keyPathOf(newBase ?? base, newPath ?? path)
    case .function(.cast, let arguments):
      // A cast of an argument may be a literal now.
      let bound = try arguments.map { try $0.rewritten { try _replacement(for: $0, source) } ?? $0 }
      guard bound.count == 2 else { return nil }
      if let literal = ValueCast.literal(bound[0], bound[1]) { return .constant(literal) }
      return .function(.cast, bound)
    default: return nil
    }
  }

  // MARK: Arguments

  private func _failure(_ placeholder: Placeholder, _ problem: String) -> PredicateFormatError {
    PredicateFormatError(format: format, offset: placeholder.offset, problem: problem)
  }

  private func _get(_ placeholder: Placeholder, _ source: Source) throws -> FormatArgument {
    guard placeholder.argument < count else {
      let given = count == 1 ? "1 argument was given" : "\(count) arguments were given"
      throw _failure(placeholder, "argument \(placeholder.argument + 1) is missing: \(given)")
    }
    return try source(placeholder.argument)
  }

  func argument(_ number: Int, _ source: Source) throws -> ExpressionTree {
    let placeholder = placeholders[number]
    switch try _get(placeholder, source) {
    case .value(let value): return .constant(try _converted(value, placeholder))
    case .expression(let tree):
      guard placeholder.specifier == .object else { throw _mismatch(placeholder, "an expression") }
      return tree
    }
  }

  /// Returns an argument converted for its placeholder; nil if it is an expression.
  func value(_ number: Int, _ source: Source) throws -> PredicateValue? {
    let placeholder = placeholders[number]
    guard case .value(let value) = try _get(placeholder, source) else { return nil }
    return try _converted(value, placeholder)
  }

  private func _mismatch(_ placeholder: Placeholder, _ found: String) -> PredicateFormatError {
    _failure(
      placeholder,
      "argument \(placeholder.argument + 1) should be \(placeholder.specifier.demand) here, and is \(found)")
  }

  private func _converted(_ value: PredicateValue, _ placeholder: Placeholder) throws -> PredicateValue {
    let result: PredicateValue? =
      switch placeholder.specifier {
      case .object: value
      case .integer: value.integer.map { .int($0) } ?? (value.isNumber ? value : nil)
      case .floatingPoint: value.double.map { .double($0) }
      case .character, .text:
        switch value {
        case .string: value
        case .bool, .int: placeholder.specifier == .character ? value.integer.map { .int($0) } : nil
        default: nil
        }
      case .keyPath: nil
      }
    guard let result else { throw _mismatch(placeholder, value.kindName) }
    return result
  }

  // MARK: Key paths

  private func _root(of number: Int, _ source: Source) throws -> ExpressionTree {
    let components = try _components(number, source)
    guard components[0].utf8.count == 4, components[0].uppercased() == "SELF" else {
      return .keyPath(components)
    }
    return components.count == 1 ? .evaluatedObject : .keyPath(Array(components.dropFirst()))
  }

  /// Substitutes the path's arguments; nil if it has no placeholders.
  private func _path(_ path: [String], _ source: Source) throws -> [String]? {
    guard path.contains(where: { Placeholder.number(in: $0) != nil }) else { return nil }
    return try path.flatMap { component in
      guard let number = Placeholder.number(in: component) else { return [component] }
      return try _components(number, source)
    }
  }

  private func _components(_ number: Int, _ source: Source) throws -> [String] {
    let placeholder = placeholders[number]
    switch try _get(placeholder, source) {
    case .value(.string(let text)):
      if !text.isEmpty, !text.utf8.contains(UInt8(ascii: ".")) { return [text] }
      guard let components = KeyPathText.components(text) else {
        throw _failure(placeholder, "argument \(placeholder.argument + 1), “\(text)”, is not a key path")
      }
      return components
    case .value(let value): throw _mismatch(placeholder, value.kindName)
    case .expression(.keyPath(let path)): return path
    case .expression: throw _mismatch(placeholder, "an expression that is not a key path")
    }
  }
}

/// Textual key paths, such as `route.stops.@count`.
package enum KeyPathText {
  /// The names between the dots; nil if one is empty.
  package static func components(_ text: String) -> [String]? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.allSatisfy({ !$0.isEmpty }) else { return nil }
    return parts.map(String.init)
  }
}
