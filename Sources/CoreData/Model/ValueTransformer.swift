import Foundation
import CoreDataModelFiles
import Synchronization

/// Name under which a value transformer is registered.
public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
  public let rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }

  /// Creates a name.
  public init(_ rawValue: String) { self.rawValue = rawValue }

  /// Turns a boolean into its opposite.
  public static let negateBooleanTransformerName = NSValueTransformerName("NSNegateBoolean")
  /// Whether a value is nil.
  public static let isNilTransformerName = NSValueTransformerName("NSIsNil")
  /// Whether a value is not nil.
  public static let isNotNilTransformerName = NSValueTransformerName("NSIsNotNil")
  /// Turns archived data into an object.
  public static let unarchiveFromDataTransformerName = NSValueTransformerName("NSUnarchiveFromData")
  /// Turns keyed archived data into an object.
  public static let keyedUnarchiveFromDataTransformerName = NSValueTransformerName("NSKeyedUnarchiveFromData")
  /// Turns keyed archived data into an object of an allowed class.
  public static let secureUnarchiveFromDataTransformerName = NSValueTransformerName(
    "NSSecureUnarchiveFromData")
}

/// Turns values of one kind into another, and back if it can; transformable attributes store what it yields.
///
/// Foundation has this class on Apple's platforms only. Register an instance before a store that needs it is
/// loaded, unless its name is that of its class: then one is made with `init()` when it is needed. Its
/// methods are called on any thread.
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

  /// Class of the values that the transformer yields.
  open class func transformedValueClass() -> AnyClass { NSObject.self }

  /// Whether `reverseTransformedValue` works; true unless overridden.
  open class func allowsReverseTransformation() -> Bool { true }

  /// The value, transformed; the value itself unless overridden.
  open func transformedValue(_ value: Any?) -> Any? { value }

  /// The value which `transformedValue` turns into this one. Calls `transformedValue` unless overridden;
  /// traps if the class does not allow it.
  open func reverseTransformedValue(_ value: Any?) -> Any? {
    precondition(
      type(of: self).allowsReverseTransformation(),
      "\(type(of: self)) does not allow reverse transformation; override allowsReverseTransformation() to say it does"
    )
    return transformedValue(value)
  }

  /// The transformer registered under this name.
  static func registered(_ name: NSValueTransformerName) -> ValueTransformer? {
    TransformerRegistry.shared.transformer(named: name)
  }
}

/// Lets `ValueTransformer(forName:)` answer the registered instance, which may be of any subclass.
public protocol _ValueTransformerCluster {}

extension _ValueTransformerCluster {
  /// The transformer registered under this name, or made of the class of this name; nil if there is neither.
  public init?(forName name: NSValueTransformerName) {
    guard let found = ValueTransformer.registered(name) as? Self else { return nil }
    self = found
  }
}

/// Turns keyed archived data into an object of one of the allowed classes, and an object into such data.
///
/// Secure coding is required: an object of a class that is not allowed is never made, at any depth of the
/// archive. May be called on any thread.
///
/// ```swift
/// final class LinksTransformer: NSSecureUnarchiveFromDataTransformer {
///   override class var allowedTopLevelClasses: [AnyClass] { [NSArray.self, NSURL.self] }
/// }
/// ValueTransformer.setValueTransformer(
///   LinksTransformer(), forName: NSValueTransformerName("LinksTransformer"))
/// ```
open class NSSecureUnarchiveFromDataTransformer: ValueTransformer {
  /// Classes that the objects of an archive may have, collections included.
  ///
  /// Text, numbers, dates, data, arrays and dictionaries may stand anywhere below the root, and what the
  /// `init(coder:)` of an allowed class asks for by `decodeObject(of:forKey:)` may stand there.
  open class var allowedTopLevelClasses: [AnyClass] {
    [
      NSArray.self, NSDictionary.self, NSSet.self, NSString.self, NSNumber.self, NSDate.self, NSData.self,
      NSURL.self,
      NSUUID.self, NSNull.self,
    ]
  }

  /// The object in an archive; nil if the data is no archive or has an object of a class that is not allowed.
  open override func transformedValue(_ value: Any?) -> Any? {
    guard let data = archiveData(value) else { return nil }
    do {
      return try SecureArchive.decode(data, classes: type(of: self).allowedTopLevelClasses)
    } catch {
      Console.warn("\(type(of: self)) cannot read an archive, which counts as nil: \(error)")
      return nil
    }
  }

  /// An archive of the object; nil for an object that can't be archived.
  open override func reverseTransformedValue(_ value: Any?) -> Any? {
    guard let value else { return nil }
    return try? NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
  }
}

private func archiveData(_ value: Any?) -> Data? {
  value as? Data ?? (value as? NSData).map { Data(referencing: $0) }
}

/// The registered transformers of the process.
private final class TransformerRegistry: @unchecked Sendable {
  // Unchecked: `_transformers` is guarded by `_lock`. The transformers themselves are the user's, who
  // registers only what may be called on any thread.
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

  /// The transformer registered under a name, or, as in Core Data, one of the class of that name, which is
  /// registered then.
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
    _lock.withLock { _transformers.keys.sorted { $0.rawValue < $1.rawValue } }
  }
}

/// The older archive transformers, which take any class.
private final class KeyedUnarchiveTransformer: NSSecureUnarchiveFromDataTransformer {
  override func transformedValue(_ value: Any?) -> Any? {
    guard let data = archiveData(value) else { return nil }
    return (try? ArchivedObject.decode(data)) ?? nil
  }

  override func reverseTransformedValue(_ value: Any?) -> Any? {
    guard let value else { return nil }
    return try? NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: false)
  }
}

/// A transformer to a boolean.
private final class PredicateTransformer: ValueTransformer {
  private let _test: (Any?) -> Bool

  init(_ test: @escaping (Any?) -> Bool) { _test = test }

  override class func allowsReverseTransformation() -> Bool { false }

  override func transformedValue(_ value: Any?) -> Any? { NSNumber(value: _test(value)) }
}
