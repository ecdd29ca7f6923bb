import CoreData
import Foundation

/// The values of a managed object at one moment, independent of its context.
///
/// Sendable: contains attributes unchanged, to-one and to-many relationships as IDs. Transformable attributes
/// are omitted, since their objects may not be safe to share.
///
/// ```swift
/// let snapshots = try await background.perform {
///   try background.fetch(Book.fetchRequest()).map { Snapshot($0, relationships: ["tags"]) }
/// }
/// for book in snapshots { print(book.value("title") ?? "untitled", book.ids("tags", of: Tag.self).count) }
/// ```
public struct Snapshot<Object: NSManagedObject>: Sendable, Identifiable {
  /// The ID of the object.
  public let objectID: ObjectID<Object>
  /// Name of the entity.
  public let entityName: String
  private let _values: [String: any Sendable]

  /// Identity of the object.
  public var id: ObjectID<Object> { objectID }

  /// Takes a snapshot. Call on the queue of the object's context; fills a fault.
  ///
  /// - Parameters:
  ///   - object: The object.
  ///   - relationships: Names of the relationships whose IDs to include.
  public init(_ object: Object, relationships: [String] = []) {
    objectID = ObjectID(object)
    entityName = object.entity.name ?? ""
    var values: [String: any Sendable] = [:]
    for name in object.entity.attributesByName.keys {
      if let value = Self._shareable(object.value(forKey: name)) { values[name] = value }
    }
    for name in relationships { values[name] = object.objectIDs(forRelationshipNamed: name) }
    _values = values
  }

  /// The value of a property; nil without one.
  public subscript(name: String) -> (any Sendable)? { _values[name] }

  /// The value of a property with a given type; nil without one, or if it has another type.
  ///
  /// ```swift
  /// let snapshot = Snapshot(book)
  /// let pages = snapshot.value("pages", as: Int.self) ?? 0
  /// ```
  public func value<Value>(_ name: String, as type: Value.Type = Value.self) -> Value? {
    if let number = _values[name] as? NSNumber {
      switch type {
      case is Int.Type: return number.intValue as? Value
      case is Double.Type: return number.doubleValue as? Value
      case is Bool.Type: return number.boolValue as? Value
      default: break
      }
    }
    return _values[name] as? Value
  }

  /// The IDs of a relationship that the snapshot includes.
  public func ids<Other: NSManagedObject>(_ name: String, of type: Other.Type = Other.self) -> [ObjectID<
    Other
  >] {
    (_values[name] as? [NSManagedObjectID] ?? []).map { ObjectID($0) }
  }

  private static func _shareable(_ value: Any?) -> (any Sendable)? {
    switch value {
    case let text as String: text
    case let number as NSNumber: number.copy() as? NSNumber
    case let date as Date: date
    case let data as Data: data
    case let uuid as UUID: uuid
    case let url as URL: url
    case let decimal as Decimal: decimal
    default: nil
    }
  }
}
