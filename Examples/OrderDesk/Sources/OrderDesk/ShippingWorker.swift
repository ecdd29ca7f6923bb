import CoreData
import Foundation

/// A process that follows the history of the store, and ships each order exactly once.
///
/// Saves its position together with its results in one transaction, so that it can be killed at any moment
/// and resumes from there.
struct ShippingWorker {
  private let _desk: Desk
  private let _context: NSManagedObjectContext

  init(_ desk: Desk) {
    _desk = desk
    _context = desk.container.newBackgroundContext()
    _context.transactionAuthor = "worker"
  }

  /// Works until the process ends, or optionally until all orders are shipped.
  func run(untilIdle: Bool) throws {
    let saved = DispatchSemaphore(value: 0)
    let token = NotificationCenter.default.addObserver(
      forName: .NSPersistentStoreRemoteChange, object: _desk.container.persistentStoreCoordinator, queue: nil
    ) { _ in saved.signal() }
    defer { NotificationCenter.default.removeObserver(token) }
    while true {
      let count = try _context.performAndWait { try _shipNext() }
      if count == 0 {
        if untilIdle { return }
        _ = saved.wait(timeout: .now() + 5)
      }
    }
  }

  /// Ships the orders from some transactions, and returns the number of transactions.
  private func _shipNext() throws -> Int {
    defer { _context.reset() }
    let follower = try _follower()
    guard let request = NSPersistentHistoryTransaction.fetchRequest else { return 0 }
    request.predicate = NSPredicate(
      format: "transactionNumber > %lld AND author != 'worker'", follower.lastTransaction)
    request.fetchLimit = 50
    let result = try _context.execute(NSPersistentHistoryChangeRequest.fetchHistory(withFetch: request))
    let found = (result as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction] ?? []
    guard let last = found.last else { return 0 }
    for change in found.flatMap({ $0.changes ?? [] }) where change.changeType == .insert {
      guard let order = try _order(change.changedObjectID) else { continue }
      let shipment = Shipment(context: _context)
      shipment.shippedAt = Date()
      shipment.order = order
    }
    follower.lastTransaction = last.transactionNumber
    do {
      try _context.save()
    } catch let error as CocoaError where error.errorCode == NSManagedObjectMergeError {
      // Another worker has shipped some of them, or one was cancelled. None of this work is saved: looks again.
    }
    return found.count
  }

  /// The order with an ID; nil if the object is another, or the order was cancelled since.
  private func _order(_ id: NSManagedObjectID) throws -> Order? {
    do {
      return try _context.existingObject(with: id) as? Order
    } catch let error as CocoaError where error.errorCode == NSManagedObjectReferentialIntegrityError {
      return nil
    }
  }

  private func _follower() throws -> Follower {
    let request = Follower.fetchRequest()
    request.predicate = NSPredicate(format: "name == 'shipping'")
    if let follower = try _context.fetch(request).first { return follower }
    let follower = Follower(context: _context)
    follower.name = "shipping"
    return follower
  }
}
