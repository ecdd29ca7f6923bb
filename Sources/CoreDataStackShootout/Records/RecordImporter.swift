import CoreData
import CoreDataModelSchema
import Foundation

/// Places records in a context, in plain, ordinary Core Data code.
///
/// Used on the context's queue.
struct RecordImporter {
  let plan: RecordPlan
  let mode: ImportMode
  let context: NSManagedObjectContext
  let named: NamedObjects

  /// An object by the entity among whose objects its key is unique, and its key.
  private struct Place: Hashable {
    let scope: Int
    let key: String
  }

  /// Places the records between two saves.
  func place(_ records: ArraySlice<RecordNode>) throws {
    var known: [Place: NSManagedObject] = [:]
    named.saved()
    if mode == .bulk { try _find(records, &known) }
    for record in records { _ = try _place(record, &known, isRecord: true) }
    try named.willSave(in: context)
  }

  private func _place(
    _ node: RecordNode, _ known: inout [Place: NSManagedObject], isRecord: Bool
  ) throws -> NSManagedObject {
    let object =
      node.isReference
      ? try named.object(node.identity ?? -1, in: context)
      : try _found(node, &known, isRecord: isRecord) ?? _insert(node, &known)
    if let identity = node.identity, !node.isReference { named.note(object, as: identity) }
    for value in node.values { object.setValue(value.object, forKey: value.name) }
    for link in node.links {
      var targets: [NSManagedObject] = []
      for target in link.targets { targets.append(try _place(target, &known, isRecord: false)) }
      if !link.isToMany {
        object.setValue(targets.first, forKey: link.name)
      } else if link.isOrdered {
        object.setValue(NSOrderedSet(array: targets), forKey: link.name)
      } else {
        object.setValue(Set(targets), forKey: link.name)
      }
    }
    return object
  }

  private func _insert(_ node: RecordNode, _ known: inout [Place: NSManagedObject]) -> NSManagedObject {
    let object = NSEntityDescription.insertNewObject(forEntityName: node.entity.entityName, into: context)
    if let place = _place(of: node), mode == .bulk { known[place] = object }
    return object
  }

  /// The object of a node's key; nil without one, or for a record that is not looked up.
  private func _found(
    _ node: RecordNode, _ known: inout [Place: NSManagedObject], isRecord: Bool
  ) throws -> NSManagedObject? {
    guard let key = node.key, !(mode == .insert && isRecord) else { return nil }
    if mode == .bulk { return _place(of: node).flatMap { known[$0] } }
    let request = NSFetchRequest<NSManagedObject>(entityName: key.scope.entityName)
    request.predicate = NSPredicate(
      format: "%K == %@", argumentArray: [key.value.name, key.value.object as Any])
    request.fetchLimit = 1
    return try context.fetch(request).first
  }

  private func _place(of node: RecordNode) -> Place? {
    node.key.map { Place(scope: $0.scope.entityNumber, key: $0.value.stored.identity) }
  }

  /// Finds the objects of all keys of some records, with a fetch for each key attribute.
  private func _find(_ records: ArraySlice<RecordNode>, _ known: inout [Place: NSManagedObject]) throws {
    var wanted: [Int: (scope: PropertyLayout, key: String, values: [Any])] = [:]
    var seen: Set<Place> = []
    for record in records {
      record.forEach { node in
        guard let key = node.key, let value = key.value.object, let place = _place(of: node),
          seen.insert(place).inserted
        else { return }
        wanted[key.scope.entityNumber, default: (key.scope, key.value.name, [])].values.append(value)
      }
    }
    for (scope, key, values) in wanted.values {
      let request = NSFetchRequest<NSManagedObject>(entityName: scope.entityName)
      request.predicate = NSPredicate(format: "%K IN %@", argumentArray: [key, values])
      request.returnsObjectsAsFaults = false
      for object in try context.fetch(request) {
        guard let identity = Self._identity(object.value(forKey: key)) else { continue }
        known[Place(scope: scope.entityNumber, key: identity)] = object
      }
    }
  }

  private static func _identity(_ value: Any?) -> String? {
    switch value {
    case let number as NSNumber: StoredValue.integer(number.int64Value).identity
    case let text as String: StoredValue.string(text).identity
    case let uuid as UUID: StoredValue.uuid(uuid).identity
    case let url as URL: StoredValue.uri(url.absoluteString).identity
    case let date as Date: StoredValue.date(date.timeIntervalSinceReferenceDate).identity
    default: nil
    }
  }
}
