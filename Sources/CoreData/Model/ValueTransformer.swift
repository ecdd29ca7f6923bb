import Foundation
import CoreDataModelFiles
import Synchronization

/// The name under which a value transformer is registered.
public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
  public let rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }

  /// Creates a name.
  public init(_ rawValue: String) { self.rawValue = rawValue }

  /// Negates a boolean.
  public static let negateBooleanTransformerName = NSValueTransformerName("NSNegateBoolean")
  /// Whether a value is nil.
  public static let isNilTransformerName = NSValueTransformerName("NSIsNil")
  /// Whether a value is not nil.
  public static let isNotNilTransformerName = NSValueTransformerName("NSIsNotNil")
  /// Unarchives an object from data.
  public static let unarchiveFromDataTransformerName = NSValueTransformerName("NSUnarchiveFromData")
  /// Unarchives an object from keyed archive data.
  public static let keyedUnarchiveFromDataTransformerName = NSValueTransformerName("NSKeyedUnarchiveFromData")
  /// Unarchives an object of an allowed class from keyed archive data.
  public static let secureUnarchiveFromDataTransformerName = NSValueTransformerName(
    "NSSecureUnarchiveFromData")
}

/// Converts values of one kind to another, and back if supported; transformable attributes store the result.
///
/// Foundation provides this class on Apple's platforms only. Register an instance before loading a store that
/// needs it, unless its name is its class's name: then it is created with `init()` on demand. Its methods are
/// called on any thread.
///
/// ```swift
/// final class LanguagesTransformer: ValueTransformer {
///   override func transformedValue(_ value: Any?) -> Any? {
///     (value as? [String]).map { Data($0.joined(separator: ",").utf8) }
///   }
///   override func reverseTransformedValue(_ value: Any?) -> Any? {
///     (value as? Data).map { String(decoding: $0, as: UTF8.self).components(separatedBy: ",") }
///   }
/// }
/// let name = NSValueTransformerName("LanguagesTransformer")
/// ValueTransformer.setValueTransformer(LanguagesTransformer(), forName: name)
/// ```
open class ValueTransformer: NSObject, _ValueTransformerCluster {
  public override init() { super.init() }

  /// Registers a transformer; nil removes it.
  open class func setValueTransformer(_ transformer: ValueTransformer?, forName name: NSValueTransformerName)
  {
    TransformerRegistry.shared.set(transformer, forName: name)
  }

  /// Names of all registered transformers.
  open class func valueTransformerNames() -> [NSValueTransformerName] { TransformerRegistry.shared.names }

  /// The class of the transformed values.
  open class func transformedValueClass() -> AnyClass { NSObject.self }

  /// Whether `reverseTransformedValue` is supported; true unless overridden.
  open class func allowsReverseTransformation() -> Bool { true }

  /// Returns the transformed value; the unchanged value unless overridden.
  open func transformedValue(_ value: Any?) -> Any? { value }

  /// Returns the value that `transformedValue` converts to this one. Calls `transformedValue` unless
  /// overridden; traps if the class does not support it.
  open func reverseTransformedValue(_ value: Any?) -> Any? {
    precondition(
      type(of: self).allowsReverseTransformation(),
      "\(type(of: self)) does not allow reverse transformation; override allowsReverseTransformation() to say it does"
    )
    return transformedValue(value)
  }

  /// Returns the transformer registered under this name.
  static func registered(_ name: NSValueTransformerName) -> ValueTransformer? {
    TransformerRegistry.shared.transformer(named: name)
  }
}

/// Allows `ValueTransformer(forName:)` to return the registered instance, which may be of any subclass.
public protocol _ValueTransformerCluster {}

extension _ValueTransformerCluster {
  /// Returns the transformer registered under this name, or creates one of the class of this name; nil if
  /// there is neither.
  public init?(forName name: NSValueTransformerName) {
    guard let found = ValueTransformer.registered(name) as? Self else { return nil }
    self = found
  }
}

/// Converts keyed archive data to an object of one of the allowed classes, and back.
///
/// Requires secure coding: objects of other classes are never created, at any depth of the archive. May be
/// called on any thread.
///
/// ```swift
/// final class LinksTransformer: NSSecureUnarchiveFromDataTransformer {
///   override class var allowedTopLevelClasses: [AnyClass] { [NSArray.self, NSURL.self] }
/// }
/// ValueTransformer.setValueTransformer(
///   LinksTransformer(), forName: NSValueTransformerName("LinksTransformer"))
/// ```
open class NSSecureUnarchiveFromDataTransformer: ValueTransformer {
  /// The classes allowed in an archive, including collections.
  ///
  /// Text, numbers, dates, data, arrays and dictionaries are allowed anywhere below the root, as are the
  /// classes that the `init(coder:)` of an allowed class requests with `decodeObject(of:forKey:)`.
  open class var allowedTopLevelClasses: [AnyClass] {
    [
      NSArray.self, NSDictionary.self, NSSet.self, NSString.self, NSNumber.self, NSDate.self, NSData.self,
      NSURL.self,
      NSUUID.self, NSNull.self,
    ]
  }

  /// Returns the object in an archive; nil if the data is not an archive or contains an object of another
  /// class.
  open override func transformedValue(_ value: Any?) -> Any? {
    guard let data = _archiveData(value) else { return nil }
    do {
      return try SecureArchive.decode(data, classes: type(of: self).allowedTopLevelClasses)
    } catch {
      Console.warn("\(type(of: self)) cannot read an archive, which counts as nil: \(error)")
      return nil
    }
  }

  /// Returns an archive of the object; nil if it cannot be archived.
  open override func reverseTransformedValue(_ value: Any?) -> Any? {
    guard let value else { return nil }
    return try? NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
  }
}

private func _archiveData(_ value: Any?) -> Data? {
  value as? Data ?? (value as? NSData).map { Data(referencing: $0) }
}

/// The process's registered transformers.
private final class TransformerRegistry: @unchecked Sendable {
  // Unchecked: `_transformers` is guarded by `_lock`. Programs must register only transformers that may be
  // called on any thread.
  static let shared = TransformerRegistry()

  private let _lock = NSLock()
  private var _transformers: [NSValueTransformerName: ValueTransformer] = [
    .secureUnarchiveFromDataTransformerName: NSSecureUnarchiveFromDataTransformer(),
    .keyedUnarchiveFromDataTransformerName: KeyedUnarchiveTransformer(),
    .unarchiveFromDataTransformerName: KeyedUnarchiveTransformer(),
    .negateBooleanTransformerName: PredicateTransformer { !(($0 as? NSNumber)?.boolValue ?? false) },
    .isNilTransformerName: PredicateTransformer { $0 == nil },
    .isNotNilTransformerName: PredicateTransformer { $0 != nil },
  ]

  /// Returns the transformer registered under a name. Otherwise creates and registers one of the class of
  /// that name, as Core Data does.
  func transformer(named name: NSValueTransformerName) -> ValueTransformer? {
    if let found = _lock.withLock({ _transformers[name] }) { return found }
    guard !name.rawValue.isEmpty,
      let made = NamedClass.instance(of: name.rawValue, as: ValueTransformer.self)
    else { return nil }
    return _lock.withLock {
      if let found = _transformers[name] { return found }
      _transformers[name] = made
      return made
    }
  }

  func set(_ transformer: ValueTransformer?, forName name: NSValueTransformerName) {
    _lock.withLock { _transformers[name] = transformer }
  }

  var names: [NSValueTransformerName] {
    _lock.withLock { _transformers.keys.ordered { $0.rawValue < $1.rawValue } }
  }
}

/// The older archive transformers, which accept any class.
private final class KeyedUnarchiveTransformer: NSSecureUnarchiveFromDataTransformer {
  override func transformedValue(_ value: Any?) -> Any? {
    guard let data = _archiveData(value) else { return nil }
    return (try? ArchivedObject.decode(data)) ?? nil
  }

  override func reverseTransformedValue(_ value: Any?) -> Any? {
    guard let value else { return nil }
    return try? NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: false)
  }
}

/// A transformer with a boolean result.
private final class PredicateTransformer: ValueTransformer {
  private let _test: (Any?) -> Bool

  init(_ test: @escaping (Any?) -> Bool) { _test = test }

  override class func allowsReverseTransformation() -> Bool { false }

  override func transformedValue(_ value: Any?) -> Any? { NSNumber(value: _test(value)) }
}
