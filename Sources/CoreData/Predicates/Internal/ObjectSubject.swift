import CoreDataPredicateLanguage
import Foundation

/// Evaluates predicates on any object or value: a managed object, an object read by key, a dictionary, a
/// plain value.
struct ObjectSubject: ManagedPredicateSubject {
  private enum _Content {
    case keyed(any KeyValueCoding)
    case entries([String: Any])
    case value(PredicateValue)
  }

  private let _content: _Content

  init(_ object: Any?) {
    if let object, type(of: object) is AnyClass, let keyed = object as? any KeyValueCoding {
      _content = .keyed(keyed)
    } else if let object, type(of: object) == [String: Any].self, let entries = object as? [String: Any] {
      _content = .entries(entries)
    } else {
      let value = PredicateValue(any: object)
      // A structure may support keys as well.
      if case .object = value, let keyed = object as? any KeyValueCoding {
        _content = .keyed(keyed)
      } else {
        _content = .value(value)
      }
    }
  }

  var predicateValue: PredicateValue {
    switch _content {
    case .keyed(let object): PredicateValue(any: object)
    case .entries(let entries): PredicateValue(any: entries)
    case .value(let value): value
    }
  }

  var isReadByKey: Bool {
    switch _content {
    case .value(.null), .value(.collection): false
    default: true
    }
  }

  func predicateValue(forKey key: String) throws -> PredicateValue {
    switch _content {
    case .keyed(let object):
      return key == "self" ? predicateValue : PredicateValue(any: object.value(forKey: key))
    case .entries(let entries): return PredicateValue(any: entries[key])
    case .value(.object(let object)): return try predicateValue(forKey: key, of: object)
    case .value(let value): return try value.plainValue(forKey: key)
    }
  }

  func predicateValue(forKey key: String, of object: PredicateObject) throws -> PredicateValue {
    if let object = object.any as? any KeyValueCoding {
      return PredicateValue(any: object.value(forKey: key))
    }
    if let value = PredicateValue(ofDescription: object, key) { return value }
    throw PredicateEvaluationError.unknownKey(
      key, of: "\(object.any) (a \(type(of: object.any)), which does not adopt KeyValueCoding)")
  }

  func predicateResult(
    of selector: String, on target: PredicateValue, arguments: [PredicateValue]
  ) throws -> PredicateValue? {
    guard case .object(let object) = target, let performer = object.any as? any SelectorPerforming else {
      return nil
    }
    return PredicateValue(any: try performer.perform(selector, with: arguments.map(\.any)))
  }

  func predicateResult(
    ofFetch request: PredicateValue, in context: PredicateValue, countOnly: Bool
  ) throws -> PredicateValue {
    try FetchCall.result(request, in: context, countOnly: countOnly)
  }

  func predicateResult(
    ofBlock block: PredicateObject, arguments: [PredicateValue]?, variables: [String: PredicateValue]
  ) throws -> PredicateValue {
    try ClosureCall.result(of: block, with: predicateValue.any, arguments: arguments, variables: variables)
  }
}

/// The closure of an expression; equal only to itself.
final class ExpressionBlock: Hashable, CustomStringConvertible {
  let body: (Any?, [Any], NSMutableDictionary?) -> Any

  init(_ body: @escaping (Any?, [Any], NSMutableDictionary?) -> Any) { self.body = body }

  static func == (left: ExpressionBlock, right: ExpressionBlock) -> Bool { left === right }

  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

  var description: String { "closure" }
}
