import CoreDataZlibBinding
import Foundation

/// Finds the texts inside of bytes: of property lists and keyed archives, gzip and zlib, JSON, XML and plain text, and protobuf.
///
/// The bytes are untrusted. Nothing is instantiated, and depth, the number of texts and what decompression makes are limited; what
/// exceeds a limit is left out and reported.
struct ContentTexts {
  struct Limits {
    var depth = 12
    /// Bytes that all decompressions of one value make.
    var unpacked = 64 << 20
    /// Visits of nested values.
    var nodes = 500_000
  }

  private let _limits: Limits
  private var _unpacked = 0
  private var _nodes = 0
  /// Whether something was left out for a limit.
  private(set) var isIncomplete = false

  init(limits: Limits = Limits()) { _limits = limits }

  /// Calls a function with each text and the way to it, such as `gzip/2/3` or `NS.objects/0`, until it returns false.
  ///
  /// - Returns: Whether all calls returned true.
  mutating func visit(_ bytes: [UInt8], _ body: (_ path: [String], _ text: String) throws -> Bool) rethrows
    -> Bool
  {
    try _visit(bytes[...], [], body)
  }

  private mutating func _isWithin(_ depth: Int) -> Bool {
    _nodes += 1
    if depth <= _limits.depth, _nodes <= _limits.nodes { return true }
    isIncomplete = true
    return false
  }

  private mutating func _visit(
    _ bytes: ArraySlice<UInt8>, _ path: [String], _ body: ([String], String) throws -> Bool
  ) rethrows -> Bool {
    guard bytes.count > 1, _isWithin(path.count) else { return true }
    if bytes.starts(with: Array("bplist0".utf8)),
      let table = PropertyListTable(Array(bytes), textLimit: 4 << 20)
    {
      return try _visit(table, table.top, path, [], body)
    }
    if let (name, packed) = Self._compressed(bytes) {
      let room = _limits.unpacked - _unpacked
      if let unpacked = try? RawDeflate.unpack(Array(packed), limit: room) {
        _unpacked += unpacked.count
        return try _visit(unpacked[...], path + [name], body)
      }
      if name == "gzip" { isIncomplete = true }
    }
    if let text = Self._text(bytes) { return try body(path, text) }
    return try _visitMessage(bytes, path, body)
  }

  // MARK: Forms

  /// The raw DEFLATE in gzip or zlib; nil for other bytes.
  private static func _compressed(_ bytes: ArraySlice<UInt8>) -> (String, ArraySlice<UInt8>)? {
    let first = bytes.startIndex
    guard bytes.count > 6 else { return nil }
    if bytes[first] == 0x1F, bytes[first + 1] == 0x8B, bytes[first + 2] == 8, bytes.count > 18 {
      let flags = bytes[first + 3]
      var rest = bytes.dropFirst(10)
      if flags & 4 != 0 {
        guard rest.count > 2 else { return nil }
        rest = rest.dropFirst(2 + Int(rest[rest.startIndex]) + Int(rest[rest.startIndex + 1]) << 8)
      }
      for flag: UInt8 in [8, 16] where flags & flag != 0 {
        guard let end = rest.firstIndex(of: 0) else { return nil }
        rest = rest[(end + 1)...]
      }
      if flags & 2 != 0 { rest = rest.dropFirst(2) }
      return ("gzip", rest)
    }
    let head = Int(bytes[first]) << 8 | Int(bytes[first + 1])
    if bytes[first] & 0x0F == 8, bytes[first] >> 4 <= 7, head % 31 == 0, bytes[first + 1] & 0x20 == 0 {
      return ("zlib", bytes.dropFirst(2))
    }
    return nil
  }

  /// The bytes as text: UTF-8 without control characters other than white space.
  private static func _text(_ bytes: ArraySlice<UInt8>) -> String? {
    for byte in bytes where byte < 0x20 && byte != 0x09 && byte != 0x0A && byte != 0x0D || byte == 0x7F {
      return nil
    }
    return String(validating: bytes, as: UTF8.self)
  }

  // MARK: Property lists

  private mutating func _visit(
    _ table: PropertyListTable, _ number: Int, _ path: [String], _ open: Set<Int>,
    _ body: ([String], String) throws -> Bool
  ) rethrows -> Bool {
    // All objects of a keyed archive are in one list, which is read as it is: nothing is followed twice.
    guard _isWithin(path.count), !open.contains(number) else { return true }
    switch table.object(number) {
    case .string(let text, let isCut):
      if isCut { isIncomplete = true }
      return try body(path, text)
    case .data(let bytes): return try _visit(bytes, path, body)
    case .array(let members):
      for index in 0..<members.count {
        guard let member = members[index] else { continue }
        guard try _visit(table, member, path + [String(index)], open.union([number]), body) else {
          return false
        }
      }
    case .dictionary(let keys, let values):
      for index in 0..<keys.count {
        guard let key = keys[index], let value = values[index] else { continue }
        var name = String(index)
        if case .string(let text, _)? = table.object(key) {
          name = text
          // Names that an archiver writes are no content.
          if text == "$archiver" || text == "$classes" || text == "$classname" { continue }
        }
        guard try _visit(table, value, path + [name], open.union([number]), body) else { return false }
      }
    default: break
    }
    return true
  }

  // MARK: Protobuf

  /// Visits the fields of a message; bytes that are no message have no texts.
  private mutating func _visitMessage(
    _ bytes: ArraySlice<UInt8>, _ path: [String], _ body: ([String], String) throws -> Bool
  ) rethrows -> Bool {
    guard let fields = Self._fields(bytes) else { return true }
    for (number, content) in fields {
      guard try _visit(content, path + [String(number)], body) else { return false }
    }
    return true
  }

  /// The fields with lengths of a message in the protobuf encoding; nil unless all bytes are such a message.
  private static func _fields(_ bytes: ArraySlice<UInt8>) -> [(number: Int, content: ArraySlice<UInt8>)]? {
    var fields: [(Int, ArraySlice<UInt8>)] = []
    var rest = bytes
    func varint() -> UInt64? {
      var (value, shift): (UInt64, UInt64) = (0, 0)
      while let byte = rest.first, shift < 64 {
        rest = rest.dropFirst()
        value |= UInt64(byte & 0x7F) << shift
        if byte < 0x80 { return value }
        shift += 7
      }
      return nil
    }
    while !rest.isEmpty {
      guard let tag = varint(), (1...536_870_911).contains(tag >> 3) else { return nil }
      switch tag & 7 {
      case 0: guard varint() != nil else { return nil }
      case 1, 5:
        let size = tag & 7 == 1 ? 8 : 4
        guard rest.count >= size else { return nil }
        rest = rest.dropFirst(size)
      case 2:
        guard let length = varint(), length <= UInt64(rest.count) else { return nil }
        fields.append((Int(tag >> 3), rest.prefix(Int(length))))
        rest = rest.dropFirst(Int(length))
      default: return nil
      }
    }
    return fields.isEmpty ? nil : fields
  }
}
