import CoreDataModelSchema
import Foundation

/// The rows of a batch insertion, created one at a time from dictionaries or scratch objects.
final class BatchRows {
  private let _objects: [[String: Any]]
  private let _dictionaryHandler: ((NSMutableDictionary) -> Bool)?
  private let _objectHandler: ((NSManagedObject) -> Bool)?
  private let _entity: NSEntityDescription
  private let _layout: PropertyLayout
  /// The codings of attributes that can be set, by slot.
  private let _codings: [AttributeCoding?]
  private let _mandatory: [Int]
  private let _relationships: [Int]
  /// The values of properties that are not set, by slot.
  private let _blank: [Value]
  /// The last row created from a dictionary; refilled if it is not referenced elsewhere.
  @exclusivity(unchecked) private var _scratch: Row
  @exclusivity(unchecked) private var _index = 0
  @exclusivity(unchecked) private var _isDone = false

  init(_ request: NSBatchInsertRequest, _ entity: NSEntityDescription) {
    _objects = request.objectsToInsert ?? []
    _dictionaryHandler = request.dictionaryHandler
    _objectHandler = request.managedObjectHandler
    _entity = entity
    _layout = entity.layout
    let shape = entity.shape
    let slots = entity.layout.slots
    _codings = slots.indices.map { slot in
      slots[slot].isTransient || slots[slot].isDerived ? nil : shape.codings[slot]
    }
    _mandatory = slots.indices.filter {
      slots[$0].isAttribute && !slots[$0].isOptional && !slots[$0].isTransient
        && !slots[$0].isDerived
    }
    _relationships = slots.indices.filter { slots[$0].relationship != nil }
    var blank = [Value](repeating: .null, count: slots.count)
    for slot in shape.defaultedSlots { blank[slot] = shape.defaults[slot] }
    _blank = blank
    _scratch = Row(count: slots.count, version: 1)
  }

  /// Returns the next row; nil at the end.
  ///
  /// - Throws: A Cocoa error for an unknown key, a value of the wrong type, or a mandatory attribute without
  ///   value (1570).
  func next() throws -> Row? {
    if _isDone { return nil }
    guard let row = try _next() else {
      _isDone = true
      return nil
    }
    if row.hasNull(at: _mandatory) { try _rejectMissing(in: row) }
    _index += 1
    return row
  }

  private func _next() throws -> Row? {
    if let handler = _objectHandler {
      let object = ObjectMaker.make(_entity)
      return handler(object) ? nil : try _row(of: object)
    }
    if let handler = _dictionaryHandler {
      // Reserves capacity for all values: growing a dictionary takes Foundation longer than filling it.
      let dictionary = NSMutableDictionary(capacity: _codings.count)
      return handler(dictionary) ? nil : try _row(of: dictionary)
    }
    return _index < _objects.count ? try _row(of: _objects[_index]) : nil
  }

  private func _row(of values: [String: Any]) throws -> Row {
    let row = _blankRow()
    for (name, value) in values { try _set(value, name, in: row) }
    return row
  }

  private func _row(of dictionary: NSMutableDictionary) throws -> Row {
    let row = _blankRow()
    // Both in the dictionary's order. Enumerating it would look up each key, which takes Foundation ten times
    // as long.
    let (keys, values) = (dictionary.allKeys, dictionary.allValues)
    for (key, value) in zip(keys, values) {
      guard let name = Self._name(key) else {
        throw _error("has the key \(key), which is no name of a property")
      }
      try _set(value, name, in: row)
    }
    return row
  }

  /// A key as text; nil if it is not text.
  private static func _name(_ key: Any) -> String? {
    func open<T>(_ key: T) -> String? {
      guard T.self == NSObject.self else { return nil }
      // The type of the keys that Foundation returns. A cast from class to class is cheap, one from `Any` is
      // not.
      let object = withUnsafePointer(to: key) { UnsafeRawPointer($0).load(as: Unmanaged<NSObject>.self) }
      return object._withUnsafeGuaranteedRef { ($0 as? NSString)?.description }
    }
    return _openExistential(key, do: open) ?? key as? String
  }

  /// A row of defaults.
  private func _blankRow() -> Row {
    if !_scratch.refill(_blank) {
      _scratch = Row(count: _blank.count, version: 1)
      _ = _scratch.refill(_blank)
    }
    return _scratch
  }

  @inline(__always) private func _set(_ value: Any, _ name: String, in row: Row) throws {
    guard let slot = _layout.slot(named: name), let coding = _codings[slot] else {
      return try _checkIgnored(name)
    }
    if let exact = coding.exact(value) {
      row.cell(at: slot).pointee = exact
    } else {
      try _setConverted(value, coding, row, slot)
    }
  }

  private func _setConverted(_ value: Any, _ coding: AttributeCoding, _ row: Row, _ slot: Int) throws {
    do {
      row.cell(at: slot).pointee = try coding.stored(value)
    } catch {
      throw _error("cannot be inserted: \(error)")
    }
  }

  /// Throws unless a name is that of a transient attribute, whose value would be lost.
  private func _checkIgnored(_ name: String) throws {
    guard let slot = _layout.slot(named: name) else {
      let guess =
        Spelling.nearest(to: name, in: Array(_layout.slotsByName.keys)).map { ". Did you mean '\($0)'?" }
        ?? ""
      throw _error("has a value for '\(name)', which the entity does not have\(guess)")
    }
    guard let attribute = _layout.slots[slot].attribute, !attribute.isDerived else {
      throw _error(
        "sets '\(name)', which is no attribute that can be set; relationships are set afterwards, by a save")
    }
  }

  private func _row(of object: NSManagedObject) throws -> Row {
    object.makeDraftOwn()
    do {
      try object.encodeTransformables()
    } catch {
      throw _error("cannot be inserted: \(error)")
    }
    // The object copies it before another write.
    let draft = object.handOutDraft()
    guard _relationships.contains(where: { !draft.isNull(at: $0) }) else { return draft }
    var row = Row(copying: draft, version: 1)
    for slot in _relationships { row.set(.null, at: slot) }
    return row
  }

  private func _rejectMissing(in row: Row) throws {
    let slot = _mandatory.first { row.isNull(at: $0) } ?? 0
    let name = _layout.slots[slot].name
    throw CocoaError.coreData(
      NSValidationMissingMandatoryPropertyError,
      "Object \(_index) of a batch insertion of '\(_layout.entityName)' has no value for '\(name)', which is mandatory "
        + "and has no default; nothing was inserted.", shown: "\(name) is a required value.",
      [NSValidationKeyErrorKey: name])
  }

  private func _error(_ what: String) -> CocoaError {
    CocoaError.coreData(
      NSCoreDataError,
      "Object \(_index) of a batch insertion of '\(_layout.entityName)' \(what). Nothing was inserted.")
  }
}

extension AttributeCoding {
  /// Returns the value as a column stores it, with transformables encoded.
  func stored(_ any: Any?) throws -> Value {
    let value = try self.value(from: any)
    guard case .transformable(let box) = value, box.data == nil else { return value }
    return try data(from: box).map { .transformable(TransformableBox(object: nil, data: $0)) } ?? .null
  }
}
