import CoreData
import Foundation
import HTTPService

/// Changes to the books, for clients that keep a copy: they send the number of the last transaction they have
/// seen, and receive the changes after it.
struct ChangeFeed {
  private let _context: NSManagedObjectContext
  private static let _limit = 500

  init(_ context: NSManagedObjectContext) { _context = context }

  private struct Page: Encodable {
    var changes: [Change] = []
    /// The number to send with the next request.
    var last: Int64
    /// Whether further changes are available.
    var hasMore = false
  }

  private struct Change: Encodable {
    let kind: String
    let id: UUID?
    let title: String?
  }

  func answer(since text: String) throws -> HTTPResponse {
    guard let since = Int64(text), since >= 0 else { throw HTTPResponse(400, "'\(text)' is no number.") }
    guard let transactions = NSPersistentHistoryTransaction.fetchRequest else {
      throw HTTPResponse(500, "The store keeps no history.")
    }
    transactions.predicate = NSPredicate(format: "transactionNumber > %@", NSNumber(value: since))
    let request = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: transactions)
    let result = try _context.execute(request) as? NSPersistentHistoryResult
    let found = result?.result as? [NSPersistentHistoryTransaction] ?? []
    var page = Page(last: since)
    for transaction in found {
      // Transactions are never split, so that their number identifies the position in the feed.
      guard page.changes.count < Self._limit else {
        page.hasMore = true
        break
      }
      page.changes += (transaction.changes ?? []).map(_change)
      page.last = transaction.transactionNumber
    }
    return HTTPResponse(200, json: page)
  }

  private func _change(_ change: NSPersistentHistoryChange) -> Change {
    switch change.changeType {
    case .delete:
      // The model preserves a deleted book's id in the history.
      return Change(kind: "delete", id: change.tombstone?["id"] as? UUID, title: nil)
    case .insert, .update:
      let book = try? _context.existingObject(with: change.changedObjectID) as? Book
      return Change(
        kind: change.changeType == .insert ? "insert" : "update", id: book?.id, title: book?.title)
    }
  }
}
