import Foundation

/// Selectors that plain values respond to, in FUNCTION(target, 'selector', …) and as keys: those of
/// Foundation's classes that predicates are known to use. There is no Objective-C runtime to look up others.
enum SelectorCall {
  /// The result; nil if the target does not respond to the selector.
  static func value(
    of selector: String, on target: PredicateValue, arguments: [PredicateValue]
  ) throws -> PredicateValue? {
    guard selector.count(where: { $0 == ":" }) == arguments.count else { return nil }
    if selector == "description" || selector == "stringValue" { return .string(target.plainText) }
    switch target {
    case .string(let text): return _string(text, selector, arguments)
    case .bool, .int, .double, .decimal: return try _number(target, selector, arguments)
    case .date(let seconds): return _date(seconds, selector, arguments)
    case .url(let url): return _url(url, selector)
    case .uuid(let uuid): return selector == "UUIDString" ? .string(uuid.uuidString) : nil
    case .data(let data): return selector == "length" ? .int(Int64(data.count)) : nil
    case .collection(let elements): return _collection(elements, selector, arguments)
    case .dictionary(let entries): return _dictionary(entries, selector, arguments)
    case .null, .object: return nil
    }
  }

  private static func _string(_ text: String, _ selector: String, _ arguments: [PredicateValue])
    -> PredicateValue?
  {
    switch (selector, arguments.first) {
    case ("length", _): .int(Int64(text.utf16.count))
    case ("uppercaseString", _): .string(text.uppercased())
    case ("lowercaseString", _): .string(text.lowercased())
    case ("capitalizedString", _): .string(text.capitalized)
    case ("intValue", _), ("integerValue", _), ("longLongValue", _): .int((text as NSString).longLongValue)
    case ("doubleValue", _), ("floatValue", _): .double((text as NSString).doubleValue)
    case ("boolValue", _): .bool((text as NSString).boolValue)
    case ("stringByAppendingString:", .string(let other)?): .string(text + other)
    case ("hasPrefix:", .string(let other)?): .bool(StringComparison.begins(text, with: other))
    case ("hasSuffix:", .string(let other)?): .bool(StringComparison.ends(text, with: other))
    case ("isEqualToString:", .string(let other)?): .bool(StringComparison.equal(text, other))
    case ("containsString:", .string(let other)?): .bool(StringComparison.contains(text, other))
    case ("componentsSeparatedByString:", .string(let other)?):
      .collection(text.components(separatedBy: other).map { .string($0) })
    default: nil
    }
  }

  private static func _number(
    _ number: PredicateValue, _ selector: String, _ arguments: [PredicateValue]
  ) throws -> PredicateValue? {
    switch selector {
    case "intValue", "integerValue", "longLongValue", "longValue", "shortValue":
      number.integer.map { .int($0) }
    case "doubleValue", "floatValue": number.double.map { .double($0) }
    case "boolValue": .bool(number.isTrue)
    case "decimalValue": number.decimal.map { .decimal($0) }
    case "isEqualToNumber:": .bool(try number.ordered(against: arguments[0], options: []) == .orderedSame)
    default: nil
    }
  }

  private static func _date(_ seconds: Double, _ selector: String, _ arguments: [PredicateValue])
    -> PredicateValue?
  {
    switch (selector, arguments.first) {
    case ("timeIntervalSinceReferenceDate", _): .double(seconds)
    case ("timeIntervalSince1970", _): .double(seconds + Date.timeIntervalBetween1970AndReferenceDate)
    case ("timeIntervalSinceNow", _): .double(seconds - Date().timeIntervalSinceReferenceDate)
    case ("timeIntervalSinceDate:", .date(let other)?): .double(seconds - other)
    case ("dateByAddingTimeInterval:", let interval?): interval.double.map { .date(seconds + $0) }
    default: nil
    }
  }

  private static func _url(_ url: URL, _ selector: String) -> PredicateValue? {
    switch selector {
    case "absoluteString": .string(url.absoluteString)
    case "path": .string(url.path)
    case "lastPathComponent": .string(url.lastPathComponent)
    case "pathExtension": .string(url.pathExtension)
    case "host": url.host.map { .string($0) } ?? .null
    case "scheme": url.scheme.map { .string($0) } ?? .null
    case "query": url.query.map { .string($0) } ?? .null
    case "fragment": url.fragment.map { .string($0) } ?? .null
    default: nil
    }
  }

  private static func _collection(
    _ elements: [PredicateValue], _ selector: String, _ arguments: [PredicateValue]
  ) -> PredicateValue? {
    switch selector {
    case "count": return .int(Int64(elements.count))
    case "firstObject", "anyObject": return elements.first ?? .null
    case "lastObject": return elements.last ?? .null
    case "allObjects", "array", "set": return .collection(elements)
    case "objectAtIndex:":
      guard let index = arguments[0].integer, index >= 0, index < elements.count else { return .null }
      return elements[Int(index)]
    default: return nil
    }
  }

  private static func _dictionary(
    _ entries: [String: PredicateValue], _ selector: String, _ arguments: [PredicateValue]
  ) -> PredicateValue? {
    switch (selector, arguments.first) {
    case ("count", _): .int(Int64(entries.count))
    case ("allKeys", _): .collection(entries.keys.sorted().map { .string($0) })
    case ("allValues", _): .collection(PredicateValue.dictionary(entries).elements ?? [])
    case ("objectForKey:", .string(let key)?): entries[key] ?? .null
    default: nil
    }
  }
}
