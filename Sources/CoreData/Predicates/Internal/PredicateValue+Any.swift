import CoreDataPredicateLanguage
import Foundation

/// Wraps a value of an unsupported type for comparison: by identity if it is an object, otherwise equal only
/// to itself.
final class OpaqueValue: Hashable, CustomStringConvertible {
  let value: Any
  private let _object: AnyObject?

  init(_ value: Any) {
    self.value = value
    _object = type(of: value) is AnyClass ? value as AnyObject : nil
  }

  static func == (left: OpaqueValue, right: OpaqueValue) -> Bool {
    if left === right { return true }
    guard let first = left._object, let second = right._object else { return false }
    return first === second
  }

  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(_object ?? self)) }

  var description: String { String(describing: value) }
}

/// Converts between the caller's values and those of the predicate language.
extension PredicateValue {
  /// Converts any value: nil and NSNull become null, numbers, text, dates and similar types their
  /// counterparts; collections are converted by element, and all other values become objects.
  package init(any value: Any?) {
    guard let value else {
      self = .null
      return
    }
    // Checks exact types first: every format argument and every value read in memory passes here, and
    // comparing types costs a tenth of a failing cast.
    let type = Swift.type(of: value)
    if type == String.self, let text = value as? String {
      self = .string(text)
    } else if type == Int.self, let number = value as? Int {
      self = .int(Int64(number))
    } else if type == Bool.self, let flag = value as? Bool {
      self = .bool(flag)
    } else if type == Double.self, let number = value as? Double {
      self = .double(number)
    } else if type == Date.self, let date = value as? Date {
      self = .date(date.timeIntervalSinceReferenceDate)
    } else if type == UUID.self, let uuid = value as? UUID {
      self = .uuid(uuid)
    } else if type is AnyClass {
      self = Self._ofObject(value as AnyObject)
    } else {
      self = Self._ofOther(value)
    }
  }

  private static func _ofOther(_ value: Any) -> PredicateValue {
    if Swift.type(of: value) is any OptionalValue.Type, let optional = value as? any OptionalValue {
      return PredicateValue(any: optional.wrapped)
    }
    if let elements = _ofUniformArray(value) { return .collection(elements) }
    if Swift.type(of: value) == [String: Any].self, let entries = value as? [String: Any] {
      return .dictionary(entries.mapValues { PredicateValue(any: $0) })
    }
    switch value {
    case let number as Int64: return .int(number)
    case let number as Int32: return .int(Int64(number))
    case let number as Int16: return .int(Int64(number))
    case let number as Int8: return .int(Int64(number))
    case let number as UInt8: return .int(Int64(number))
    case let number as UInt16: return .int(Int64(number))
    case let number as UInt32: return .int(Int64(number))
    case let number as UInt64: return _unsigned(number)
    case let number as UInt: return _unsigned(UInt64(number))
    case let number as Float: return .double(Double(number))
    case let number as CGFloat: return .double(Double(number))
    case let number as Decimal: return .decimal(number)
    case let data as Data: return .data(data)
    case let url as URL: return .url(url)
    case let text as Substring: return .string(String(text))
    case let character as Character: return .string(String(character))
    case let pointer as UnsafePointer<CChar>: return .string(String(cString: pointer))
    case let array as [Any]: return .collection(array.map { PredicateValue(any: $0) })
    case let set as Set<AnyHashable>: return .collection(set.map { PredicateValue(any: $0.base) })
    case let dictionary as [AnyHashable: Any]: return _ofDictionary(dictionary)
    case let hashable as AnyHashable: return .object(PredicateObject(hashable))
    default: return .object(PredicateObject(AnyHashable(OpaqueValue(value))))
    }
  }

  /// Converts arrays of the element types most often passed to IN; a cast to `[Any]` would box every element.
  private static func _ofUniformArray(_ value: Any) -> [PredicateValue]? {
    let type = Swift.type(of: value)
    if type == [String].self, let texts = value as? [String] { return texts.map { .string($0) } }
    if type == [Int].self, let numbers = value as? [Int] { return numbers.map { .int(Int64($0)) } }
    if type == [UUID].self, let uuids = value as? [UUID] { return uuids.map { .uuid($0) } }
    if type == [NSManagedObjectID].self, let ids = value as? [NSManagedObjectID] {
      return ids.map { .object(PredicateObject(reference: $0)) }
    }
    if type == Set<String>.self, let texts = value as? Set<String> { return texts.map { .string($0) } }
    if type == Set<UUID>.self, let uuids = value as? Set<UUID> { return uuids.map { .uuid($0) } }
    return nil
  }

  private static func _unsigned(_ number: UInt64) -> PredicateValue {
    Int64(exactly: number).map { .int($0) } ?? .decimal(Decimal(number))
  }

  private static func _ofDictionary(_ dictionary: [AnyHashable: Any]) -> PredicateValue {
    var entries: [String: PredicateValue] = [:]
    entries.reserveCapacity(dictionary.count)
    for (key, value) in dictionary {
      entries[_text(ofKey: key)] = PredicateValue(any: value)
    }
    return .dictionary(entries)
  }

  private static func _text(ofKey key: AnyHashable) -> String {
    if let text = key.base as? String { return text }
    let value = PredicateValue(any: key.base)
    return value.isNumber ? value.plainText : String(describing: key.base)
  }

  private static func _ofObject(_ object: AnyObject) -> PredicateValue {
    switch object {
    case let id as NSManagedObjectID: return .object(PredicateObject(reference: id))
    case let number as NSNumber: return _ofNumber(number)
    case let text as NSString: return .string(String(text))
    case is any KeyValueCoding: break
    case is NSNull: return .null
    case let date as NSDate: return .date(date.timeIntervalSinceReferenceDate)
    case let uuid as NSUUID: return .uuid(uuid as UUID)
    case let url as NSURL: return .url(url as URL)
    case let data as NSData: return .data(data as Data)
    case let array as NSArray: return .collection(array.map { PredicateValue(any: $0) })
    case let set as NSSet: return .collection(set.map { PredicateValue(any: $0) })
    case let set as NSOrderedSet: return .collection(set.map { PredicateValue(any: $0) })
    case let dictionary as NSDictionary:
      return _ofDictionary(
        dictionary.reduce(into: [:]) { entries, entry in
          if let key = entry.key as? AnyHashable { entries[key] = entry.value }
        })
    default: break
    }
    if let object = object as? NSObject { return .object(PredicateObject(AnyHashable(object))) }
    if let hashable = object as? AnyHashable { return .object(PredicateObject(hashable)) }
    return .object(PredicateObject(AnyHashable(OpaqueValue(object))))
  }

  /// The class of NSNumbers created from booleans, which have the same type code as small integers.
  private static let _booleanClass: AnyClass = Swift.type(of: NSNumber(value: true))

  private static func _ofNumber(_ number: NSNumber) -> PredicateValue {
    if Swift.type(of: number) == _booleanClass { return .bool(number.boolValue) }
    if let decimal = number as? NSDecimalNumber { return .decimal(decimal.decimalValue) }
    switch UInt8(bitPattern: number.objCType.pointee) {
    case UInt8(ascii: "d"), UInt8(ascii: "f"): return .double(number.doubleValue)
    case UInt8(ascii: "Q"): return _unsigned(number.uint64Value)
    default: return .int(number.int64Value)
    }
  }

  /// The value in the caller's types: numbers as NSNumber, text as String, dates as Date, collections as
  /// arrays, null as nil.
  var any: Any? {
    switch self {
    case .null: nil
    case .bool(let flag): NSNumber(value: flag)
    case .int(let number): NSNumber(value: number)
    case .double(let number): NSNumber(value: number)
    case .decimal(let number): NSDecimalNumber(decimal: number)
    case .string(let text): text
    case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
    case .data(let data): data
    case .uuid(let uuid): uuid
    case .url(let url): url
    case .object(let object): object.any
    case .collection(let elements): elements.map { $0.any ?? NSNull() }
    case .dictionary(let entries): entries.mapValues { $0.any ?? NSNull() }
    }
  }
}

extension PredicateObject {
  /// The wrapped value.
  var any: Any { (wrapped as? OpaqueValue)?.value ?? wrapped }

  /// The object ID that is wrapped, if it is one.
  package var objectID: NSManagedObjectID? {
    if let reference { return reference as? NSManagedObjectID }
    return wrapped as? NSManagedObjectID
  }
}

/// Any optional, for unwrapping one inside an `Any`.
private protocol OptionalValue {
  var wrapped: Any? { get }
}

extension Optional: OptionalValue {
  var wrapped: Any? { self }
}
