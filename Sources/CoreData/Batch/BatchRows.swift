import CoreDataModelSchema
import Foundation

/// The rows of a batch insertion, created one at a time from dictionaries or scratch objects.
final class BatchRows {
  private let _request: NSBatchInsertRequest
  private let _entity: NSEntityDescription
  private let _layout: PropertyLayout
  private let _shape: FrozenEntity
  private let _mandatory: [Int]
  private var _index = 0
  private var _isDone = false

  init(_ request: NSBatchInsertRequest, _ entity: NSEntityDescription) {
    _request = request
    _entity = entity
    _layout = entity.layout
    _shape = entity.shape
    let slots = entity.layout.slots
    _mandatory = slots.indices.filter {
      slots[$0].attribute != nil && !slots[$0].isOptional && !slots[$0].isTransient
        && !(slots[$0].attribute?.isDerived ?? false)
    }
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
    for slot in _mandatory where row[slot].isNull {
      let name = _layout.slots[slot].name
      throw CocoaError.coreData(
        NSValidationMissingMandatoryPropertyError,
        "Object \(_index) of a batch insertion of '\(_layout.entityName)' has no value for '\(name)', which is mandatory "
          + "and has no default; nothing was inserted.", [NSValidationKeyErrorKey: name])
    }
    return row
  }

  private func _next() throws -> Row? {
    defer { _index += 1 }
    if let handler = _request.managedObjectHandler {
      let object = ObjectMaker.make(_entity)
      return handler(object) ? nil : try _row(of: object)
    }
    if let handler = _request.dictionaryHandler {
      let dictionary = NSMutableDictionary()
      if handler(dictionary) { return nil }
      var values: [String: Any] = [:]
      for (key, value) in dictionary {
        guard let name = key as? String else {
          throw _error("has the key \(key), which is no name of a property")
        }
        values[name] = value
      }
      return try _row(of: values)
    }
    guard let objects = _request.objectsToInsert, _index < objects.count else { return nil }
    return try _row(of: objects[_index])
  }

  private func _row(of values: [String: Any]) throws -> Row {
    let row = Row(count: _layout.slots.count, version: 1)
    for slot in _shape.defaultedSlots { row.set(_shape.defaults[slot], at: slot) }
    for (name, value) in values {
      guard let slot = _layout.slot(named: name) else {
        let guess =
          Spelling.nearest(to: name, in: Array(_layout.slotsByName.keys)).map { ". Did you mean '\($0)'?" }
          ?? ""
        throw _error("has a value for '\(name)', which the entity does not have\(guess)")
      }
      guard let coding = _shape.codings[slot], !(_layout.slots[slot].attribute?.isDerived ?? false) else {
        throw _error(
          "sets '\(name)', which is no attribute that can be set; relationships are set afterwards, by a save"
        )
      }
      // A transient value would be lost with the scratch object.
      if _layout.slots[slot].isTransient { continue }
      do {
        row.set(try coding.stored(value), at: slot)
      } catch {
        throw _error("cannot be inserted: \(error)")
      }
    }
    return row
  }

  private func _row(of object: NSManagedObject) throws -> Row {
    _ = object.ownDraft()
    do {
      try object.encodeTransformables()
    } catch {
      throw _error("cannot be inserted: \(error)")
    }
    let row = Row(copying: object.handOutDraft(), version: 1)
    for slot in _layout.slots.indices where _layout.slots[slot].relationship != nil {
      row.set(.null, at: slot)
    }
    return row
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
