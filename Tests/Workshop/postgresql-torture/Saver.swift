import CoreData
import CoreDataPostgreSQL
import Foundation

/// One process that saves, and reports the outcome of each save before beginning the next one.
struct Saver {
  private let _coordinator: NSPersistentStoreCoordinator
  private let _context: NSManagedObjectContext
  private let _policy: String

  init(url: URL, policy: String) throws {
    _coordinator = NSPersistentStoreCoordinator(managedObjectModel: TortureModel.make())
    try _coordinator.addPersistentStore(
      ofType: NSPostgreSQLStoreType, configurationName: nil, at: url,
      options: [NSPersistentStoreTimeoutOption: 20])
    _context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    _context.persistentStoreCoordinator = _coordinator
    _policy = policy
    _context.mergePolicy =
      switch policy {
      case "object": NSMergePolicy.mergeByPropertyObjectTrump
      case "store": NSMergePolicy.mergeByPropertyStoreTrump
      case "overwrite": NSMergePolicy.overwrite
      case "rollback": NSMergePolicy.rollback
      default: NSMergePolicy.error
      }
  }

  /// Creates the counter.
  func prepare() throws {
    try _context.performAndWait {
      _ = NSEntityDescription.insertNewObject(forEntityName: "Counter", into: _context)
      try _context.save()
    }
  }

  /// Saves `count` times. Prints `saved NAME`; `failed NAME` for a save that was not committed; and `unknown
  /// NAME` if the server could not be queried for the outcome.
  func run(_ count: Int, name: String) {
    for number in 0..<count {
      let text = "\(name)-\(number)"
      while true {
        let outcome = _context.performAndWait { _save(text) }
        if outcome == "conflict" { continue }
        _say("\(outcome) \(text)")
        if outcome != "saved" { usleep(20_000) }
        break
      }
    }
  }

  private func _save(_ text: String) -> String {
    do {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Counter")
      guard let counter = try _context.fetch(request).first else { return "failed" }
      _context.refresh(counter, mergeChanges: false)
      counter.setValue((counter.value(forKey: "number") as? Int ?? 0) + 1, forKey: "number")
      NSEntityDescription.insertNewObject(forEntityName: "Entry", into: _context).setValue(
        text, forKey: "text")
      try _context.save()
      return "saved"
    } catch {
      _context.rollback()
      switch (error as? CocoaError)?.code.rawValue {
      case NSManagedObjectMergeError: return "conflict"
      case NSPersistentStoreSaveError: return "unknown"
      default: return "failed"
      }
    }
  }

  /// Writes unbuffered in one call: the process may be killed at any moment.
  private func _say(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    _ = bytes.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
  }

  /// Prints all entries, then the counter.
  func list() throws {
    try _context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Entry")
      for entry in try _context.fetch(request) {
        _say("entry \(entry.value(forKey: "text") as? String ?? "")")
      }
      let counter = try _context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Counter")).first
      _say("counter \(counter?.value(forKey: "number") as? Int ?? -1)")
    }
  }
}
