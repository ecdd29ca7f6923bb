import CoreData
import CoreDataSQLiteBinding
import Foundation

/// Reads a complete store through Core Data's API and compares every cell with the result of SQL.
package struct ReadTrial {
  package private(set) var entities = 0
  package private(set) var rows = 0
  /// Cells of attributes and to-one relationships compared.
  package private(set) var cells = 0
  /// Members of to-many relationships counted.
  package private(set) var members = 0
  /// Differences from SQL, in words; the first hundred.
  package private(set) var differences: [String] = []

  /// Opens the store at `url` read-only, fires every fault and compares.
  ///
  /// - Parameter reference: A copy of the same store, which SQL reads.
  /// - Throws: Errors of opening or reading.
  package init(_ url: URL, model: NSManagedObjectModel, reference: URL) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url,
      options: [NSReadOnlyPersistentStoreOption: true])
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    let connection = try Connection(path: reference.path, mode: .readOnly)
    try context.performAndWait {
      for entity in model.entities where !entity.isAbstract {
        try _compare(entity, store, context, connection)
      }
    }
    try coordinator.remove(store)
  }

  private mutating func _compare(
    _ entity: NSEntityDescription, _ store: NSPersistentStore, _ context: NSManagedObjectContext,
    _ connection: Connection
  ) throws {
    guard let name = entity.name, let place = StoredPlace(entity, in: store) else {
      _add("the entity '\(entity.name ?? "?")' has no table")
      return
    }
    entities += 1
    let request = NSFetchRequest<NSManagedObject>(entityName: name)
    request.includesSubentities = false
    request.includesPropertyValues = false
    let objects = try context.fetch(request).map { (key: StoredKey.of($0), object: $0) }.sorted {
      $0.key < $1.key
    }
    rows += objects.count
    let keys = try _keys(
      "SELECT Z_PK FROM \(place.table) WHERE Z_ENT = \(place.number) ORDER BY Z_PK", connection)
    guard keys == objects.map(\.key) else {
      _add("\(name): fetched \(objects.count) objects, the table has \(keys.count) rows")
      return
    }
    for attribute in entity.attributesByName.values {
      guard let column = place.attributes[attribute.name] else { continue }
      let count = try Self._eachCell(column, place, connection) { position, statement in
        let value = objects[position].object.value(forKey: attribute.name)
        if !CellComparison(attribute).isEqual(value, statement) {
          _add("\(name).\(attribute.name) of row \(keys[position]): \(String(describing: value).prefix(60))")
        }
      }
      cells += count
    }
    for (relationship, columns) in place.toOnes {
      let count = try Self._eachCell(columns.column, place, connection) { position, statement in
        let target = objects[position].object.value(forKey: relationship) as? NSManagedObject
        let expected: Int64? = statement.isNull(0) ? nil : statement.int64(0)
        if target.map(StoredKey.of) != expected { _add("\(name).\(relationship) of row \(keys[position])") }
      }
      cells += count
    }
    for (relationship, storage) in place.toManys {
      let counts = try _memberCounts(storage, connection)
      for (key, object) in objects {
        let value = object.value(forKey: relationship)
        let count =
          (value as? NSOrderedSet)?.count ?? (value as? Set<AnyHashable>)?.count ?? (value as? NSSet)?.count
        members += count ?? 0
        if count != counts[key] ?? 0 {
          _add("\(name).\(relationship) of row \(key): \(count ?? -1) members, SQL says \(counts[key] ?? 0)")
        }
      }
    }
    for (_, object) in objects { context.refresh(object, mergeChanges: false) }
  }

  /// Calls `body` with the number of each row and a statement whose first column is the cell; returns the
  /// number of rows.
  private static func _eachCell(
    _ column: String, _ place: StoredPlace, _ connection: Connection, _ body: (Int, Statement) -> Void
  ) throws -> Int {
    var position = 0
    try connection.query("SELECT \(column) FROM \(place.table) WHERE Z_ENT = \(place.number) ORDER BY Z_PK") {
      row in
      body(position, row)
      position += 1
    }
    return position
  }

  private func _memberCounts(_ storage: StoreTableLayout.ToMany, _ connection: Connection) throws -> [Int64:
    Int]
  {
    let sql: String
    switch storage {
    case .columns(let table, let key, _, _, _):
      sql = "SELECT \(key), COUNT(*) FROM \(table) WHERE \(key) IS NOT NULL GROUP BY \(key)"
    case .pairs(let table, let owner, _, _, _):
      sql = "SELECT \(owner), COUNT(*) FROM \(table) GROUP BY \(owner)"
    }
    var counts: [Int64: Int] = [:]
    try connection.query(sql) { counts[$0.int64(0)] = Int($0.int64(1)) }
    return counts
  }

  private func _keys(_ sql: String, _ connection: Connection) throws -> [Int64] {
    var keys: [Int64] = []
    try connection.query(sql) { keys.append($0.int64(0)) }
    return keys
  }

  private mutating func _add(_ difference: String) {
    if differences.count < 100 { differences.append(difference) }
  }
}

/// The primary key of an object's row.
package enum StoredKey {
  package static func of(_ object: NSManagedObject) -> Int64 {
    Int64(object.objectID.uriRepresentation().lastPathComponent.dropFirst()) ?? -1
  }
}
