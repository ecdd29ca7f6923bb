import CoreDataModelSchema
import Foundation

/// Converts archived predicates and expressions to text for `NSPredicate(format:)`.
struct ArchivedPredicateText {
  private let _archive: KeyedArchive
  private let _path: String
  private static let _depthLimit = 64

  init(_ archive: KeyedArchive, path: String) {
    _archive = archive
    _path = path
  }

  /// Returns the text of a predicate.
  ///
  /// - Throws: `ModelFileError` for one without a text form, such as a block.
  func predicate(_ object: KeyedArchive.Object) throws -> String { try _predicate(object, depth: 0) }

  /// Returns the text of an expression.
  ///
  /// - Throws: `ModelFileError` for one without a text form, such as a block.
  func expression(_ value: PlistValue?) throws -> String { try _expression(value, depth: 0) }

  private func _predicate(_ object: KeyedArchive.Object, depth: Int) throws -> String {
    guard depth < Self._depthLimit else { throw _error("a predicate is nested too deeply") }
    switch object.className {
    case "NSTruePredicate": return "TRUEPREDICATE"
    case "NSFalsePredicate": return "FALSEPREDICATE"
    case "NSCompoundPredicate":
      let parts = try (_archive.array(object.fields["NSSubpredicates"]) ?? []).map { value in
        guard let part = _archive.object(value) else { throw _error("part of a predicate is missing") }
        let text = try _predicate(part, depth: depth + 1)
        return part.className == "NSCompoundPredicate" ? "(\(text))" : text
      }
      switch _archive.integer(object.fields["NSCompoundPredicateType"]) ?? 0 {
      case 0: return "NOT (\(parts.joined()))"
      case 1: return parts.isEmpty ? "TRUEPREDICATE" : parts.joined(separator: " AND ")
      case 2: return parts.isEmpty ? "FALSEPREDICATE" : parts.joined(separator: " OR ")
      case let other: throw _error("a compound predicate of the unknown type \(other)")
      }
    case "NSComparisonPredicate":
      guard let op = _archive.object(object.fields["NSPredicateOperator"]) else {
        throw _error("a comparison has no operator")
      }
      let left = try _expression(object.fields["NSLeftExpression"], depth: depth + 1)
      let right = try _expression(object.fields["NSRightExpression"], depth: depth + 1)
      let quantifier = ["", "ALL ", "ANY "][max(0, min(2, _archive.integer(op.fields["NSModifier"]) ?? 0))]
      return "\(quantifier)\(left) \(try _operator(op)) \(right)"
    default: throw _error("a predicate of the kind '\(object.className)' has no text")
    }
  }

  private func _operator(_ op: KeyedArchive.Object) throws -> String {
    let type = _archive.integer(op.fields["NSOperatorType"]) ?? -1
    let isNegated = _archive.flag(op.fields["NSNegate"])
    let symbols: [Int: String] = [
      0: "<", 1: "<=", 2: ">", 3: ">=", 4: isNegated ? "!=" : "==", 5: "!=", 6: "MATCHES", 7: "LIKE",
      8: "BEGINSWITH",
      9: "ENDSWITH", 10: "IN", 99: "CONTAINS", 100: "BETWEEN",
    ]
    guard let symbol = symbols[type] else { throw _error("a comparison with the unknown operator \(type)") }
    let options = _archive.integer(op.fields["NSFlags"]) ?? _archive.integer(op.fields["NSOptions"]) ?? 0
    let letters = ["c", "d", "n", "l"].enumerated().filter { options & 1 << $0.offset != 0 }.map(\.element)
      .joined()
    return letters.isEmpty ? symbol : "\(symbol)[\(letters)]"
  }

  private func _expression(_ value: PlistValue?, depth: Int) throws -> String {
    guard depth < Self._depthLimit else { throw _error("an expression is nested too deeply") }
    guard let object = _archive.object(value) else { throw _error("an expression is missing") }
    switch object.className {
    case "NSSelfExpression": return "SELF"
    case "NSVariableExpression": return "$" + (_archive.string(object.fields["NSVariable"]) ?? "")
    case "NSConstantValueExpression": return try _constant(object.fields["NSConstantValue"], depth: depth + 1)
    case "NSKeyPathSpecifierExpression": return _archive.string(object.fields["NSKeyPath"]) ?? ""
    case "NSKeyPathExpression": return try _keyPath(object, depth: depth)
    case "NSAggregateExpression":
      let members = try (_archive.array(object.fields["NSCollection"]) ?? []).map {
        try _expression($0, depth: depth + 1)
      }
      return "{\(members.joined(separator: ", "))}"
    case "NSSubqueryExpression", "NSTernaryExpression":
      guard let predicate = _archive.object(object.fields["NSPredicate"]) else {
        throw _error("a predicate is missing")
      }
      let text = try _predicate(predicate, depth: depth + 1)
      if object.className == "NSSubqueryExpression" {
        let collection = try _expression(object.fields["NSCollection"], depth: depth + 1)
        return "SUBQUERY(\(collection), $\(_archive.string(object.fields["NSVariable"]) ?? ""), \(text))"
      }
      let first = try _expression(object.fields["NSTrueExpression"], depth: depth + 1)
      return
        "TERNARY(\(text), \(first), \(try _expression(object.fields["NSFalseExpression"], depth: depth + 1)))"
    case "NSSetExpression":
      let type = _archive.integer(object.fields["NSExpressionType"]) ?? 0
      guard let name = [5: "UNION", 6: "INTERSECT", 7: "MINUS"][type] else {
        throw _error("a set expression of the unknown type \(type)")
      }
      let left = try _expression(object.fields["NSLeftExpression"], depth: depth + 1)
      return "(\(left) \(name) \(try _expression(object.fields["NSRightExpression"], depth: depth + 1)))"
    case "NSFunctionExpression":
      let arguments = try (_archive.array(object.fields["NSArguments"]) ?? []).map {
        try _expression($0, depth: depth + 1)
      }
      let name = _archive.string(object.fields["NSSelectorName"]) ?? ""
      // Predefined functions have a constant target, a class; any other target is a custom object.
      if let target = _archive.object(object.fields["NSOperand"]),
        target.className != "NSConstantValueExpression"
      {
        let operand = try _expression(object.fields["NSOperand"], depth: depth + 1)
        return "FUNCTION(\(([operand, Self._quoted(name)] + arguments).joined(separator: ", ")))"
      }
      return "\(name)(\(arguments.joined(separator: ", ")))"
    case "NSFetchRequestExpression":
      let request = try _expression(object.fields["NSFRExpression"], depth: depth + 1)
      let context = try _expression(object.fields["NSMOCExpression"], depth: depth + 1)
      return
        "FETCH(\(request), \(context), \(_archive.flag(object.fields["NSCountOnlyFlag"]) ? "YES" : "NO"))"
    default: throw _error("an expression of the kind '\(object.className)' has no text")
    }
  }

  /// Returns the text of a key path expression: `a.b`, or `$VARIABLE.a` after a variable.
  func keyPath(_ object: KeyedArchive.Object) throws -> String { try _keyPath(object, depth: 0) }

  private func _keyPath(_ object: KeyedArchive.Object, depth: Int) throws -> String {
    guard let argument = _archive.array(object.fields["NSArguments"])?.first,
      let specifier = _archive.object(argument), let path = _archive.string(specifier.fields["NSKeyPath"])
    else { throw _error("a key path is missing") }
    let operand = try _expression(object.fields["NSOperand"], depth: depth + 1)
    return operand == "SELF" ? path : "\(operand).\(path)"
  }

  private func _constant(_ value: PlistValue?, depth: Int) throws -> String {
    guard _archive.resolve(value) != nil else { return "nil" }
    if let members = _archive.array(value) {
      guard depth < Self._depthLimit else { throw _error("a constant is nested too deeply") }
      return "{\(try members.map { try _constant($0, depth: depth + 1) }.joined(separator: ", "))}"
    }
    switch ArchivedLiteral(_archive).literal(value) {
    case .boolean(let flag): return flag ? "TRUE" : "FALSE"
    case .integer(let number): return "\(number)"
    case .double(let number): return "\(number)"
    case .decimal(let text): return "CAST(\(Self._quoted(text)), \"NSDecimalNumber\")"
    case .date(let seconds): return "CAST(\(seconds), \"NSDate\")"
    case .string(let text): return Self._quoted(text)
    case .uuid(let text): return "CAST(\(Self._quoted(text)), \"NSUUID\")"
    case .uri(let text): return "CAST(\(Self._quoted(text)), \"NSURL\")"
    case .data, nil:
      throw _error("a constant of the kind '\(_archive.object(value)?.className ?? "data")' has no text")
    }
  }

  private static func _quoted(_ text: String) -> String {
    var quoted = "\""
    for character in text.unicodeScalars {
      switch character {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\n": quoted += "\\n"
      case "\r": quoted += "\\r"
      case "\t": quoted += "\\t"
      default: quoted.unicodeScalars.append(character)
      }
    }
    return quoted + "\""
  }

  private func _error(_ reason: String) -> ModelFileError { ModelFileError(path: _path, reason: reason) }
}
