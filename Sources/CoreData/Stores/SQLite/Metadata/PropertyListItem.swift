import Foundation

/// An item of a property list, for `PropertyListEncoder`.
///
/// In programs linked with `--static-swift-stdlib`, `PropertyListSerialization` of Swift 6.3 writes no
/// arrays; the encoder does.
struct PropertyListItem {
  private enum Kind {
    case scalar(any Encodable)
    case list([PropertyListItem])
    case tree([String: PropertyListItem])
  }

  private let _kind: Kind

  /// Encodes the items in binary form.
  ///
  /// - Throws: Cocoa error 3851, with the item's key, if an item is not a string, number, boolean, date,
  ///   data, array or dictionary with strings as keys.
  static func binary(_ items: [String: Any]) throws -> Data {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    return try encoder.encode(PropertyListItem(tree: items, at: ""))
  }

  private init(tree: [String: Any], at path: String) throws {
    var items: [String: PropertyListItem] = [:]
    for (key, item) in tree {
      items[key] = try PropertyListItem(item, at: path.isEmpty ? key : "\(path).\(key)")
    }
    _kind = .tree(items)
  }

  private init(_ item: Any, at path: String) throws {
    // Check the object's own type: a cast would convert the number 1 to a boolean.
    if type(of: item) is AnyClass, let number = item as? NSNumber {
      _kind = .scalar(Self._scalar(number))
      return
    }
    switch item {
    case let text as String: _kind = .scalar(text)
    case let flag as Bool: _kind = .scalar(flag)
    case let number as any BinaryInteger & Encodable: _kind = .scalar(number)
    case let number as Double: _kind = .scalar(number)
    case let number as Float: _kind = .scalar(number)
    case let number as NSNumber: _kind = .scalar(Self._scalar(number))
    case let date as Date: _kind = .scalar(date)
    case let data as Data: _kind = .scalar(data)
    case let items as [Any]:
      _kind = .list(try items.enumerated().map { try PropertyListItem($1, at: "\(path)[\($0)]") })
    case let items as [String: Any]: self = try PropertyListItem(tree: items, at: path)
    default:
      throw CocoaError.coreData(
        CocoaError.Code.propertyListWriteStream.rawValue,
        "A property list cannot hold the \(type(of: item)) at \(path). Use strings, numbers, booleans, dates, data, arrays "
          + "and dictionaries.")
    }
  }

  /// The class of NSNumbers created from booleans, which have the same type code as small integers.
  private static let _booleanClass: AnyClass = type(of: NSNumber(value: true))

  private static func _scalar(_ number: NSNumber) -> any Encodable {
    if type(of: number) == _booleanClass { return number.boolValue }
    if let decimal = number as? NSDecimalNumber { return decimal.doubleValue }
    return switch UInt8(bitPattern: number.objCType.pointee) {
    case UInt8(ascii: "d"): number.doubleValue
    case UInt8(ascii: "f"): number.floatValue
    case UInt8(ascii: "Q"): number.uint64Value
    default: number.int64Value
    }
  }
}

extension PropertyListItem: Encodable {
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch _kind {
    case .scalar(let value): try container.encode(value)
    case .list(let items): try container.encode(items)
    case .tree(let items): try container.encode(items)
    }
  }
}
