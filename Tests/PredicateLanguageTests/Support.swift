import CoreDataPredicateLanguage
import Foundation

/// Returns the predicate of a format.
func parsed(_ format: String, _ arguments: PredicateValue...) throws -> PredicateTree {
  try PredicateTemplate.cached(format).predicate(arguments.map { .value($0) })
}

/// Returns the expression of a format.
func expression(_ format: String, _ arguments: PredicateValue...) throws -> ExpressionTree {
  try ExpressionTemplate.cached(format).expression(arguments.map { .value($0) })
}

/// Returns the error of parsing a format; nil if it is valid.
func failure(of format: String, _ arguments: PredicateValue...) -> PredicateFormatError? {
  do {
    _ = try PredicateTemplate.cached(format).predicate(arguments.map { .value($0) })
    return nil
  } catch {
    return error as? PredicateFormatError
  }
}

/// Returns the comparison of a format; nil if it is anything else.
func comparison(_ format: String, _ arguments: PredicateValue...) throws -> PredicateTree.Comparison? {
  let tree = try PredicateTemplate.cached(format).predicate(arguments.map { .value($0) })
  if case .comparison(let comparison) = tree { return comparison }
  return nil
}

/// Returns whether a format holds for `subject`.
func holds(
  _ format: String, for subject: PredicateValue = .null, variables: [String: PredicateValue] = [:],
  _ arguments: PredicateValue...
) throws -> Bool {
  try PredicateTemplate.cached(format).predicate(arguments.map { .value($0) })
    .matches(ValueSubject(subject), variables: variables)
}

/// Returns the value of an expression for `subject`.
func value(
  _ format: String, for subject: PredicateValue = .null, variables: [String: PredicateValue] = [:]
) throws -> PredicateValue {
  try ExpressionTemplate.cached(format).expression().value(for: ValueSubject(subject), variables: variables)
}

extension PredicateValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
  ExpressibleByNilLiteral
{
  package init(stringLiteral value: String) { self = .string(value) }
  package init(integerLiteral value: Int64) { self = .int(value) }
  package init(floatLiteral value: Double) { self = .double(value) }
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  package init(arrayLiteral elements: PredicateValue...) { self = .collection(elements) }
  package init(dictionaryLiteral elements: (String, PredicateValue)...) {
    self = .dictionary(Dictionary(elements) { $1 })
  }
  package init(nilLiteral: ()) { self = .null }
}

/// A person with friends, for evaluation.
let ada: PredicateValue = [
  "name": "Ada Lovelace", "age": 36, "score": 9.5, "admin": true, "nickname": nil,
  "city": ["name": "London", "population": 9_000_000],
  "tags": ["maths", "poetry"],
  "friends": [
    ["name": "Charles", "age": 45, "pets": [["name": "Rex"], ["name": "Tom"]]],
    ["name": "Mary", "age": 40, "pets": []],
    ["name": "Luigi", "age": 45, "pets": [["name": "Felix"]]],
  ],
  "born": .date(-100),
]
