import CoreDataModelSchema
import Foundation

/// A fetch from a store file.
package struct StoreQuery {
  package var entity: String
  /// Nil for all.
  package var predicate: NSPredicate?
  package var sorting: [(key: String, isAscending: Bool)] = []
  package var includesSubentities = true
  package var limit: Int?
  package var offset = 0

  package init(entity: String) { self.entity = entity }
}

/// Fetches run in a context of their own on the same file, which may see a later state than the reader.
extension StoreReader {
  /// Returns the keys of the objects that a fetch finds, sorted as requested, or by key.
  ///
  /// - Throws: A Cocoa error.
  package func keys(_ query: StoreQuery) throws -> [StoredReference] {
    let isSorted = !query.sorting.isEmpty
    if !isSorted, query.predicate == nil, let entity = layout.layoutsByName[query.entity] {
      return try _allKeys(of: entity, query)
    }
    let request: NSFetchRequest<NSManagedObjectID> = _request(query)
    request.resultType = .managedObjectIDResultType
    // SQLite's order depends on the indexes it uses; without a sort order, sort by key.
    if isSorted {
      if let limit = query.limit { request.fetchLimit = limit }
      request.fetchOffset = query.offset
    }
    let context = try fetchingContext()
    let found = try context.performAndWait { try context.fetch(request) }
    let keys = found.compactMap { id in
      layout.layoutsByName[id.entity.name ?? ""].map {
        StoredReference(entity: $0.entityNumber, key: id.reference)
      }
    }
    if isSorted { return keys }
    return Array(keys.sorted { $0.key < $1.key }.dropFirst(query.offset).prefix(query.limit ?? .max))
  }

  /// Returns the number of objects that a fetch finds, ignoring limit and offset.
  ///
  /// - Throws: As `keys`.
  package func count(_ query: StoreQuery) throws -> Int {
    let request: NSFetchRequest<NSManagedObject> = _request(query)
    let context = try fetchingContext()
    return try context.performAndWait { try context.count(for: request) }
  }

  /// Returns the SQL of a fetch of objects, with SQLite's plan.
  ///
  /// - Throws: As `keys`.
  package func statement(_ query: StoreQuery) throws -> SQLStatement? {
    let request: NSFetchRequest<NSManagedObject> = _request(query)
    if let limit = query.limit { request.fetchLimit = limit }
    request.fetchOffset = query.offset
    let context = try fetchingContext()
    return try context.performAndWait { try context.sqlStatements(for: request).first }
  }

  /// Returns the engine's ID of a row, for a predicate; nil if the model has no such entity.
  package func objectID(_ entity: String, _ key: Int64) throws -> NSManagedObjectID? {
    let coordinator = try fetchingContext().persistentStoreCoordinator
    guard let coordinator, let store = coordinator.persistentStores.first else { return nil }
    return coordinator.managedObjectID(entity, key, in: store)
  }

  private func _request<Kind>(_ query: StoreQuery) -> NSFetchRequest<Kind> {
    let request = NSFetchRequest<Kind>(entityName: query.entity)
    request.predicate = query.predicate
    request.sortDescriptors = query.sorting.map { NSSortDescriptor(key: $0.key, ascending: $0.isAscending) }
    request.includesSubentities = query.includesSubentities
    return request
  }

  /// Reads keys directly from the table, which is immediate even for a million rows.
  private func _allKeys(of entity: PropertyLayout, _ query: StoreQuery) throws -> [StoredReference] {
    let table = anatomy.table(of: entity.entityNumber)
    let wanted = query.includesSubentities ? entity.family : [entity.entityNumber]
    let numbers = wanted.map { String(anatomy.storedNumber(of: $0)) }.joined(separator: ", ")
    let condition = table.hasSubentities ? " WHERE Z_ENT IN (\(numbers))" : ""
    var keys: [StoredReference] = []
    try translating {
      try connection.query(
        "SELECT Z_PK, Z_ENT FROM \(table.name)\(condition) ORDER BY Z_PK "
          + "LIMIT \(query.limit ?? -1) OFFSET \(query.offset)"
      ) { row in
        // A table of one entity may contain any number in Z_ENT.
        let number = table.hasSubentities ? anatomy.entity(stored: row.int64(1)) : table.root
        if let number { keys.append(StoredReference(entity: number, key: row.int64(0))) }
      }
    }
    return keys
  }
}

extension NSPersistentStoreCoordinator {
  /// Returns the ID of a row of a store; nil if the model has no such entity.
  package func managedObjectID(_ entity: String, _ key: Int64, in store: NSPersistentStore)
    -> NSManagedObjectID?
  {
    let allowed = CharacterSet.urlPathAllowed.subtracting(CharacterSet(charactersIn: "/"))
    guard let name = entity.addingPercentEncoding(withAllowedCharacters: allowed),
      let url = URL(string: "x-coredata://\(store.identifier ?? "")/\(name)/p\(key)")
    else { return nil }
    return managedObjectID(forURIRepresentation: url)
  }
}
