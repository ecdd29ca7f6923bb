import Foundation
import ModelSchema

/// The columns of a dictionary fetch: attributes, to-one relationships as object IDs, key paths over to-one.
struct DictionaryColumns {
  private let _columns: [(name: String, path: [String])]
  private let _context: NSManagedObjectContext

  init(_ request: AnyFetchRequest, _ layout: PropertyLayout, in context: NSManagedObjectContext) throws {
    _context = context
    guard let wanted = request.propertiesToFetch, !wanted.isEmpty else {
      _columns = layout.slots.filter { $0.attribute != nil && !$0.isTransient }.map { ($0.name, [$0.name]) }
      return
    }
    _columns = try wanted.map { property in
      let name: String
      switch property {
      case let text as String: name = text
      case let description as NSExpressionDescription:
        throw CocoaError.coreData(
          NSCoreDataError, "propertiesToFetch holds the expression '\(description.name)': expressions are not computed by this "
            + "version's dictionary fetches. Fetch the attributes and compute on the results.")
      case let description as NSPropertyDescription: name = description.name
      default:
        throw CocoaError.coreData(
          NSCoreDataError, "propertiesToFetch holds a \(type(of: property)); it takes names and property descriptions.")
      }
      let path = name.split(separator: ".").map(String.init)
      if let slot = layout.slot(named: path[0]), layout.slots[slot].isToMany {
        throw CocoaError.coreData(
          NSCoreDataError, "propertiesToFetch names the to-many relationship '\(name)'; a dictionary has one value for a key.")
      }
      guard name == "objectID" || layout.slot(named: path[0]) != nil else {
        throw CocoaError.coreData(
          NSCoreDataError, "propertiesToFetch names '\(name)', which '\(layout.entityName)' does not have.")
      }
      return (name, path)
    }
    if request.propertiesToGroupBy != nil || request.havingPredicate != nil {
      throw CocoaError.coreData(
        NSCoreDataError, "propertiesToGroupBy and havingPredicate are not computed by this version's dictionary fetches.")
    }
  }

  func dictionary(for stored: StoredObject) throws -> NSDictionary {
    let result = NSMutableDictionary()
    for (name, path) in _columns {
      if name == "objectID" {
        result[name as NSString] = NSManagedObjectID(stored.key)
        continue
      }
      if let value = try _value(path[...], stored.key, stored.row) { result[name as NSString] = value }
    }
    return result
  }

  /// Saved values only: a dictionary fetch shows the store.
  private func _value(_ path: ArraySlice<String>, _ key: ObjectKey, _ row: Row?) throws -> Any? {
    guard let row else { return nil }
    let layout = key.space.layout
    guard let slot = layout.slot(named: path[path.startIndex]) else { return nil }
    if layout.slots[slot].attribute != nil {
      return try key.space.entity.shape.codings[slot]!.object(from: row[slot])
    }
    guard let target = row[slot].key else { return nil }
    if path.count == 1 { return NSManagedObjectID(target) }
    let next = try _context.persistentStoreCoordinator?.rows(for: [target])[0]
    return try _value(path.dropFirst(), target, next)
  }
}
