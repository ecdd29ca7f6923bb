import Foundation

/// The object table of a keyed archive, the format of compiled models and of the model in a store.
///
/// Objects are read by their keys, in place, and never instantiated, so class names in the file are harmless. Nothing
/// is unfolded: a model has tens of thousands of values, and its reader asks for each object's once.
final class KeyedArchive {
  /// One object of the archive.
  struct Object {
    /// The object's index in the archive, its identity.
    let index: Int
    let className: String
    let fields: Fields
  }

  /// The fields of an object.
  struct Fields {
    fileprivate let names: FieldNames
    /// Those of the dictionary in the property list.
    fileprivate let entries: BinaryPlistTable.References

    /// The field's value: a plain one, the UID of an object, or null for a collection.
    subscript(name: StaticString) -> PlistValue? { names.scalar(of: name, in: entries) }

    /// All fields, by name.
    var all: [(name: String, value: PlistValue)] { names.scalars(in: entries) }
  }

  private let _table: BinaryPlistTable
  /// The archive's objects: an array in the property list.
  private let _objects: BinaryPlistTable.References
  private var _root = 0
  private let _names: FieldNames
  /// Class names by the index of the archived class, those read so far.
  private let _classNames: UnsafeMutablePointer<String?>

  /// Reads the table.
  ///
  /// - Throws: `BinaryPlistError`.
  init(_ data: Data) throws {
    _table = try BinaryPlistTable(data)
    _names = FieldNames(_table)
    guard _table.kind(_table.top) == .dictionary,
      let objects = _names.value(of: "$objects", in: _table.entries(_table.top)),
      _table.kind(objects) == .array,
      let roots = _names.value(of: "$top", in: _table.entries(_table.top)), _table.kind(roots) == .dictionary,
      let root = _names.value(of: "root", in: _table.entries(roots)), _table.kind(root) == .uid
    else {
      throw BinaryPlistError(reason: "a property list, but no keyed archive with a root object")
    }
    _objects = _table.members(objects)
    _root = _table.uid(root)
    _classNames = .allocate(capacity: _objects.count)
    _classNames.initialize(repeating: nil, count: _objects.count)
  }

  deinit {
    _classNames.deinitialize(count: _objects.count)
    _classNames.deallocate()
  }

  /// The archived object.
  var root: Object? { object(.uid(_root)) }

  /// Resolves a reference into the table; returns an object's reference and other values unchanged, and nil for null.
  func resolve(_ value: PlistValue?) -> PlistValue? {
    switch value {
    case .uid(let index):
      guard let found = _found(index) else { return nil }
      switch _table.kind(found) {
      case .dictionary, .array: return value
      default: return _table.scalar(found)
      }
    case .null, nil: return nil
    default: return value
    }
  }

  /// Returns the object that a value references.
  func object(_ value: PlistValue?) -> Object? {
    guard case .uid(let index)? = value, let found = _found(index), _table.kind(found) == .dictionary,
      let type = _field(found, "$class"), _table.kind(type) == .uid,
      let className = _className(_table.uid(type))
    else { return nil }
    return Object(
      index: index, className: className, fields: Fields(names: _names, entries: _table.entries(found)))
  }

  func string(_ value: PlistValue?) -> String? {
    guard case .uid(let index)? = value else {
      if case .string(let text)? = value { return text }
      return nil
    }
    guard let found = _found(index) else { return nil }
    if _table.kind(found) == .string { return _table.string(found) }
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
  func array(_ value: PlistValue?) -> [PlistValue]? { object(value).flatMap { _members($0, "NS.objects") } }

  /// Returns the entries of an archived dictionary, in archive order; skips keys that are not strings.
  func dictionary(_ value: PlistValue?) -> [(key: String, value: PlistValue)]? {
    guard let object = object(value) else { return nil }
    if let keys = _members(object, "NS.keys"), let values = _members(object, "NS.objects") {
      var entries: [(key: String, value: PlistValue)] = []
      var position = 0
      while position < keys.count, position < values.count {
        if let key = string(keys[position]) { entries.append((key, values[position])) }
        position &+= 1
      }
      return entries
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

  // MARK: In the property list

  /// Returns the members of an array that an object has in a field.
  private func _members(_ object: Object, _ name: StaticString) -> [PlistValue]? {
    guard let field = _names.value(of: name, in: object.fields.entries), _table.kind(field) == .array else {
      return nil
    }
    let references = _table.members(field)
    var members: [PlistValue] = []
    members.reserveCapacity(references.count)
    var position = 0
    while position < references.count {
      members.append(_table.scalar(references[position]))
      position &+= 1
    }
    return members
  }

  /// Returns where the object of a UID is; nil for the archive's null, and for one that is not there.
  private func _found(_ index: Int) -> Int? { index > 0 && index < _objects.count ? _objects[index] : nil }

  private func _className(_ index: Int) -> String? {
    guard let found = _found(index) else { return nil }
    if let known = _classNames[index] { return known }
    guard _table.kind(found) == .dictionary, let name = _field(found, "$classname"),
      _table.kind(name) == .string
    else { return nil }
    let text = _table.string(name)
    _classNames[index] = text
    return text
  }

  private func _field(_ dictionary: Int, _ name: StaticString) -> Int? {
    _names.value(of: name, in: _table.entries(dictionary))
  }
}
