/// The archived forms of Foundation's collections.
extension KeyedObject {
  static func array(_ members: [KeyedValue]) -> KeyedObject { _collection(["NSArray", "NSObject"], members) }

  static func mutableArray(_ members: [KeyedValue]) -> KeyedObject {
    _collection(["NSMutableArray", "NSArray", "NSObject"], members)
  }

  static func set(_ members: [KeyedValue]) -> KeyedObject { _collection(["NSSet", "NSObject"], members) }

  /// A mutable dictionary with entries in this order.
  static func dictionary(_ entries: [(String, KeyedValue)]) -> KeyedObject {
    _dictionary(["NSMutableDictionary", "NSDictionary", "NSObject"], entries)
  }

  /// A dictionary of strings.
  static func texts(_ texts: [String: String]) -> KeyedObject {
    let entries = texts.sorted { $0.key < $1.key }.map { ($0.key, KeyedValue.text($0.value)) }
    return _dictionary(["NSDictionary", "NSObject"], entries)
  }

  private static func _collection(_ classes: [String], _ members: [KeyedValue]) -> KeyedObject {
    KeyedObject(classes, [("NS.objects", .members(members))])
  }

  private static func _dictionary(_ classes: [String], _ entries: [(String, KeyedValue)]) -> KeyedObject {
    KeyedObject(
      classes,
      [("NS.keys", .members(entries.map { .text($0.0) })), ("NS.objects", .members(entries.map(\.1)))])
  }
}
