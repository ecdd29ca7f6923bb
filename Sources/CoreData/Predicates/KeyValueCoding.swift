import Foundation

/// An object whose values can be read by name, as predicates, expressions and sort descriptors do.
///
/// There is no key-value coding on this platform, so an object of your own that is to be filtered or sorted
/// by key adopts this. `NSManagedObject` does already; dictionaries need not. Called on the thread that
/// evaluates. Not in Core Data.
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
  /// Value for a key (no path); nil if it has none. An object that wants unknown keys to be an error traps
  /// here.
  func value(forKey key: String) -> Any?
}

/// An object that answers to selectors named in `FUNCTION(object, 'selector:', …)`.
///
/// There is no Objective-C runtime on this platform to send them with. Not in Core Data.
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
  /// Answer to a selector such as `"greeting:"`, with one argument for each colon.
  /// - Throws: whatever the evaluation should end with.
  func perform(_ selector: String, with arguments: [Any?]) throws -> Any?
}

/// An object that stands for something else when predicates compare it: a managed object for its ID.
protocol PredicateIdentifiable {
  var predicateIdentity: AnyHashable { get }
}
