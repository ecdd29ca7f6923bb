import Foundation

/// The object table of a keyed archive, the format of compiled models and of the model in a store.
///
/// Objects are read by their keys and never instantiated, so class names in the file are harmless.
struct KeyedArchive {
  /// One object of the archive.
  struct Object {
    /// The object's index in the table, its identity.
    let index: Int
    let className: String
    let fields: PlistFields
  }

  private let _objects: [PlistValue]
  private let _root: Int

  /// Reads the table.
  ///
  /// - Throws: `BinaryPlistError`.
  init(_ data: Data) throws {
    guard case .dictionary(let top) = try BinaryPlistReader.read(data),
      case .array(let objects)? = top["$objects"],
      case .dictionary(let roots)? = top["$top"], case .uid(let root)? = roots["root"]
    else {
      throw BinaryPlistError(reason: "a property list, but no keyed archive with a root object")
    }
    _objects = objects
    _root = root
  }

  /// The archived object.
  var root: Object? { object(.uid(_root)) }

  /// Resolves a reference into the table; returns other values unchanged, and nil for null.
  func resolve(_ value: PlistValue?) -> PlistValue? {
    switch value {
    case .uid(let index):
      guard index > 0, index < _objects.count else { return nil }
      return _objects[index]
    case .null, nil: return nil
    default: return value
    }
  }

  /// Returns the object that a value references.
  func object(_ value: PlistValue?) -> Object? {
    guard case .uid(let index)? = value, case .dictionary(let fields)? = resolve(value),
      case .dictionary(let classFields)? = resolve(fields["$class"]),
      case .string(let className)? = classFields["$classname"]
    else { return nil }
    return Object(index: index, className: className, fields: fields)
  }

  func string(_ value: PlistValue?) -> String? {
    if case .string(let text)? = resolve(value) { return text }
    return object(value).flatMap { object in
      object.className.hasSuffix("String") ? string(object.fields["NS.string"]) : nil
    }
  }

  func integer(_ value: PlistValue?) -> Int? {
    switch resolve(value) {
    case .integer(let number): Int(number)
    case .boolean(let flag): flag ? 1 : 0
    case .real(let number): Int(exactly: number.rounded(.towardZero))
    default: nil
    }
  }

  func flag(_ value: PlistValue?) -> Bool { integer(value) ?? 0 != 0 }

  /// Returns the members of an archived array or set.
  func array(_ value: PlistValue?) -> [PlistValue]? {
    guard let object = object(value), case .array(let members)? = object.fields["NS.objects"] else {
      return nil
    }
    return members
  }

  /// Returns the entries of an archived dictionary, in archive order; skips keys that are not strings.
  func dictionary(_ value: PlistValue?) -> [(key: String, value: PlistValue)]? {
    guard let object = object(value) else { return nil }
    if case .array(let keys)? = object.fields["NS.keys"],
      case .array(let values)? = object.fields["NS.objects"]
    {
      return zip(keys, values).compactMap { key, value in string(key).map { ($0, value) } }
    }
    // A dictionary with separate keys, as in a store's model.
    guard let mapping = self.object(object.fields["searchMapping"]), let keys = array(mapping.fields["keys"]),
      let values = array(object.fields["values"])
    else { return nil }
    let empty = string(object.fields["emptyToken"])
    return zip(keys, values).compactMap { key, value in
      guard let key = string(key), empty == nil || string(value) != empty else { return nil }
      return (key, value)
    }
  }
}
