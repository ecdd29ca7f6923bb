import Foundation
import ModelSchema

extension AnyFetchRequest {
  /// Checks `propertiesToFetch` of a fetch of objects.
  ///
  /// Objects are read whole here all the same: a store that reads a row reads all of it in one step, and a
  /// partial object
  /// would cost a second statement when it is looked at closely.
  ///
  /// - Throws: A Cocoa error for an expression, or a property that the entity does not have.
  func checkPartialProperties(_ layout: PropertyLayout) throws {
    for property in propertiesToFetch ?? [] {
      let name: String
      switch property {
      case let description as NSExpressionDescription:
        throw CocoaError.coreData(
          NSCoreDataError,
          "propertiesToFetch holds the expression '\(description.name)', which a managed object has no place for; set "
            + "resultType to .dictionaryResultType.")
      case let text as String: name = text
      case let description as NSPropertyDescription: name = description.name
      default:
        throw CocoaError.coreData(
          NSCoreDataError,
          "propertiesToFetch holds a \(type(of: property)); it takes names and property descriptions.")
      }
      guard layout.slot(named: String(name.prefix { $0 != "." })) != nil || name == "objectID" else {
        throw CocoaError.coreData(
          NSCoreDataError,
          "propertiesToFetch names '\(name)': keypath \(name) not found in entity \(layout.entityName).")
      }
    }
  }
}
