import Foundation

/// Evaluates key paths through objects, collections and collection operators.
extension PredicateEvaluator {
  /// Returns the value at the end of `path`, from `start` or, without one, from the subject.
  func value(of path: ArraySlice<String>, after start: PredicateValue?) throws -> PredicateValue {
    var current = start
    var rest = path
    while let key = rest.first {
      rest = rest.dropFirst()
      if key.utf8.first == UInt8(ascii: "@") {
        // An operator applies the path behind it, up to the next operator, to each element.
        let end = rest.firstIndex { $0.utf8.first == UInt8(ascii: "@") } ?? rest.endIndex
        current = try _aggregate(key, over: current ?? subject.predicateValue, rest[..<end])
        rest = rest[end...]
      } else if rest.first == "@count", let count = try _memberCount(key, of: current) {
        rest = rest.dropFirst()
        current = .int(Int64(count))
      } else if let value = current {
        current = try step(key, from: value)
      } else {
        current = try first(key)
      }
    }
    return current ?? subject.predicateValue
  }

  private func _memberCount(_ key: String, of value: PredicateValue?) throws -> Int? {
    switch value {
    case nil: try subject.predicateMemberCount(forKey: key, of: nil)
    case .object(let object): try subject.predicateMemberCount(forKey: key, of: object)
    default: nil
    }
  }

  /// Returns the value of one key; for a collection, those of its elements, with nested collections
  /// flattened.
  func step(_ key: String, from value: PredicateValue) throws -> PredicateValue {
    switch value {
    case .null: return .null
    case .object(let object):
      return key == "self" ? value : try subject.predicateValue(forKey: key, of: object)
    case .collection(let elements):
      var result: [PredicateValue] = []
      result.reserveCapacity(elements.count)
      for element in elements {
        switch try step(key, from: element) {
        case .collection(let inner): result.append(contentsOf: inner)
        case let single: result.append(single)
        }
      }
      return .collection(result)
    default: return try value.plainValue(forKey: key)
    }
  }

  private func _aggregate(
    _ name: String, over value: PredicateValue, _ path: ArraySlice<String>
  ) throws -> PredicateValue {
    let operand: PredicateValue
    switch value {
    case .null: operand = .collection([])
    case .collection: operand = value
    case .dictionary: operand = .collection(value.elements ?? [])
    default: throw PredicateEvaluationError.wrongOperand(name, value.kindName)
    }
    let followed = try self.value(of: path, after: operand)
    let elements = followed.elements ?? []
    switch name {
    case "@count": return .int(Int64(elements.count))
    case "@sum": return try Statistics.sum(elements)
    case "@avg": return try Statistics.keyPathAverage(elements)
    case "@min": return try extreme(of: elements, .orderedAscending)
    case "@max": return try extreme(of: elements, .orderedDescending)
    case "@distinctUnionOfObjects", "@distinctUnionOfArrays", "@distinctUnionOfSets":
      var seen = ElementSet(subject)
      return .collection(elements.filter { !$0.isNull && seen.insert($0) })
    case "@unionOfObjects", "@unionOfArrays", "@unionOfSets":
      return .collection(elements.filter { !$0.isNull })
    case "@firstObject", "@first": return elements.first ?? .null
    case "@lastObject", "@last": return elements.last ?? .null
    default: throw PredicateEvaluationError.unknownCollectionOperator(name)
    }
  }

  /// Returns the smallest or largest element; null if there is none. Ignores null elements.
  func extreme(of elements: [PredicateValue], _ wanted: ComparisonResult) throws -> PredicateValue {
    var result = PredicateValue.null
    for element in elements where !element.isNull {
      if try result.isNull || element.ordered(against: result, options: []) == wanted { result = element }
    }
    return result
  }
}

/// A set of values with the equality of predicate comparisons.
struct ElementSet<Subject: PredicateSubject> {
  private let _subject: Subject
  private var _known: Set<AnyHashable> = []

  init(_ subject: Subject) { _subject = subject }

  /// Adds the value. Returns whether it was new.
  mutating func insert(_ value: PredicateValue) -> Bool { _known.insert(_key(value)).inserted }

  func contains(_ value: PredicateValue) -> Bool { _known.contains(_key(value)) }

  /// Returns an equal key for equal values: numbers by value regardless of type, objects by identity, text by
  /// its bytes.
  private func _key(_ value: PredicateValue) -> AnyHashable {
    switch value {
    case .object(let object): return _subject.predicateIdentity(of: object)
    case .bool(let flag): return PredicateValue.int(flag ? 1 : 0)
    case .double(let number): return Int64(exactly: number).map { PredicateValue.int($0) } ?? value
    case .decimal(let number): return PredicateValue(integerOr: number)
    case .string(let text): return Array(text.utf8)
    default: return value
    }
  }
}
