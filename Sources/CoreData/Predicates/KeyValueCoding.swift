import Foundation

/// An object whose values can be read by name by predicates, expressions and sort descriptors.
///
/// This platform has no key-value coding, so adopt this protocol in objects of your own that are filtered or
/// sorted by key. `NSManagedObject` conforms already; dictionaries need not. Called on the evaluating thread.
/// Not in Core Data.
///
/// ```swift
/// struct Station: KeyValueCoding {
///   let name: String
///   func value(forKey key: String) -> Any? { key == "name" ? name : nil }
/// }
/// let stations = [Station(name: "Jungfernheide"), Station(name: "Westend")]
/// let found = stations.filter { NSPredicate(format: "name BEGINSWITH %@", "West").evaluate(with: $0) }
/// ```
public protocol KeyValueCoding {
  /// Returns the value for a key (not a key path); nil without one. Trap here if unknown keys are errors.
  func value(forKey key: String) -> Any?
}

/// An object that implements selectors used in `FUNCTION(object, 'selector:', …)`.
///
/// There is no Objective-C runtime on this platform to send them. Not in Core Data.
///
/// ```swift
/// final class PricePolicy: NSEntityMigrationPolicy, SelectorPerforming {
///   func perform(_ selector: String, with arguments: [Any?]) throws -> Any? {
///     guard selector == "cents:", let price = arguments[0] as? Double else { return nil }
///     return Int(price * 100)
///   }
/// }
/// ```
public protocol SelectorPerforming {
  /// Performs a selector such as `"greeting:"`, with one argument per colon.
  /// - Throws: Any error, which ends the evaluation.
  func perform(_ selector: String, with arguments: [Any?]) throws -> Any?
}

/// An object represented by another value when predicates compare it: a managed object by its ID.
protocol PredicateIdentifiable {
  var predicateIdentity: AnyHashable { get }
  /// Whether that value can no longer change: the ID is permanent.
  var hasFinalPredicateIdentity: Bool { get }
}
