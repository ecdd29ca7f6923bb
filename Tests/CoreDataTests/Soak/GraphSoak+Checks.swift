import Foundation

@testable import CoreData

// Invariants during and after a soak.

extension GraphSoak {
  func noteDangling(_ context: SoakContext) {
    let dangling = context.performAndWait { context.dangling }
    guard !dangling.isEmpty else { return }
    fail("\(context.name!) shows objects that are not there: \(dangling.prefix(3))")
  }

  /// Checks the structures of a context, and that what they find is what a look at everything finds.
  func checkStructures(_ context: SoakContext, number: Int) throws {
    try context.performAndWait {
      let flaws = context.inconsistencies
      if !flaws.isEmpty { fail("\(context.name!): \(flaws.prefix(4).joined(separator: "; "))") }
      // Twice: an index of a range is made by its second use.
      for format in ["age > %d AND age <= %d", "age BETWEEN {%d, %d}"] {
        let predicate = NSPredicate(format: format, number % 90, number % 90 + 10)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
        request.predicate = predicate
        let found = Set(try context.fetch(request))
        request.predicate = NSCompoundPredicate(
          notPredicateWithSubpredicate: NSCompoundPredicate(notPredicateWithSubpredicate: predicate))
        let expected = Set(try context.fetch(request))
        if found != expected {
          fail(
            "\(context.name!) finds \(found.count) authors by \(predicate) and \(expected.count) without an index"
          )
        }
      }
    }
  }

  private func _view(_ context: NSManagedObjectContext) throws -> GraphView {
    try context.performAndWait { try GraphView(context) }
  }

  /// Checks that in a context that works alone, both ends of every link agree at every level.
  func checkChain(from context: SoakContext) throws {
    var next: NSManagedObjectContext? = context
    while let level = next as? SoakContext {
      let view = try _view(level)
      if !view.flaws.isEmpty { fail("\(level.name!): \(view.flaws.prefix(4).joined(separator: "; "))") }
      noteDangling(level)
      try checkStructures(level, number: journal.step)
      next = level.parent
    }
  }

  /// Checks that every context, clean and merged, shows the contents of the store.
  func checkAll() throws {
    let fresh = try stack.fresh { try GraphView($0) }
    if !fresh.flaws.isEmpty { fail("store: \(fresh.flaws.prefix(4).joined(separator: "; "))") }
    if stack.setting.isSQLite {
      let reread = try _reread()
      let differences = reread.differences(from: fresh)
      if !differences.isEmpty { fail("the file has \(differences.prefix(4).joined(separator: "\n  "))") }
    }
    for context in contexts {
      if context.performAndWait({ context.hasChanges }) {
        fail("\(context.name!) has changes after it was settled")
      }
      let view = try _view(context)
      if !view.flaws.isEmpty { fail("\(context.name!): \(view.flaws.prefix(4).joined(separator: "; "))") }
      let differences = view.differences(from: fresh)
      if !differences.isEmpty {
        fail(
          "\(context.name!) shows \(differences.prefix(4).joined(separator: "\n  ")) (which is what the store has)"
        )
      }
      noteDangling(context)
      try checkStructures(context, number: journal.step)
      _checkRegistry(context)
      try _checkVersions(context)
    }
  }

  /// Checks that no two registered objects have the same ID.
  private func _checkRegistry(_ context: SoakContext) {
    context.performAndWait {
      var seen = Set<URL>()
      for object in context.registeredObjects where !object.objectID.isTemporaryID {
        if !seen.insert(object.objectID.uriRepresentation()).inserted {
          fail("\(context.name!) has \(object.objectID) twice")
        }
      }
    }
  }

  /// Checks that every object has the version in the store; otherwise its next save would fail with a false
  /// conflict.
  private func _checkVersions(_ context: SoakContext) throws {
    try context.performAndWait {
      for object in context.registeredObjects {
        guard let key = object._key, let version = object._row?.version,
          let stored = try stack.coordinator.row(for: key)?.version
        else { continue }
        if version != stored {
          fail("\(context.name!) has version \(version) of \(object.objectID), the store \(stored)")
        }
      }
    }
  }

  /// Returns what a new coordinator reads from the file.
  private func _reread() throws -> GraphView {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.coordinator.managedObjectModel)
    try coordinator.addPersistentStore(ofType: TestDatabase.type, configurationName: nil, at: stack.url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait { try GraphView(context) }
  }
}
