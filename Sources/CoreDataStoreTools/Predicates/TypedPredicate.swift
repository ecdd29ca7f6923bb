import CoreData
import CoreDataModelSchema
import CoreDataPredicateLanguage
import CoreDataToolKit
import Foundation

/// Reads a predicate as people type it: a constant is read as the type of what it is compared with.
///
/// `NSPredicate` takes constants literally: `added > '2021-01-01'` compares a date with a text, and holds for no object, as on a
/// Mac. Here the text is a date, and a text that is none is an error. So are UUIDs, numbers, booleans, bytes in base64, and the
/// names of objects that tables show (`Book/p12`).
package struct TypedPredicate {
  private let _text: String
  private let _zone: TimeZoneText
  private let _objectID: (_ entity: String, _ key: Int64) -> NSManagedObjectID?
  /// The constants that were visited, for the place of the next equal one.
  private var _visited: [PredicateValue: Int] = [:]

  /// - Parameters:
  ///   - zone: The zone of dates that name none.
  ///   - objectID: Returns the ID of a row.
  /// - Throws: `NSPredicate.FormatError`, with the place of a constant that does not fit.
  package static func predicate(
    _ text: String, of entity: PropertyLayout, in layout: ModelLayout, zone: TimeZoneText = .utc,
    objectID: @escaping (_ entity: String, _ key: Int64) -> NSManagedObjectID?
  ) throws -> NSPredicate {
    var reading = TypedPredicate(_text: text, _zone: zone, _objectID: objectID)
    return try NSPredicate.parsing(text) { tree throws(PredicateFormatError) in
      try reading._read(tree, PredicateSubject.Scope(layout: layout, entity: entity))
    }
  }

  private typealias Comparison = PredicateTree.Comparison

  // MARK: Trees

  private mutating func _read(
    _ tree: PredicateTree, _ scope: PredicateSubject.Scope
  ) throws(PredicateFormatError) -> PredicateTree {
    switch tree {
    case .constant, .block: return tree
    case .not(let operand): return .not(try _read(operand, scope))
    case .and(let members): return .and(try _read(members, scope))
    case .or(let members): return .or(try _read(members, scope))
    case .comparison(var comparison):
      comparison.left = try _read(comparison.left, scope)
      let subject = PredicateSubject(comparison.left, scope)
      // The left constant is before the right one, where errors of both are looked for.
      if case .constant(let value) = comparison.left {
        comparison.right = try _read(comparison.right, scope)
        let other = PredicateSubject(comparison.right, scope)
        return .comparison(try _converted(comparison, \.left, value, other))
      }
      guard case .constant(let value) = comparison.right else {
        comparison.right = try _read(comparison.right, scope)
        return .comparison(comparison)
      }
      return try _converted(comparison, value, subject)
    }
  }

  private mutating func _read(
    _ members: [PredicateTree], _ scope: PredicateSubject.Scope
  ) throws(PredicateFormatError) -> [PredicateTree] {
    var result: [PredicateTree] = []
    for member in members { result.append(try _read(member, scope)) }
    return result
  }

  /// Reads what is inside of an expression: predicates of SUBQUERY and TERNARY, and dates in CAST.
  private mutating func _read(
    _ expression: ExpressionTree, _ scope: PredicateSubject.Scope
  ) throws(PredicateFormatError) -> ExpressionTree {
    try expression.rewritten { (part: ExpressionTree) throws(PredicateFormatError) -> ExpressionTree? in
      switch part {
      case .subquery(let collection, let variable, let predicate):
        var inner = scope
        let collection = try _read(collection, scope)
        if case .object(let entity) = PredicateSubject(collection, scope) {
          inner.variables[variable] = entity
        }
        return .subquery(collection, variable: variable, try _read(predicate, inner))
      case .conditional(let predicate, let then, let otherwise):
        return .conditional(
          try _read(predicate, scope), try _read(then, scope), try _read(otherwise, scope))
      case .function(.cast, let arguments):
        guard arguments.count == 2, case .constant(.string(let text)) = arguments[0],
          arguments[1] == .constant(.string("NSDate"))
        else { return nil }
        return .constant(.date(try _moment(text, "CAST to NSDate").begin))
      default: return nil
      }
    } ?? expression
  }

  // MARK: Comparisons

  private static let _ordered: Set<Comparison.Operator> = [
    .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual, .equal, .notEqual, .in, .between,
  ]

  /// The constant on the right as the type of what is on the left.
  private mutating func _converted(
    _ comparison: Comparison, _ value: PredicateValue, _ subject: PredicateSubject
  ) throws(PredicateFormatError) -> PredicateTree {
    if case .attribute(let attribute) = subject, attribute.type == .date, comparison.modifier == .direct,
      let tree = try _period(comparison, value, attribute)
    {
      return tree
    }
    return .comparison(try _converted(comparison, \.right, value, subject))
  }

  private mutating func _converted(
    _ comparison: Comparison, _ side: WritableKeyPath<Comparison, ExpressionTree>, _ value: PredicateValue,
    _ subject: PredicateSubject
  ) throws(PredicateFormatError) -> Comparison {
    let comparesValues = Self._comparesValues(comparison, subject)
    if case .attribute(let attribute) = subject, attribute.type == .date, case .string = value,
      !comparesValues
    {
      throw _misfit(
        value,
        "'\(attribute.name)' is a date, and dates are compared with ==, !=, <, <=, >, >=, IN or BETWEEN")
    }
    guard comparesValues else {
      _visit(value)
      return comparison
    }
    var result = comparison
    result[keyPath: side] = .constant(try _value(value, subject))
    return result
  }

  /// Whether values are compared as a whole, and not by parts of a text.
  private static func _comparesValues(_ comparison: Comparison, _ subject: PredicateSubject) -> Bool {
    if _ordered.contains(comparison.op) { return true }
    guard comparison.op == .contains else { return false }
    if case .object = subject { return true }
    if case .constant(.collection) = comparison.left { return true }
    return false
  }

  /// A comparison for equality with a day, a minute or a second, as one with the whole of it; nil for other comparisons.
  private mutating func _period(
    _ comparison: Comparison, _ value: PredicateValue, _ attribute: AttributeSchema
  ) throws(PredicateFormatError) -> PredicateTree? {
    func equals(_ moment: TypedMoment) -> PredicateTree {
      var within = comparison
      if moment.begin == moment.end {
        (within.op, within.right) = (.equal, .constant(.date(moment.begin)))
      } else {
        within.op = .between
        within.right = .constant(.collection([.date(moment.begin), .date(moment.end)]))
      }
      return .comparison(within)
    }
    switch (comparison.op, value) {
    case (.equal, .string(let text)): return equals(try _moment(text, attribute.name))
    case (.notEqual, .string(let text)): return .not(equals(try _moment(text, attribute.name)))
    case (.in, .collection(let elements)):
      guard elements.contains(where: { if case .string = $0 { true } else { false } }) else { return nil }
      var members: [PredicateTree] = []
      for element in elements {
        if case .string(let text) = element {
          members.append(equals(try _moment(text, attribute.name)))
        } else {
          _visit(element)
          var single = comparison
          (single.op, single.right) = (.equal, .constant(element))
          members.append(.comparison(single))
        }
      }
      return members.count == 1 ? members[0] : .or(members)
    default: return nil
    }
  }

  // MARK: Values

  private mutating func _value(
    _ value: PredicateValue, _ subject: PredicateSubject
  ) throws(PredicateFormatError) -> PredicateValue {
    switch (value, subject) {
    case (.collection(let elements), _):
      var result: [PredicateValue] = []
      for element in elements { result.append(try _value(element, subject)) }
      return .collection(result)
    case (.string(let text), .attribute(let attribute)): return try _value(text, attribute)
    case (.string(let text), .object(let entity)): return try _object(text, entity)
    case (.string(let text), .number):
      _visit(value)
      guard let number = Self._number(text) else {
        throw _misfit(value, "a number is compared with it", visited: true)
      }
      return number
    case (.int(let number), .attribute(let attribute)) where attribute.type == .string:
      _visit(value)
      return .string(String(number))
    case (.double, .attribute(let attribute)) where attribute.type == .string:
      throw _misfit(value, "'\(attribute.name)' is a text", expected: ["a text in quotes"])
    default:
      _visit(value)
      return value
    }
  }

  private mutating func _value(
    _ text: String, _ attribute: AttributeSchema
  ) throws(PredicateFormatError) -> PredicateValue {
    if attribute.type == .date { return .date(try _moment(text, attribute.name).begin) }
    defer { _visit(.string(text)) }
    switch attribute.type {
    case .integer16, .integer32, .integer64, .double, .float:
      if let number = Self._number(text) { return number }
    case .string, .undefined, .transformable, .objectID, .composite: return .string(text)
    default:
      switch try? ValueReading.value(text, of: attribute) {
      case .boolean(let flag): return .bool(flag)
      case .decimal(let number): return .decimal(number)
      case .uuid(let uuid): return .uuid(uuid)
      case .data(let data): return .data(data)
      case .uri(let text): if let url = URL(string: text) { return .url(url) }
      default: break
      }
    }
    throw _misfit(
      .string(text), "'\(attribute.name)' is another type", expected: [ValueReading.wanted(attribute)])
  }

  private static func _number(_ text: String) -> PredicateValue? {
    if let number = Int64(text) { return .int(number) }
    guard text.utf8.allSatisfy({ "+-.eE0123456789".utf8.contains($0) }) else { return nil }
    return Double(text).map { .double($0) }
  }

  private mutating func _moment(_ text: String, _ name: String) throws(PredicateFormatError) -> TypedMoment {
    defer { _visit(.string(text)) }
    if let moment = TypedMoment(text, in: _zone) { return moment }
    throw _misfit(
      .string(text),
      "'\(name)' is a date, and “\(TextWidth.truncated(ValueText.onOneLine(text), to: 40))” is none",
      expected: ["a date such as '2021-03-07', '2021-03-07 14:05' or '2021-03-07T14:05:00+01:00'"])
  }

  /// An object by its name: `Book/p12`, `p12`, or an ID's URI.
  private mutating func _object(
    _ text: String, _ entity: PropertyLayout
  ) throws(PredicateFormatError) -> PredicateValue {
    defer { _visit(.string(text)) }
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    let name = parts.count > 1 ? String(parts[parts.count - 2]) : entity.entityName
    guard let last = parts.last, last.first == "p", let key = Int64(last.dropFirst()),
      parts.count <= 2 || text.hasPrefix("x-coredata://")
    else {
      throw _misfit(
        .string(text), "an object is compared with a text",
        expected: ["the name of an object such as '\(entity.entityName)/p12'", "one of its properties"])
    }
    guard let id = _objectID(name.removingPercentEncoding ?? name, key) else {
      throw _misfit(.string(text), "the model has no entity “\(name)”")
    }
    return .object(PredicateObject(reference: id))
  }

  // MARK: Errors

  private mutating func _visit(_ value: PredicateValue) {
    if case .collection(let elements) = value { return elements.forEach { _visit($0) } }
    _visited[value, default: 0] += 1
  }

  /// - Parameter visited: Whether the value has been counted.
  private func _misfit(
    _ value: PredicateValue, _ problem: String, expected: [String] = [], visited: Bool = false
  ) -> PredicateFormatError {
    let before = (_visited[value] ?? 0) - (visited ? 1 : 0)
    return PredicateFormatError(
      format: _text, offset: ConstantPlace.offset(of: value, occurrence: before, in: _text), problem: problem,
      expected: expected)
  }
}
