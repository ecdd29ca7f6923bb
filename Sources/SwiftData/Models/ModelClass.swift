import CoreData
import Synchronization

/// The schema-independent description of a model class: its stored properties, and their key paths.
///
/// One per class, for the life of the process. Any thread.
final class ModelClass: @unchecked Sendable {
  // Unchecked: all members are immutable; metadata and key paths are not marked Sendable.

  let type: any PersistentModel.Type
  /// Name of the entity: that of the class, without module and enclosing types.
  let name: String
  /// The stored properties, inherited ones included.
  let properties: [Schema.PropertyMetadata]
  /// The declarations of `#Unique` and `#Index`.
  let constraints: [Schema.PropertyMetadata]
  /// Accessors of the properties, in order; not bound to an entity.
  let accessors: [PropertyAccessor]
  let indexByName: [String: Int]
  /// Indexes of constants, for which the macro can't generate accessors.
  let constants: [Int]
  private let _indexByKeyPath: [AnyKeyPath: Int]
  private let _known = PointerTable()

  private init(_ type: any PersistentModel.Type) {
    self.type = type
    let name = Self.name(of: type)
    self.name = name
    let metadata = type.schemaMetadata
    constraints = metadata.filter { $0.metadata is any PropertyGroups }
    let properties = metadata.filter { !($0.metadata is any PropertyGroups) }
    self.properties = properties
    accessors = properties.map { property in
      guard let accessor = PropertyAccessors.accessor(property, of: name) else {
        programmerError(
          "'\(name).\(property.name)' is a \(Swift.type(of: property.keypath).valueType), which can't be stored: make it "
            + "Codable, or mark the property @Transient.")
      }
      return accessor
    }
    constants = properties.indices.filter { !(properties[$0].keypath is any WritableProperty) }
    indexByName = Dictionary(
      properties.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    _indexByKeyPath = Dictionary(
      properties.enumerated().map { ($1.keypath, $0) }, uniquingKeysWith: { first, _ in first })
  }

  // MARK: Classes

  private static let _classes = PointerTable()
  private static let _making = Mutex(())
  private static let _names = Mutex<[String: ModelClass]>([:])

  /// Returns the most recently used class with a name; nil if none was used yet.
  static func known(named name: String) -> ModelClass? { _names.withLock { $0[name] } }

  /// Returns the description of a class.
  static func of(_ type: any PersistentModel.Type) -> ModelClass {
    let address = UInt(bitPattern: unsafeBitCast(type as Any.Type, to: Int.self))
    if let known = _classes.number(at: address) { return _class(known) }
    return _make(type, address)
  }

  private static func _class(_ number: Int) -> ModelClass {
    Unmanaged<ModelClass>.fromOpaque(UnsafeRawPointer(bitPattern: number).unsafelyUnwrapped)
      .takeUnretainedValue()
  }

  @inline(never) private static func _make(_ type: any PersistentModel.Type, _ address: UInt) -> ModelClass {
    // Outside the lock: creating one may look up others. Two threads may create the same; one is kept.
    let made = ModelClass(type)
    return _making.withLock { _ in
      if let known = _classes.number(at: address) { return _class(known) }
      let number = Int(bitPattern: Unmanaged.passRetained(made).toOpaque())
      _classes.enter(number, at: address)
      _names.withLock { $0[made.name] = made }
      return made
    }
  }

  /// Returns the simple name of a type.
  static func name(of type: Any.Type) -> String {
    // For a generic class, without its arguments.
    String(String(describing: type).prefix { $0 != "<" })
  }

  /// The model superclass; nil if there is none.
  var superclass: (any PersistentModel.Type)? {
    (type as Any.Type as? AnyClass).flatMap { _getSuperclass($0) as? any PersistentModel.Type }
  }

  /// Whether this class is a subclass of another model class.
  func inherits(from other: ModelClass) -> Bool {
    guard let superclass else { return false }
    let above = ModelClass.of(superclass)
    return above === other || above.inherits(from: other)
  }

  // MARK: Plans

  private let _plans = Mutex<[[Int]: AccessPlan]>([:])

  /// Returns the accessors for an entity with the properties in these slots. Cached for the life of the
  /// process: there are only as many as the class has forms in the program's schemas.
  func plan(slots: [Int]) -> AccessPlan {
    _plans.withLock { plans in
      if let known = plans[slots] { return known }
      let made = AccessPlan(zip(accessors, slots).map { $0.bound(to: $1) })
      plans[slots] = made
      return made
    }
  }

  // MARK: Key paths

  /// Returns the index of a key path's property.
  @inline(__always) func index(of keyPath: AnyKeyPath) -> Int {
    if let known = _known.number(of: keyPath) { return known }
    return _find(keyPath)
  }

  /// Returns the index of a key path's property; nil if there is none.
  func knownIndex(of keyPath: AnyKeyPath) -> Int? {
    if let known = _known.number(of: keyPath) { return known }
    guard let found = _indexByKeyPath[keyPath] else { return nil }
    _known.enter(found, for: keyPath)
    return found
  }

  @inline(never) private func _find(_ keyPath: AnyKeyPath) -> Int {
    if let known = knownIndex(of: keyPath) { return known }
    // Formed through a protocol or a subclass, it is a different key path to the same property.
    if let path = try? KeyPathRecording.path(of: keyPath, from: self), let name = path.first, path.count == 1,
      let index = indexByName[name]
    {
      _known.enter(index, for: keyPath)
      return index
    }
    programmerError("the key path \(keyPath) stands for no stored property of '\(name)'.")
  }
}

/// A key path that can be written through.
private protocol WritableProperty {}
extension WritableKeyPath: WritableProperty {}
