import CoreDataToolKit
import Foundation

/// Keyed archives and binary property lists as JSON.
///
/// They are read as data: no class is instantiated. Collections of Foundation become arrays and objects, dates ISO 8601, data
/// base64; any other object is an object with the member `$class`. The bytes are untrusted: what would take more than the limits
/// is not converted.
struct ArchiveJSON {
  private static let _nodeLimit = 200_000
  private static let _depthLimit = 60
  private static let _textLimit = 16 << 20

  private struct Excess: Error {}

  private typealias Members = PropertyListTable.Members

  private let _archive: KeyedArchive
  private var _table: PropertyListTable { _archive.table }
  private var _nodes = 0
  private var _text = ""
  private var _open: Set<Int> = []

  /// Returns the JSON of bytes on one line; nil for bytes of another kind, and for those that are damaged or exceed the limits.
  static func text(_ bytes: [UInt8]) -> String? {
    guard let table = PropertyListTable(bytes, textLimit: _textLimit) else { return nil }
    var json = ArchiveJSON(_archive: KeyedArchive(table))
    do {
      try json._root()
    } catch {
      return nil
    }
    return json._text
  }

  private mutating func _root() throws(Excess) {
    guard let (names, roots) = _archive.roots else { return try _node(_table.top, depth: 0) }
    if names.count == 1, let root = roots[0] { return try _node(root, depth: 0) }
    try _fields(names, roots, className: nil, depth: 0)
  }

  // MARK: Nodes

  private mutating func _node(_ number: Int, depth: Int) throws(Excess) {
    _nodes += 1
    guard _nodes <= Self._nodeLimit, depth <= Self._depthLimit, _text.utf8.count <= Self._textLimit else {
      throw Excess()
    }
    switch _table.object(number) {
    case nil: throw Excess()
    case .null: _text += "null"
    case .boolean(let flag): _text += flag ? "true" : "false"
    case .integer(let value): _text += String(value)
    case .unsigned(let value): _text += String(value)
    case .real(let value): _text += value.isFinite ? "\(value)" : JSONText.quoted("\(value)")
    case .date(let seconds): _text += JSONText.quoted(ISODate.text(seconds))
    case .data(let bytes): _text += JSONText.quoted(Data(bytes).base64EncodedString())
    case .string(let text, let isCut):
      if isCut { throw Excess() }
      // "$null" is how an archive writes nil.
      _text += _archive.isKeyed && text == "$null" ? "null" : JSONText.quoted(text)
    case .uid(let place):
      guard _archive.isKeyed else { return _text += "{\"CF$UID\":\(place)}" }
      guard let target = _archive.target(place) else { throw Excess() }
      // An object that contains itself is written once.
      guard _open.insert(place).inserted else { return _text += "{\"$cycle\":\(place)}" }
      defer { _open.remove(place) }
      try _node(target, depth: depth + 1)
    case .array(let members): try _array(members, depth)
    case .dictionary(let keys, let values):
      let isEncoded = _archive.isKeyed && _archive.value("$class", keys, values) != nil
      if isEncoded {
        try _object(keys, values, depth)
      } else {
        try _fields(keys, values, className: nil, depth: depth)
      }
    }
  }

  private mutating func _array(_ members: Members, _ depth: Int) throws(Excess) {
    _text += "["
    for index in 0..<members.count {
      if index > 0 { _text += "," }
      guard let member = members[index] else { throw Excess() }
      try _node(member, depth: depth + 1)
    }
    _text += "]"
  }

  /// The fields of a dictionary whose keys are texts, and the class of an object.
  private mutating func _fields(
    _ keys: Members, _ values: Members, className: String?, depth: Int
  ) throws(Excess) {
    _text += "{"
    var isFirst = true
    if let className {
      _text += "\"$class\":\(JSONText.quoted(className))"
      isFirst = false
    }
    for index in 0..<keys.count {
      guard let key = keys[index], let value = values[index],
        case .string(let name, false)? = _table.object(key)
      else { throw Excess() }
      if name == "$class", className != nil { continue }
      if !isFirst { _text += "," }
      isFirst = false
      _text += JSONText.quoted(name) + ":"
      try _node(value, depth: depth + 1)
    }
    _text += "}"
  }

  // MARK: Archived objects

  private mutating func _object(_ keys: Members, _ values: Members, _ depth: Int) throws(Excess) {
    let name = _archive.className(keys, values) ?? "?"
    switch name {
    case "NSArray", "NSMutableArray", "NSSet", "NSMutableSet", "NSOrderedSet", "NSMutableOrderedSet":
      if let objects = _members("NS.objects", keys, values) { return try _array(objects, depth) }
    case "NSDictionary", "NSMutableDictionary":
      if let names = _members("NS.keys", keys, values), let objects = _members("NS.objects", keys, values),
        names.count == objects.count
      {
        return try _dictionary(names, objects, depth)
      }
    case "NSString", "NSMutableString", "NSData", "NSMutableData":
      if let content = _archive.value("NS.string", keys, values) ?? _archive.value("NS.data", keys, values)
        ?? _archive.value("NS.bytes", keys, values)
      {
        return try _node(content, depth: depth + 1)
      }
    case "NSDecimalNumber":
      if let number = _archive.decimal(keys, values) { return _text += JSONText.quoted(number) }
    case "NSNull": return _text += "null"
    case "NSDate":
      if case .real(let seconds)? = _archive.value("NS.time", keys, values).flatMap(_archive.resolved) {
        return _text += JSONText.quoted(ISODate.text(seconds))
      }
    case "NSUUID":
      if case .data(let bytes)? = _archive.value("NS.uuidbytes", keys, values).flatMap(_archive.resolved),
        bytes.count == 16
      {
        let uuid = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        return _text += JSONText.quoted(uuid.uuidString)
      }
    case "NSURL":
      if let relative = _archive.value("NS.relative", keys, values),
        _isNil(_archive.value("NS.base", keys, values))
      {
        return try _node(relative, depth: depth + 1)
      }
    default: break
    }
    try _fields(keys, values, className: name, depth: depth)
  }

  /// A dictionary: an object if all keys are texts, else a list of pairs.
  private mutating func _dictionary(_ keys: Members, _ values: Members, _ depth: Int) throws(Excess) {
    var names: [String] = []
    for index in 0..<keys.count {
      guard case .string(let name, false)? = _archive.resolved(keys[index]) else { break }
      names.append(name)
    }
    let isObject = names.count == keys.count
    _text += isObject ? "{" : "["
    for index in 0..<keys.count {
      if index > 0 { _text += "," }
      guard let key = keys[index], let value = values[index] else { throw Excess() }
      if isObject {
        _text += JSONText.quoted(names[index]) + ":"
        try _node(value, depth: depth + 1)
      } else {
        _text += "["
        try _node(key, depth: depth + 1)
        _text += ","
        try _node(value, depth: depth + 1)
        _text += "]"
      }
    }
    _text += isObject ? "}" : "]"
  }

  // MARK: Fields

  private func _members(_ name: String, _ keys: Members, _ values: Members) -> Members? {
    guard case .array(let members)? = _archive.resolved(_archive.value(name, keys, values)) else {
      return nil
    }
    return members
  }

  private func _isNil(_ number: Int?) -> Bool {
    switch _archive.resolved(number) {
    case nil: true
    case .string("$null", _)?: true
    default: false
    }
  }
}
