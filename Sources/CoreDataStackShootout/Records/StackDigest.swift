import CoreData
import CoreDataModelSchema
import Foundation

// What a store on a server holds. Its tables are read through a new stack, since this target does not have the server's library.

extension StoreDigest {
  /// Objects that are read at a time.
  private static let _portion = 1_000

  /// Reads a store with a coordinator of its own, which has nothing in its cache.
  init(_ coordinator: NSPersistentStoreCoordinator, plan: RecordPlan) throws {
    let context = coordinator.makeContext()
    self = try context.performAndWait {
      var digest = StoreDigest()
      try digest._read(context, plan)
      return digest
    }
  }

  private mutating func _read(_ context: NSManagedObjectContext, _ plan: RecordPlan) throws {
    let entities = plan.layout.layouts.filter { !$0.isAbstract }
    var names: [NSManagedObjectID: String] = [:]
    for entity in entities {
      let slots = _slots(entity)
      let key = plan.key(of: entity).map { entity.slots[$0.slot].name }
      try _forEach(entity, [], context) { object in
        let told = key.map { [$0] } ?? slots.map(\.name)
        names[object.objectID] =
          entity.entityName + "\u{1E}"
          + told.map { Self._text(object.value(forKey: $0)) }.joined(separator: "\u{1F}")
      }
    }
    for entity in entities {
      let slots = _slots(entity)
      let links = entity.slots.filter { !$0.isAttribute && !$0.isHidden && !$0.isTransient }
      // The other end of a to-one tells all members, but not their order.
      let lists = links.filter { $0.isToMany && (_isAlone($0, plan) || $0.relationship?.isOrdered == true) }
      try _forEach(entity, lists.map(\.name), context) { object in
        var words = [names[object.objectID] ?? "gone"]
        words += slots.map { Self._text(object.value(forKey: $0.name)) }
        for link in links where link.isToOne {
          let target = object.value(forKey: link.name) as? NSManagedObject
          words.append(target.map { names[$0.objectID] ?? "gone" } ?? "-")
        }
        add(words.joined(separator: "\u{1D}"), to: entity.entityName)
        for link in lists {
          let value = object.value(forKey: link.name)
          let ordered = value as? NSOrderedSet
          let members = ordered?.array ?? (value as? NSSet)?.allObjects ?? []
          for (index, member) in members.enumerated() {
            let name = (member as? NSManagedObject).flatMap { names[$0.objectID] } ?? "gone"
            add(
              [words[0], name, ordered == nil ? "" : "\(index)"].joined(separator: "\u{1D}"),
              to: "\(entity.entityName).\(link.name)")
          }
        }
      }
    }
  }

  private func _slots(_ entity: PropertyLayout) -> [PropertyLayout.Slot] {
    entity.slots.filter { $0.isAttribute && $0.isImported }
  }

  /// Whether no to-one of its members leads back.
  private func _isAlone(_ slot: PropertyLayout.Slot, _ plan: RecordPlan) -> Bool {
    guard let relationship = slot.relationship, let inverse = relationship.inverseSlot else { return true }
    let other = plan.layout.layout(numbered: relationship.destination).slots[inverse]
    return other.isToMany || other.isHidden
  }

  /// Reads the objects of an entity without its subentities, in portions that are let go of.
  private func _forEach(
    _ entity: PropertyLayout, _ prefetched: [String], _ context: NSManagedObjectContext,
    _ body: (NSManagedObject) -> Void
  ) throws {
    let all = NSFetchRequest<NSManagedObjectID>(entityName: entity.entityName)
    all.resultType = .managedObjectIDResultType
    all.includesSubentities = false
    let ids = try context.fetch(all)
    for start in stride(from: 0, to: ids.count, by: Self._portion) {
      let request = NSFetchRequest<NSManagedObject>(entityName: entity.entityName)
      request.predicate = NSPredicate(
        format: "SELF IN %@", Array(ids[start..<min(ids.count, start + Self._portion)]))
      request.relationshipKeyPathsForPrefetching = prefetched
      request.returnsObjectsAsFaults = false
      for object in try context.fetch(request) { body(object) }
      context.reset()
    }
  }

  /// A value as text that is equal for equal values.
  private static func _text(_ value: Any?) -> String {
    switch value {
    case nil: "-"
    case let date as Date: String(format: "%.14g", date.timeIntervalSinceReferenceDate)
    case let number as NSDecimalNumber: number.stringValue
    // Beyond 2^53 the digits of a whole number tell more than a double's.
    case let number as NSNumber:
      (number as? Int64).map { "\($0)" } ?? String(format: "%.14g", number.doubleValue)
    case let data as Data: data.base64EncodedString()
    case let uuid as UUID: uuid.uuidString
    case let url as URL: url.absoluteString
    case let text as String: text
    case let other?: "\(other)"
    }
  }
}
