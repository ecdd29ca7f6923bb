import CoreDataModelSchema
import Foundation

extension AnyFetchRequest {
  /// Returns the content that a fetch of objects reads.
  ///
  /// - Throws: A Cocoa error if `propertiesToFetch` holds an expression, or a property that the entity does
  ///   not have.
  func contentOfObjects(_ layout: PropertyLayout) throws -> FetchPlan.Content {
    let slots = try _partialSlots(layout)
    if !includesPropertyValues || fetchBatchSize > 0 { return .identity }
    // Filling objects or prefetching relationships requires all values.
    guard let slots, returnsObjectsAsFaults, relationshipKeyPathsForPrefetching?.isEmpty ?? true else {
      return .values
    }
    return .slots(slots)
  }

  /// Returns the slots of `propertiesToFetch` in ascending order, or nil without any. A key path counts as
  /// its first key.
  private func _partialSlots(_ layout: PropertyLayout) throws -> [Int]? {
    guard let propertiesToFetch, !propertiesToFetch.isEmpty, resultType == .managedObjectResultType else {
      return nil
    }
    var slots = Set<Int>()
    for property in propertiesToFetch {
      let name = try _name(of: property)
      if name == "objectID" { continue }
      guard let slot = layout.slot(named: String(name.prefix { $0 != "." })) else {
        throw CocoaError.coreData(
          NSCoreDataError,
          "propertiesToFetch names '\(name)': keypath \(name) not found in entity \(layout.entityName).")
      }
      slots.insert(slot)
    }
    return slots.sorted()
  }

  private func _name(of property: Any) throws -> String {
    switch property {
    case let description as NSExpressionDescription:
      throw CocoaError.coreData(
        NSCoreDataError,
        "propertiesToFetch holds the expression '\(description.name)', which a managed object has no place for; set "
          + "resultType to .dictionaryResultType.")
    case let text as String: return text
    case let description as NSPropertyDescription: return description.name
    default:
      throw CocoaError.coreData(
        NSCoreDataError,
        "propertiesToFetch holds a \(type(of: property)); it takes names and property descriptions.")
    }
  }
}
