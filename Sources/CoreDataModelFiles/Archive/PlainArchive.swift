import Foundation

/// The reason why a keyed archive cannot be decoded.
package struct PlainArchiveError: Error, Sendable, CustomStringConvertible {
  package let reason: String

  package init(reason: String) { self.reason = reason }

  package var description: String { reason }
}

/// Decodes keyed archives of Foundation's plain values: text, numbers, dates, data, UUIDs, URLs, and
/// collections of them.
///
/// Stored data is untrusted, and `NSKeyedUnarchiver` on this platform traps, or worse, on data that is not an
/// archive, on dictionaries with an entry of an unknown class, and on objects that contain themselves. This
/// decoder creates only objects of the classes it supports, and validates everything first.
package enum PlainArchive {
  package enum Outcome {
    /// The root object; nil if nil was archived.
    case object(Any?)
    /// A valid archive that contains objects of these other classes.
    case needsClasses(Set<String>)
  }

  /// Decodes the archive in `data`.
  ///
  /// - Throws: `PlainArchiveError` for an invalid archive.
  package static func decode(_ data: Data) throws -> Outcome {
    do {
      let decoder = try PlainArchiveDecoder(data)
      let object = try decoder.decodeRoot()
      return decoder.foreignClasses.isEmpty ? .object(object) : .needsClasses(decoder.foreignClasses)
    } catch let error as BinaryPlistError {
      throw PlainArchiveError(reason: error.reason)
    }
  }
}

class PlainArchiveDecoder {
  private enum Entry {
    case unseen, open
    case done(Any?)
  }

  private(set) final var foreignClasses: Set<String> = []
  private let _objects: [PlistValue]
  private let _root: PlistValue
  private var _entries: [Entry]
  private static let _depthLimit = 256

  init(_ data: Data) throws {
    guard case .dictionary(let top) = try BinaryPlistReader.read(data),
      case .string("NSKeyedArchiver")? = top["$archiver"], case .integer(100_000)? = top["$version"],
      case .array(let objects)? = top["$objects"], case .dictionary(let roots)? = top["$top"],
      let root = roots["root"]
    else { throw BinaryPlistError(reason: "a property list, but not one that NSKeyedArchiver wrote") }
    _objects = objects
    _root = root
    _entries = Array(repeating: .unseen, count: objects.count)
  }

  final func decodeRoot() throws -> Any? { try decode(_root, depth: 0) }

  /// Returns the object that a value references or represents.
  final func decode(_ value: PlistValue, depth: Int) throws -> Any? {
    guard case .uid(let index) = value else { return try _plain(value) }
    guard index < _objects.count else {
      throw BinaryPlistError(reason: "refers to object \(index), which is not there")
    }
    guard depth < Self._depthLimit else { throw BinaryPlistError(reason: "objects are nested too deeply") }
    switch _entries[index] {
    case .done(let object): return object
    case .open: throw BinaryPlistError(reason: "object \(index) contains itself")
    case .unseen: break
    }
    _entries[index] = .open
    var object: Any?
    if case .dictionary(let fields) = _objects[index] {
      object = try _object(fields, depth: depth)
    } else if index > 0 {
      object = try _plain(_objects[index])
    }
    _entries[index] = .done(object)
    return object
  }

  private func _plain(_ value: PlistValue) throws -> Any? {
    switch value {
    case .null: nil
    case .boolean(let flag): NSNumber(value: flag)
    case .integer(let number): NSNumber(value: number)
    case .real(let number): NSNumber(value: number)
    case .date(let seconds): NSDate(timeIntervalSinceReferenceDate: seconds)
    case .data(let bytes): NSData(data: Data(bytes))
    case .string(let text): NSString(string: text)
    case .uid, .array, .dictionary: throw BinaryPlistError(reason: "a value stands where an object must")
    }
  }

  private func _object(_ fields: PlistFields, depth: Int) throws -> Any? {
    guard case .uid(let classIndex)? = fields["$class"], classIndex < _objects.count,
      case .dictionary(let classFields) = _objects[classIndex],
      case .string(let name)? = classFields["$classname"]
    else { throw BinaryPlistError(reason: "an object has no class") }
    return try object(ofClass: name, fields, depth: depth)
  }

  /// Creates an object of a class from its fields.
  func object(ofClass name: String, _ fields: PlistFields, depth: Int) throws -> Any? {
    switch name {
    case "NSArray": return NSArray(array: try _members(fields["NS.objects"], depth: depth))
    case "NSMutableArray": return NSMutableArray(array: try _members(fields["NS.objects"], depth: depth))
    case "NSSet": return NSSet(array: try _members(fields["NS.objects"], depth: depth))
    case "NSMutableSet": return NSMutableSet(array: try _members(fields["NS.objects"], depth: depth))
    case "NSDictionary", "NSMutableDictionary":
      let dictionary = try _dictionary(fields, depth: depth)
      return name == "NSDictionary"
        ? NSDictionary(dictionary: dictionary) : NSMutableDictionary(dictionary: dictionary)
    case "NSString": return try _field(fields, "NS.string", NSString.self, depth)
    case "NSMutableString":
      return try _field(fields, "NS.string", NSString.self, depth).map {
        NSMutableString(string: $0.description)
      }
    case "NSData": return try _field(fields, "NS.data", NSData.self, depth)
    case "NSMutableData":
      return try _field(fields, "NS.data", NSData.self, depth).map {
        NSMutableData(data: Data(referencing: $0))
      }
    case "NSDate":
      return try _field(fields, "NS.time", NSNumber.self, depth).map {
        NSDate(timeIntervalSinceReferenceDate: $0.doubleValue)
      }
    case "NSURL":
      let base = try fields["NS.base"].flatMap { try decode($0, depth: depth + 1) } as? NSURL
      return try _field(fields, "NS.relative", NSString.self, depth).flatMap {
        URL(string: $0.description, relativeTo: base.map { $0 as URL }).map { $0 as NSURL }
      }
    case "NSUUID":
      let bytes = try _field(fields, "NS.uuidbytes", NSData.self, depth)
      guard let bytes, bytes.length == 16 else { throw BinaryPlistError(reason: "a UUID has not 16 bytes") }
      return Array(Data(referencing: bytes)).withUnsafeBufferPointer { NSUUID(uuidBytes: $0.baseAddress!) }
    case "NSNull": return NSNull()
    default:
      foreignClasses.insert(name)
      for (key, field) in fields where key != "$class" { try _visit(field, depth: depth) }
      return NSNull()
    }
  }

  /// Finds the classes referenced by a field of an object that is not created here.
  private func _visit(_ field: PlistValue, depth: Int) throws {
    switch field {
    case .uid: _ = try decode(field, depth: depth + 1)
    case .array(let members): for member in members { try _visit(member, depth: depth) }
    case .dictionary(let entries): for member in entries.values { try _visit(member, depth: depth) }
    default: break
    }
  }

  private func _members(_ value: PlistValue?, depth: Int) throws -> [Any] {
    guard case .array(let members)? = value else {
      throw BinaryPlistError(reason: "a collection has no members")
    }
    return try members.map { member in
      guard let object = try decode(member, depth: depth + 1) else {
        throw BinaryPlistError(reason: "a collection has nil for a member")
      }
      return object
    }
  }

  private func _dictionary(_ fields: PlistFields, depth: Int) throws -> [AnyHashable: Any] {
    let keys = try _members(fields["NS.keys"], depth: depth)
    let values = try _members(fields["NS.objects"], depth: depth)
    guard keys.count == values.count else {
      throw BinaryPlistError(reason: "a dictionary has not as many values as keys")
    }
    var dictionary: [AnyHashable: Any] = [:]
    for (key, value) in zip(keys, values) {
      guard let key = key as? NSObject else { throw BinaryPlistError(reason: "a key is no object") }
      dictionary[key] = value
    }
    return dictionary
  }

  private func _field<T>(
    _ fields: PlistFields, _ name: String, _ type: T.Type, _ depth: Int
  ) throws -> T? {
    guard let field = fields[name] else { throw BinaryPlistError(reason: "an object has no '\(name)'") }
    guard let object = try decode(field, depth: depth + 1) as? T else {
      throw BinaryPlistError(reason: "'\(name)' is not what it should be")
    }
    return object
  }
}
