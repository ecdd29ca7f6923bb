import CoreDataPredicateLanguage
import Foundation

/// Follows key paths from any value, as Apple's key-value coding does: through managed objects, dictionaries,
/// types that adopt `KeyValueCoding`, and collections, each of whose elements is followed.
enum KeyPathWalk {
  /// Returns the value at the end of a path; nil if a value on the way is nil.
  ///
  /// - Throws: `PredicateEvaluationError` for an unknown key or operator, and for an operator on a value that
  ///   is no collection.
  static func value(_ path: ArraySlice<String>, of subject: Any?) throws -> Any? {
    guard let subject, !(subject is NSNull) else { return nil }
    guard let step = path.first else { return subject }
    if step.hasPrefix("@") { return try _result(of: step, path.dropFirst(), over: subject) }
    return try value(path.dropFirst(), of: value(forKey: step, of: subject))
  }

  /// Returns the value of one key; of a collection, the values of its elements in a collection of its kind.
  /// Elements without a value are `NSNull` in an array and left out of sets, as on a Mac.
  static func value(forKey key: String, of subject: Any) throws -> Any? {
    if let collection = Collection(subject) {
      return try collection.mapping { element in
        element is NSNull ? nil : try value(forKey: key, of: element)
      }
    }
    if key == "self" { return subject }
    switch subject {
    case let object as NSManagedObject: return object.value(forKey: key)
    case let object as any KeyValueCoding: return object.value(forKey: key)
    case let entries as [String: Any]: return entries[key]
    case let entries as NSDictionary: return entries[key]
    default: return try ObjectSubject(subject).predicateValue(forKey: key).any
    }
  }

  /// Sets a key's value; of a collection, that of each element.
  ///
  /// - Returns: False if something on the way cannot be set by key.
  static func set(_ value: Any?, forKey key: String, of subject: Any?) -> Bool {
    switch subject {
    case nil, is NSNull: true
    case let object as NSManagedObject: object._set(value, key)
    case let entries as NSMutableDictionary: _set(value, key, entries)
    default:
      if let elements = Collection(subject!)?.elements {
        elements.allSatisfy { set(value, forKey: key, of: $0) }
      } else {
        false
      }
    }
  }

  private static func _set(_ value: Any?, _ key: String, _ entries: NSMutableDictionary) -> Bool {
    if let value { entries[key] = value } else { entries.removeObject(forKey: key) }
    return true
  }

  // MARK: Of a collection

  /// Returns the value at the end of a path. Traps where `value(_:of:)` throws.
  static func read(_ path: [String], of collection: Any) -> Any? {
    do {
      return try value(path[...], of: collection)
    } catch {
      let name = path.joined(separator: ".")
      programmerError("'\(name)' of a \(type(of: collection)) cannot be read: \(error)")
    }
  }

  /// Sets the value at the end of a path. Traps if nothing there can be set by key.
  static func write(_ value: Any?, _ path: [String], of collection: Any) {
    guard let key = path.last else { return }
    guard set(value, forKey: key, of: read(path.dropLast(), of: collection)) else {
      programmerError(
        "'\(path.joined(separator: "."))' of a \(type(of: collection)) cannot be set: only managed objects can. "
          + "A dictionary in a collection is handed out as a copy.")
    }
  }

  // MARK: Operators

  private static func _result(
    of name: String, _ path: ArraySlice<String>, over subject: Any
  ) throws -> Any? {
    guard let elements = Collection(subject)?.elements else {
      throw PredicateEvaluationError.wrongOperand(name, "a \(type(of: subject))")
    }
    func values(_ elements: [Any]) throws -> [Any] { try elements.compactMap { try value(path, of: $0) } }
    func values(ofEach elements: [Any]) throws -> [Any] {
      try elements.flatMap { element in
        guard let inner = Collection(element)?.elements else {
          throw PredicateEvaluationError.wrongOperand(name, "a \(type(of: element))")
        }
        return try values(inner)
      }
    }
    switch name {
    case "@count": return NSNumber(value: elements.count)
    case "@unionOfObjects": return try NSArray(array: values(elements))
    case "@distinctUnionOfObjects": return try NSArray(array: _distinct(values(elements)))
    case "@unionOfArrays": return try NSArray(array: values(ofEach: elements))
    case "@distinctUnionOfArrays": return try NSArray(array: _distinct(values(ofEach: elements)))
    case "@unionOfSets", "@distinctUnionOfSets":
      return try NSSet(array: _distinct(values(ofEach: elements)))
    case "@firstObject", "@first": return try elements.first.flatMap { try value(path, of: $0) }
    case "@lastObject", "@last": return try elements.last.flatMap { try value(path, of: $0) }
    default:
      // The mean counts an element without a value as zero, so they are kept.
      let operands = try elements.map { try value(path, of: $0) ?? NSNull() }
      return try ExpressionTree.keyPath([name]).value(for: ObjectSubject(_flat(operands))).any
    }
  }

  /// The values without repetition, in order of first appearance. An `NSOrderedSet` of Swift's strings keeps
  /// equal ones.
  private static func _distinct(_ values: [Any]) -> [Any] {
    var known = Set<AnyHashable>()
    return values.filter { ($0 as? AnyHashable).map { known.insert($0).inserted } ?? true }
  }

  private static func _flat(_ values: [Any]) -> [Any] {
    values.flatMap { Collection($0).map { _flat($0.elements) } ?? [$0] }
  }

  /// A collection of Foundation's or Swift's.
  private enum Collection {
    case array([Any])
    case set([Any])
    case orderedSet([Any])

    /// Nil for anything else.
    init?(_ value: Any) {
      switch value {
      case let array as NSArray: self = .array(Array(array))
      case let set as NSSet: self = .set(set.allObjects)
      case let set as NSOrderedSet: self = .orderedSet(set.array)
      case let array as [Any]: self = .array(array)
      case let set as Set<AnyHashable>: self = .set(set.map(\.base))
      default: return nil
      }
    }

    var elements: [Any] {
      switch self {
      case .array(let elements), .set(let elements), .orderedSet(let elements): elements
      }
    }

    func mapping(_ transform: (Any) throws -> Any?) rethrows -> Any {
      switch self {
      case .array(let elements): try NSArray(array: elements.map { try transform($0) ?? NSNull() })
      case .set(let elements): try NSSet(array: _distinct(elements.compactMap(transform)))
      case .orderedSet(let elements):
        try NSOrderedSet(array: _distinct(elements.compactMap(transform)))
      }
    }
  }
}

extension NSManagedObject {
  fileprivate final func _set(_ value: Any?, _ key: String) -> Bool {
    setValue(value is NSNull ? nil : value, forKey: key)
    return true
  }
}

extension String {
  /// The steps of a key path.
  var keyPathSteps: [String] { split(separator: ".").map(String.init) }
}
