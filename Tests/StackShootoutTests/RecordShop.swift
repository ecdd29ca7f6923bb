import CoreData
import Foundation

/// A model of orders with relationships of all kinds, in a store that has it inside.
enum RecordShop {
  static func model() -> NSManagedObjectModel {
    func attribute(_ name: String, _ type: NSAttributeType, optional: Bool = true) -> NSAttributeDescription {
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, optional)
      return attribute
    }
    func entity(_ name: String, _ properties: [NSPropertyDescription]) -> NSEntityDescription {
      let entity = NSEntityDescription()
      (entity.name, entity.properties) = (name, properties)
      return entity
    }
    func relate(
      _ one: NSEntityDescription, _ name: String, _ other: NSEntityDescription, _ back: String?,
      many: (Bool, Bool), ordered: Bool = false
    ) {
      func end(_ name: String, _ to: NSEntityDescription, _ isMany: Bool) -> NSRelationshipDescription {
        let end = NSRelationshipDescription()
        (end.name, end.destinationEntity, end.maxCount, end.isOptional) = (name, to, isMany ? 0 : 1, true)
        return end
      }
      let forth = end(name, other, many.0)
      forth.isOrdered = ordered
      one.properties.append(forth)
      guard let back else { return }
      let inverse = end(back, one, many.1)
      (forth.inverseRelationship, inverse.inverseRelationship) = (inverse, forth)
      other.properties.append(inverse)
    }
    let total = attribute("total", .decimalAttributeType)
    total.defaultValue = NSDecimalNumber(value: 1)
    let order = entity(
      "Order",
      [
        attribute("number", .integer64AttributeType, optional: false),
        attribute("placed", .dateAttributeType), total,
        attribute("note", .stringAttributeType), attribute("token", .UUIDAttributeType),
        attribute("isPaid", .booleanAttributeType), attribute("scan", .binaryDataAttributeType),
      ])
    let rush = entity("RushOrder", [attribute("fee", .doubleAttributeType)])
    let customer = entity(
      "Customer",
      [attribute("code", .stringAttributeType, optional: false), attribute("name", .stringAttributeType)])
    customer.uniquenessConstraints = [["code"]]
    let line = entity(
      "Line", [attribute("text", .stringAttributeType), attribute("count", .integer32AttributeType)])
    let tag = entity("Tag", [attribute("word", .stringAttributeType)])
    let badge = entity("Badge", [attribute("title", .stringAttributeType)])
    let remark = entity("Remark", [attribute("text", .stringAttributeType)])
    relate(order, "customer", customer, "orders", many: (false, true))
    relate(order, "lines", line, "order", many: (true, false), ordered: true)
    relate(order, "tags", tag, "orders", many: (true, true))
    relate(order, "favorites", customer, "fans", many: (true, true), ordered: true)
    relate(customer, "badge", badge, "owner", many: (false, false))
    relate(order, "remarks", remark, nil, many: (true, false))
    order.subentities = [rush]
    let model = NSManagedObjectModel()
    model.entities = [order, rush, customer, line, tag, badge, remark]
    return model
  }

  /// Creates a store with the model inside.
  static func makeStore(at path: String) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: path), options: nil)
    try coordinator.remove(store)
  }

  /// Runs a body with the orders of a store, by number, and the texts that an attribute has in the members of an order's to-many.
  static func withOrders(
    of path: String,
    _ body: (_ orders: [NSManagedObject], _ texts: (Int, String, String) -> [String]) throws -> Void
  ) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: path), options: nil)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Order")
      request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
      let orders = try context.fetch(request)
      try body(orders) { order, key, name in
        let members = orders[order].value(forKey: key)
        let list = (members as? NSOrderedSet)?.array ?? Array(members as? Set<NSManagedObject> ?? [])
        return list.compactMap { ($0 as? NSManagedObject)?.value(forKey: name) as? String }
      }
    }
  }

  /// Orders with objects inside and named by keys, some of which come again with other values and links.
  static let lines = """
    {"number": 1, "placed": "2024-02-29T12:00:00Z", "total": "12.5", "isPaid": true, "scan": "AQID", "token": "00000000-0000-0000-0000-000000000001", "customer": {"code": "A", "name": "Ada", "badge": {"title": "gold"}}, "lines": [{"text": "pen", "count": 2}, {"text": "ink", "count": 1}], "tags": ["x", "y"], "favorites": ["A", {"code": "C"}], "remarks": [{"text": "r1"}, {"text": "r2"}]}
    {"number": 2, "note": "", "customer": "A", "lines": [{"text": "pad"}], "tags": ["y", {"word": "z"}]}
    {"$entity": "RushOrder", "number": 3, "fee": 2.5, "customer": {"code": "B", "badge": {"title": "tin"}}, "favorites": ["C", "B", "A"]}
    {"number": 1, "total": null, "customer": "B", "tags": ["z"], "favorites": ["C", "A", "B"], "lines": [{"text": "new"}], "remarks": []}
    {"number": 4, "customer": null, "tags": []}
    {"number": 2, "customer": {"code": "A", "name": "Anna", "badge": {"title": "iron"}}, "tags": ["x", "y", "w"]}
    {"number": 3, "note": "again", "favorites": ["A"]}

    """
}
