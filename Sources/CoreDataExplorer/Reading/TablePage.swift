import CoreData
import CoreDataModelSchema
import CoreDataSQLiteBinding
import CoreDataStoreTools
import Foundation

/// A page of a table.
struct TablePage: Sendable {
  struct Row: Sendable {
    let link: ObjectLink
    let cells: [Cell]
    let cursor: TableCursor
  }

  /// The total number of rows.
  enum Total: Sendable, Hashable {
    case exactly(Int)
    case moreThan(Int)
  }

  let rows: [Row]
  let hasPrevious: Bool
  let hasNext: Bool
  let total: Total
  /// Index of the first row in the table, from 0, if known.
  let ordinal: Int?
  let duration: Duration

  /// Reads a page.
  ///
  /// - Throws: `TableRequest.Problem`, a Cocoa error, `QueryBudget.Exceeded`.
  init(_ request: TableRequest, _ store: ExploredStore, _ budget: QueryBudget) throws {
    let begin = ContinuousClock.now
    let context = store.context()
    var search = TableKeys(request, store, context)
    let (keys, hasMore) = try budget.run { try search.page() }
    rows = try store.readers.read(budget) { reader in
      let query = CellQuery(
        store, reader, request.entity, request.columns, sort: request.sort, textLimit: store.limits.cellText)
      return try query.rows(keys).map { row in
        let entity = row.entity.map { store.layout.layout(numbered: $0) } ?? request.entity
        return Row(
          link: ObjectLink(entity: entity.entityName, key: row.key, label: nil), cells: row.cells,
          cursor: TableCursor(key: row.key, value: request.sort == nil ? .null : row.sortValue))
      }
    }
    total = Self._total(request, store, context, budget)
    switch request.start {
    case .first:
      (hasPrevious, hasNext) = (false, hasMore)
      ordinal = 0
    case .after:
      (hasPrevious, hasNext) = (true, hasMore)
      ordinal = request.ordinal
    case .before:
      (hasPrevious, hasNext) = (hasMore, true)
      ordinal = hasMore ? request.ordinal : 0
    case .last:
      (hasPrevious, hasNext) = (hasMore, false)
      if case .exactly(let count) = total { ordinal = max(0, count - keys.count) } else { ordinal = nil }
    }
    duration = ContinuousClock.now - begin
  }

  /// Counts within a short time limit.
  private static func _total(
    _ request: TableRequest, _ store: ExploredStore, _ context: NSManagedObjectContext, _ budget: QueryBudget
  ) -> Total {
    let limit = store.limits.countedRows
    if request.predicate == nil,
      let count = store.numbers.count(of: request.entity, request.includesSubentities)
    {
      return .exactly(count)
    }
    let counting = NSFetchRequest<NSManagedObject>(entityName: request.entity.entityName)
    counting.predicate = request.predicate
    counting.includesSubentities = request.includesSubentities
    counting.fetchLimit = limit + 1
    let found = try? budget.part(seconds: store.limits.countSeconds).run {
      try context.performAndWait { try context.count(for: counting) }
    }
    guard let found else { return .moreThan(0) }
    return found > limit ? .moreThan(limit) : .exactly(found)
  }
}
