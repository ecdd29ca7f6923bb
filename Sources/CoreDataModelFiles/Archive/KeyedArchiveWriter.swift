import Foundation

/// An object to archive: the names of its class and superclasses, and its fields in archive order. Objects
/// refer to each other by identity; cycles are allowed.
package final class KeyedObject {
  let classes: [String]
  package var fields: [(key: String, value: KeyedValue)] = []

  package init(_ classes: [String], _ fields: [(key: String, value: KeyedValue)] = []) {
    self.classes = classes
    self.fields = fields
  }
}

/// A field of an archived object.
package enum KeyedValue {
  /// Nil.
  case null
  /// A number or flag stored in the object itself.
  case plain(PlistValue)
  /// A string, number or data that counts as an object; equal ones are archived once.
  case boxed(PlistValue)
  case object(KeyedObject)
  /// A reference to an object that another object owns and archives.
  case reference(KeyedObject)
  /// The contents of a collection.
  case members([KeyedValue])

  package static func text(_ text: String) -> KeyedValue { .boxed(.string(text)) }

  package static func text(_ text: String?) -> KeyedValue { text.map { .text($0) } ?? .null }
}

/// Writes keyed archives in Foundation's format.
package struct KeyedArchiveWriter {
  private struct ClassName: Hashable { let names: [String] }

  private var _table: [PlistValue] = [.string("$null")]
  private var _numbers: [ObjectIdentifier: Int] = [:]
  private var _written: Set<ObjectIdentifier> = []
  private var _boxes: [PlistValue: Int] = [:]
  private var _classes: [ClassName: Int] = [:]

  /// Returns the archive with this root object.
  package static func archive(_ root: KeyedObject) -> Data {
    var writer = KeyedArchiveWriter()
    let number = writer._write(root)
    return BinaryPlistWriter.write(
      .dictionary([
        "$version": .integer(100_000), "$archiver": .string("NSKeyedArchiver"),
        "$top": .dictionary(["root": .uid(number)]), "$objects": .array(writer._table),
      ]))
  }

  /// Returns the index of an object in the table; assigns one on first use.
  private mutating func _number(_ object: KeyedObject) -> Int {
    if let known = _numbers[ObjectIdentifier(object)] { return known }
    _table.append(.null)
    _numbers[ObjectIdentifier(object)] = _table.count - 1
    return _table.count - 1
  }

  private mutating func _write(_ object: KeyedObject) -> Int {
    let number = _number(object)
    guard _written.insert(ObjectIdentifier(object)).inserted else { return number }
    var fields = PlistFields()
    for (key, value) in object.fields { fields[key] = _plist(value) }
    fields["$class"] = .uid(_class(object.classes))
    _table[number] = .dictionary(fields)
    return number
  }

  private mutating func _plist(_ value: KeyedValue) -> PlistValue {
    switch value {
    case .null: .uid(0)
    case .plain(let value): value
    case .boxed(let value): .uid(_box(value))
    case .object(let object): .uid(_write(object))
    case .reference(let object): .uid(_number(object))
    case .members(let members): .array(members.map { _plist($0) })
    }
  }

  private mutating func _box(_ value: PlistValue) -> Int {
    if let known = _boxes[value] { return known }
    _table.append(value)
    _boxes[value] = _table.count - 1
    return _table.count - 1
  }

  private mutating func _class(_ names: [String]) -> Int {
    if let known = _classes[ClassName(names: names)] { return known }
    _table.append(
      .dictionary(["$classname": .string(names[0]), "$classes": .array(names.map { .string($0) })]))
    _classes[ClassName(names: names)] = _table.count - 1
    return _table.count - 1
  }
}
