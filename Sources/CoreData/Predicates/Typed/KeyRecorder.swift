import CoreDataModelSchema
import CoreDataPredicateLanguage
import Foundation

/// Finds the property names of a Swift key path such as `\Stop.route.name`.
///
/// A key path to a computed property has no name at run time. It is therefore evaluated on an object without
/// a row that records which properties its accessors read, and returns placeholder values, or for
/// relationships further recording objects.
final class KeyRecorder: @unchecked Sendable {
  // Unchecked: created, used and released by one call on one thread; task-local values must be Sendable.

  @TaskLocal static var current: KeyRecorder?

  /// The recording objects, and the path that leads to each.
  private var _objects: [ObjectIdentifier: (object: NSManagedObject, path: [String])] = [:]
  private var _model: [NSEntityDescription] = []
  /// The reads, in order.
  private var _noted: [(path: [String], placeholder: Any?)] = []

  private init() {}

  /// Returns the names along a key path from a class of managed objects.
  ///
  /// - Throws: `KeyPathRecordingError` for a key path that reads no property of the model, or more than one.
  static func path(of keyPath: AnyKeyPath) throws -> [String] {
    guard let type = Swift.type(of: keyPath).rootType as? NSManagedObject.Type else {
      throw KeyPathRecordingError(
        keyPath, "it starts at \(Swift.type(of: keyPath).rootType), which is no managed object")
    }
    guard let (entity, model) = LoadedModels.entity(standingFor: type) else {
      throw KeyPathRecordingError(
        keyPath, "no model in use has an entity with the class \(type); add its model to a coordinator first")
    }
    let recorder = KeyRecorder()
    recorder._model = model
    let root = recorder._make(entity, [])
    let value = $current.withValue(recorder) { _read(keyPath, root) }
    return try recorder._result(keyPath, value)
  }

  private static func _read(_ keyPath: AnyKeyPath, _ root: NSManagedObject) -> Any? {
    func open<Root>(_ root: Root) -> Any? { root[keyPath: keyPath] }
    return open(root as Any)
  }

  private func _result(_ keyPath: AnyKeyPath, _ value: Any?) throws -> [String] {
    guard let last = _noted.last else {
      throw KeyPathRecordingError(keyPath, "its accessor reads no property of the model")
    }
    var expected: [String] = []
    for note in _noted {
      // An accessor may read its property twice, but never returns to another.
      guard note.path.starts(with: expected) else {
        throw KeyPathRecordingError(
          keyPath,
          "its accessor reads both '\(expected.joined(separator: "."))' and '\(note.path.joined(separator: "."))'"
        )
      }
      expected = note.path
    }
    if let placeholder = last.placeholder, let value = Self._flattened(value),
      !Self._isSame(value, placeholder)
    {
      throw KeyPathRecordingError(
        keyPath,
        "its accessor computes something from '\(expected.joined(separator: "."))' instead of answering it")
    }
    return expected
  }

  private static func _flattened(_ value: Any?) -> Any? {
    guard let value else { return nil }
    let mirror = Mirror(reflecting: value)
    return mirror.displayStyle == .optional ? mirror.children.first.map(\.value) : value
  }

  /// Whether an accessor's result is the placeholder; true for types that cannot be compared.
  private static func _isSame(_ value: Any, _ placeholder: Any) -> Bool {
    switch (PredicateValue(any: value), PredicateValue(any: placeholder)) {
    case (.string(let left), .string(let right)): left == right
    case (.int(let left), .int(let right)): left == right
    case (.double(let left), .double(let right)): left == right
    case (.date(let left), .date(let right)): left == right
    case (.string, .int), (.string, .double), (.string, .date), (.int, .string): false
    default: true
    }
  }

  // MARK: Objects

  private func _make(_ entity: NSEntityDescription, _ path: [String]) -> NSManagedObject {
    let object = ObjectMaker.make(entity)
    object._state.hideValues()
    object.attach(Self._standIns(entity.layout))
    _objects[ObjectIdentifier(object)] = (object, path)
    return object
  }

  /// Values of every type, so that accessors that unwrap optionals find a value.
  private static func _standIns(_ layout: PropertyLayout) -> Row {
    var row = Row(count: layout.slots.count, version: 1)
    for (number, slot) in layout.slots.enumerated() {
      switch slot.form {
      case .integer16, .integer32, .integer64: row.set(.int(23_117), at: number)
      case .boolean: row.set(.int(1), at: number)
      case .double, .float, .date: row.set(.double(23_117.5), at: number)
      case .string: row.set(.string("stand-in for \(slot.name)"), at: number)
      case .uri: row.set(.string("stand-in:"), at: number)
      case .decimal: row.set(.decimal(DecimalBox(23_117.5)), at: number)
      case .binaryData: row.set(.data(Data()), at: number)
      case .uuid: row.set(.uuid(UUID()), at: number)
      default: break
      }
    }
    return row
  }

  /// Records the read of a property.
  ///
  /// - Returns: False for an object of another recorder.
  func record(_ slot: Int, of object: NSManagedObject) -> Bool {
    guard let (_, path) = _objects[ObjectIdentifier(object)] else { return false }
    let property = object._layout.slots[slot]
    let whole = path + [property.name]
    var placeholder: Any?
    switch property.kind {
    case .attribute(let attribute):
      switch attribute.type.form {
      case .integer16, .integer32, .integer64, .double, .float, .date, .string:
        if let row = object._row { placeholder = object.shown(row[slot], slot) }
      default: break
      }
    case .relationship(let relationship):
      if !relationship.isToMany, object._relations?.target(slot) == nil {
        object.relations.setTarget(_make(_model[relationship.destination - 1], whole), slot)
      }
    }
    _noted.append((whole, placeholder))
    return true
  }
}

/// A key path that matches no property of the model.
struct KeyPathRecordingError: Error, CustomStringConvertible {
  let description: String

  init(_ keyPath: AnyKeyPath, _ reason: String) {
    description = "the key path \(keyPath) stands for no property that a store knows: \(reason)"
  }
}

extension LoadedModels {
  /// Returns an entity of this class or of a subclass, and all entities of its model by number - 1.
  static func entity(
    standingFor type: NSManagedObject.Type
  ) -> (entity: NSEntityDescription, model: [NSEntityDescription])? {
    for model in models.reversed() {
      let found = model.entities.filter { $0.shape.objectClass == type }
      // Of several, the topmost: all of them have its properties.
      if let top = found.first(where: { entity in
        !found.contains { $0 !== entity && entity.isKindOf(entity: $0) }
      }) {
        return (top, model.entities)
      }
    }
    return nil
  }
}
