import CoreData
import CoreDataModelSchema
import Foundation

/// Finds the keys of one page of a table with the engine's fetches, bounded by sort key and primary key.
struct TableKeys {
  private let _request: TableRequest
  private let _store: ExploredStore
  private let _context: NSManagedObjectContext
  /// The executed fetches, for the SQL page.
  private(set) var fetches: [NSFetchRequest<NSManagedObjectID>] = []

  init(_ request: TableRequest, _ store: ExploredStore, _ context: NSManagedObjectContext) {
    (_request, _store, _context) = (request, store, context)
  }

  /// Keys in the order of the table, and whether more follow in the direction of reading.
  mutating func page() throws -> (keys: [Int64], hasMore: Bool) {
    let limit = _request.rows + 1
    let (cursor, isForward): (TableCursor?, Bool) =
      switch _request.start {
      case .first: (nil, true)
      case .after(let cursor): (cursor, true)
      case .before(let cursor): (cursor, false)
      case .last: (nil, false)
      }
    // A page before a place is the page after it in reverse order.
    let isAscending = _request.isAscending == isForward
    var keys: [Int64] = []
    for condition in try _conditions(cursor, isAscending) where keys.count < limit {
      keys += try _fetch(condition, isAscending, limit - keys.count)
    }
    let hasMore = keys.count == limit
    keys = Array(keys.prefix(_request.rows))
    return (isForward ? keys : keys.reversed(), hasMore)
  }

  private mutating func _fetch(_ condition: NSPredicate?, _ isAscending: Bool, _ limit: Int) throws -> [Int64]
  {
    let request = NSFetchRequest<NSManagedObjectID>(entityName: _request.entity.entityName)
    request.resultType = .managedObjectIDResultType
    request.includesSubentities = _request.includesSubentities
    request.fetchLimit = limit
    let parts = [_request.predicate, condition].compactMap { $0 }
    if !parts.isEmpty {
      request.predicate =
        parts.count == 1 ? parts[0] : NSCompoundPredicate(andPredicateWithSubpredicates: parts)
    }
    var order = [NSSortDescriptor(key: "self", ascending: isAscending)]
    if let sort = _request.sort {
      order.insert(NSSortDescriptor(key: sort.text, ascending: isAscending), at: 0)
    }
    request.sortDescriptors = order
    fetches.append(request)
    let context = _context
    return try context.performAndWait { try context.fetch(request) }.compactMap(Self.key)
  }

  /// The primary key of an ID.
  static func key(_ id: NSManagedObjectID) -> Int64? {
    Int64(id.uriRepresentation().lastPathComponent.dropFirst())
  }

  // MARK: Conditions

  /// Conditions of the fetches that return the rows after a position, in order. Nil values are at one end of
  /// the order and fetched separately: a condition for both could not use an index.
  private func _conditions(_ cursor: TableCursor?, _ isAscending: Bool) throws -> [NSPredicate?] {
    guard let cursor else { return [nil] }
    guard let id = _store.objectID(_request.entity.entityName, cursor.key) else {
      throw TableRequest.Problem(field: .page, description: "There is no row \(cursor.key).")
    }
    let isBeyond = NSPredicate(format: isAscending ? "SELF > %@" : "SELF < %@", id)
    guard let sort = _request.sort, case .attribute(let attribute) = sort.kind else { return [isBeyond] }
    let isNull = NSPredicate(format: "%K == nil", sort.text)
    guard let value = cursor.constant(for: attribute.type) else {
      let nulls = NSCompoundPredicate(andPredicateWithSubpredicates: [isNull, isBeyond])
      return isAscending ? [nulls, NSPredicate(format: "%K != nil", sort.text)] : [nulls]
    }
    let format = isAscending ? "%K >= %@ AND (%K > %@ OR SELF > %@)" : "%K <= %@ AND (%K < %@ OR SELF < %@)"
    let after = NSPredicate(format: format, argumentArray: [sort.text, value, sort.text, value, id])
    return isAscending ? [after] : [after, isNull]
  }
}
