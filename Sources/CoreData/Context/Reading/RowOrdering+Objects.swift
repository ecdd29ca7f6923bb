import CoreDataModelSchema
import Foundation

// Fetch order applied to objects, whose sort keys may traverse to-one relationships.

extension RowOrdering {
  /// Sorts objects by key paths.
  func sorted(_ objects: [NSManagedObject]) throws -> [NSManagedObject] {
    let keyed = try objects.enumerated().map { position, object in
      (position: position, object: object, keys: try plan.sort.map { try Self.cell($0.keyPath, of: object) })
    }
    return keyed.sorted { left, right in
      for (index, term) in plan.sort.enumerated() {
        let verdict = Self.compare(left.keys[index], right.keys[index], term.comparison)
        if verdict != 0 { return term.ascending ? verdict < 0 : verdict > 0 }
      }
      return left.position < right.position
    }.map(\.object)
  }

  /// Returns the attribute cell, or the cell of a composite's element, at the end of a path of to-one relationships; null
  /// if a step is nil.
  static func cell(_ path: [String], of object: NSManagedObject) throws -> Value {
    var object = object
    for (index, step) in path.enumerated() {
      if index == path.count - 1, Self.namesTheObject(step) { return place(of: object._objectID.canonical) }
      guard let slot = object._layout.slot(named: step) else {
        throw CocoaError.coreData(
          NSCoreDataError,
          "A sort descriptor names '\(path.joined(separator: "."))', but '\(object._layout.entityName)' has no "
            + "property '\(step)'.")
      }
      if index == path.count - 1 { return orderable(object.read(slot)) }
      if case .attribute(let attribute) = object._layout.slots[slot].kind,
        attribute.hasElement(at: path[(index + 1)...])
      {
        return object.read(slot).element(at: path[(index + 1)...], of: attribute)
      }
      guard let relationship = object._layout.slots[slot].relationship, !relationship.isToMany else {
        throw CocoaError.coreData(
          NSCoreDataError,
          "A sort descriptor names '\(path.joined(separator: "."))', but '\(step)' is neither a to-one relationship nor a "
            + "composite attribute with such an element."
        )
      }
      guard let next = object.toOne(slot) else { return .null }
      object = next
    }
    return .null
  }
}
