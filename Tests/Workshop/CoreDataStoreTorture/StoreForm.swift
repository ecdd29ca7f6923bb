import CoreData
import Foundation

/// The configuration of a trial's store.
package struct StoreForm: Sendable, Hashable {
  package enum Journal: String, Sendable, CaseIterable {
    case wal = "WAL"
    case delete = "DELETE"
    case truncate = "TRUNCATE"
  }

  package let journal: Journal
  package let keepsHistory: Bool
  /// Whether some values have external files.
  package let hasBlobs: Bool

  package init(journal: Journal, keepsHistory: Bool, hasBlobs: Bool) {
    self.journal = journal
    self.keepsHistory = keepsHistory
    self.hasBlobs = hasBlobs
  }

  package static let all = Journal.allCases.flatMap { journal in
    [(false, false), (true, false), (false, true), (true, true)].map {
      StoreForm(journal: journal, keepsHistory: $0, hasBlobs: $1)
    }
  }

  /// As in the name of a round: "WAL-history-blobs".
  package var name: String {
    journal.rawValue + (keepsHistory ? "-history" : "") + (hasBlobs ? "-blobs" : "")
  }

  package init?(name: String) {
    guard let form = Self.all.first(where: { $0.name == name }) else { return nil }
    self = form
  }

  /// Options for adding the store, with migration enabled.
  package var options: [AnyHashable: Any] {
    var options: [AnyHashable: Any] = [
      NSSQLitePragmasOption: ["journal_mode": journal.rawValue],
      NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
    ]
    if keepsHistory { options[NSPersistentHistoryTrackingKey] = true }
    return options
  }
}
