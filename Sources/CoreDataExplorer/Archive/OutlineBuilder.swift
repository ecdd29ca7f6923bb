import CoreDataStoreTools
import CoreDataToolKit
import Foundation

/// Builds the tree of one property list, within limits.
struct OutlineBuilder {
  private typealias Members = PropertyListTable.Members

  private let _archive: KeyedArchive
  private var _table: PropertyListTable { _archive.table }
  private let _limits: ValueOutline.Limits
  private var _nodesLeft: Int
  /// Numbers of the collections and objects that enclose the current one.
  private var _open: Set<Int> = []

  init(_ table: PropertyListTable, _ limits: ValueOutline.Limits) {
    _archive = KeyedArchive(table, searchedFields: limits.searched)
    (_limits, _nodesLeft) = (limits, limits.nodes)
  }

  mutating func root() -> ValueOutline {
    guard let (names, roots) = _archive.roots else { return _node(_table.top, depth: 0) }
    if names.count == 1, let root = roots[0] { return _node(root, depth: 0) }
    return _fields(names, roots, of: ValueOutline("archive", .type), depth: 0)
  }

  // MARK: Nodes

  private mutating func _node(_ number: Int, depth: Int) -> ValueOutline {
    _nodesLeft -= 1
    switch _table.object(number) {
    case nil: return ._damaged
    case .null: return ._null
    case .boolean(let flag): return ValueOutline(flag ? "true" : "false", .number)
    case .integer(let value): return ValueOutline(String(value), .number)
    case .unsigned(let value): return ValueOutline(String(value), .number)
    case .real(let value): return ValueOutline("\(value)", .number)
    case .date(let seconds): return _date(seconds)
    case .data(let bytes): return _data(bytes)
    case .string(let text, let isCut):
      // The first object of a keyed archive represents nil.
      return text == "$null" && _archive.isFirst(number) ? ._null : _text(text, isCut: isCut)
    case .uid(let index):
      guard let target = _archive.target(index) else { return ._damaged }
      _nodesLeft += 1
      return _node(target, depth: depth)
    case .array(let members):
      return _nested(number, "array", depth) { $0._members(members, of: $1, depth: depth) }
    case .dictionary(let keys, let values):
      guard let name = _archive.className(keys, values).map({ _cut($0, _limits.name) }) else {
        return _nested(number, "dictionary", depth) { $0._fields(keys, values, of: $1, depth: depth) }
      }
      return _nested(number, name, depth) { $0._object(name, keys, values, of: $1, depth: depth) }
    }
  }

  /// A node with children, unless it contains itself or is nested too deeply.
  private mutating func _nested(
    _ number: Int, _ type: String, _ depth: Int,
    _ fill: (inout OutlineBuilder, ValueOutline) -> ValueOutline
  ) -> ValueOutline {
    guard _open.insert(number).inserted else { return ValueOutline("\(type) that contains itself", .remark) }
    defer { _open.remove(number) }
    guard depth < _limits.depth else {
      return ValueOutline("\(type), nested too deeply to be shown", .remark)
    }
    return fill(&self, ValueOutline(type, .type))
  }

  private func _resolved(_ number: Int?) -> PropertyListTable.Object? { _archive.resolved(number) }

  private func _string(_ number: Int?) -> String? { _archive.string(number) }

  // MARK: Collections

  private mutating func _members(
    _ members: Members, of collection: ValueOutline, isIndexed: Bool = true, depth: Int
  ) -> ValueOutline {
    var collection = collection
    for index in 0..<min(members.count, _limits.members) where _nodesLeft > 0 {
      var child = members[index].map { _node($0, depth: depth + 1) } ?? ._damaged
      if isIndexed { child.label = String(index) }
      collection.children.append(child)
    }
    collection.omitted = members.count - collection.children.count
    return collection
  }

  /// Entries with keys that are texts, sorted by key.
  private mutating func _fields(
    _ keys: Members, _ values: Members, of owner: ValueOutline, depth: Int
  ) -> ValueOutline {
    let names = (0..<min(keys.count, _limits.searched)).map { (index: $0, name: _string(keys[$0]) ?? "?") }
    let shown = names.filter { $0.name != "$class" || !_archive.isKeyed }
    var owner = owner
    for (index, name) in shown.sorted(by: { $0.name < $1.name }).prefix(_limits.members) where _nodesLeft > 0
    {
      var child = values[index].map { _node($0, depth: depth + 1) } ?? ._damaged
      child.label = _cut(name, _limits.name)
      owner.children.append(child)
    }
    owner.omitted = keys.count - (names.count - shown.count) - owner.children.count
    return owner
  }

  /// Entries with keys of any kind, in the dictionary's order.
  private mutating func _entries(
    _ keys: Members, _ values: Members, of dictionary: ValueOutline, depth: Int
  ) -> ValueOutline {
    var dictionary = dictionary
    for index in 0..<min(keys.count, values.count, _limits.members) where _nodesLeft > 0 {
      let key = keys[index].map { _node($0, depth: depth + 1) } ?? ._damaged
      var child = values[index].map { _node($0, depth: depth + 1) } ?? ._damaged
      child.label = _cut(key.text, _limits.name)
      dictionary.children.append(child)
    }
    dictionary.omitted = max(keys.count, values.count) - dictionary.children.count
    return dictionary
  }

  // MARK: Objects

  /// Describes an object of a keyed archive: in words for Foundation's plain classes, otherwise by its
  /// fields.
  private mutating func _object(
    _ name: String, _ keys: Members, _ values: Members, of node: ValueOutline, depth: Int
  ) -> ValueOutline {
    func field(_ key: String) -> Int? { _archive.value(key, keys, values) }
    switch name {
    case "NSString", "NSMutableString":
      if let text = _text(at: field("NS.string")) { return text }
    case "NSData", "NSMutableData":
      if case .data(let bytes)? = _resolved(field("NS.data")) { return _data(bytes) }
    case "NSDate":
      if case .real(let seconds)? = _resolved(field("NS.time")) { return _date(seconds) }
    case "NSURL":
      // A URL with a base is shown by its fields.
      if let text = _string(field("NS.relative")), _string(field("NS.base")) ?? "$null" == "$null",
        !_isObject(field("NS.base"))
      {
        return ValueOutline(_cut(text, _limits.text), .code)
      }
    case "NSUUID":
      if case .data(let bytes)? = _resolved(field("NS.uuidbytes")), bytes.count == 16 {
        let uuid = Array(bytes).withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        return ValueOutline(uuid.uuidString, .code)
      }
    case "NSDecimalNumber":
      if let number = _archive.decimal(keys, values) { return ValueOutline(number, .number) }
    case "NSNull": return ValueOutline("null", .remark)
    case "NSArray", "NSMutableArray":
      if case .array(let members)? = _resolved(field("NS.objects")) {
        return _members(members, of: node, depth: depth)
      }
    case "NSSet", "NSMutableSet":
      if case .array(let members)? = _resolved(field("NS.objects")) {
        return _members(members, of: node, isIndexed: false, depth: depth)
      }
    case "NSDictionary", "NSMutableDictionary":
      if case .array(let names)? = _resolved(field("NS.keys")),
        case .array(let members)? = _resolved(field("NS.objects"))
      {
        return _entries(names, members, of: node, depth: depth)
      }
    default: break
    }
    return _fields(keys, values, of: node, depth: depth)
  }

  private func _isObject(_ number: Int?) -> Bool {
    if case .dictionary? = _resolved(number) { true } else { false }
  }

  // MARK: Values

  private func _text(at number: Int?) -> ValueOutline? {
    guard case .string(let text, let isCut)? = _resolved(number) else { return nil }
    return _text(text, isCut: isCut)
  }

  private func _text(_ text: String, isCut: Bool) -> ValueOutline {
    ValueOutline(isCut ? text.prefix(_limits.text) + "…" : _cut(text, _limits.text), .text)
  }

  private func _cut(_ text: String, _ limit: Int) -> String {
    text.count > limit ? text.prefix(limit) + "…" : text
  }

  private func _date(_ seconds: Double) -> ValueOutline {
    ValueOutline(ISODate.shown(seconds), .date)
  }

  private func _data(_ bytes: ArraySlice<UInt8>) -> ValueOutline {
    let head = bytes.prefix(_limits.bytes).map { String(format: "%02x", $0) }.joined(separator: " ")
    let rest = bytes.count > _limits.bytes ? " …" : ""
    return ValueOutline("\(Amount.text(bytes.count, "byte")): \(head)\(rest)", .code)
  }
}

extension ValueOutline {
  fileprivate static let _null = ValueOutline("nil", .remark)
  fileprivate static let _damaged = ValueOutline("damaged", .remark)
}
