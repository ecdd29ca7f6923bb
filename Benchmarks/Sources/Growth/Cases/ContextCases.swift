import CoreData
import Foundation

/// One object among many that a context has, and many that are not saved.
extension GrowthCase {
  static var contexts: [GrowthCase] {
    [
      GrowthCase("change-save", "One object changed and saved, n registered.", size: 2000, short: 500) {
        bench in
        try _withRegistered(bench) { context, tracks in
          try bench.measure(units: 100) {
            for track in tracks.prefix(100) {
              track.plays += 1
              try context.save()
            }
          }
        }
      },
      GrowthCase("rollback", "One change rolled back, n registered.", size: 2000, short: 500) { bench in
        try _withRegistered(bench) { context, tracks in
          bench.measure(units: 100) {
            for track in tracks.prefix(100) {
              track.plays += 1
              context.rollback()
            }
          }
          try bench.expect(context.hasChanges, false)
        }
      },
      GrowthCase("updated-objects", "updatedObjects with one change, n registered.", size: 2000, short: 500) {
        bench in
        try _withRegistered(bench) { context, tracks in
          tracks[0].plays += 1
          var found = 0
          bench.measure(units: 1000) { for _ in 0..<1000 { found += context.updatedObjects.count } }
          try bench.expect(found, 1000)
        }
      },
      GrowthCase("merge-one", "A save of one object merged, n registered.", size: 2000, short: 500) { bench in
        try _withRegistered(bench) { context, tracks in
          let other = context.persistentStoreCoordinator!.newContext()
          context.automaticallyMergesChangesFromParent = true
          let ids = tracks.prefix(100).map(\.objectID)
          try bench.measure(units: 100) {
            for id in ids {
              try other.performAndWait {
                try (other.existingObject(with: id) as! Track).plays = -1
                try other.save()
              }
              context.processPendingChanges()
            }
          }
        }
      },
      GrowthCase("delete-unsaved", "An unsaved object deleted, n unsaved.", size: 2000, short: 400) { bench in
        let context = try bench.container().newBackgroundContext()
        try context.performAndWait {
          let tracks = context.insertTracks(0..<bench.size)
          context.processPendingChanges()
          bench.measure(units: bench.size) { for track in tracks { context.delete(track) } }
          try bench.expect(context.insertedObjects.count, 0)
        }
      },
      GrowthCase("refresh-changed", "A changed object refreshed, n changed.", size: 2000, short: 400) {
        bench in
        try _withRegistered(bench) { context, tracks in
          for track in tracks { track.plays += 1 }
          bench.measure(units: bench.size) {
            for track in tracks { context.refresh(track, mergeChanges: false) }
          }
          try bench.expect(context.hasChanges, false)
        }
      },
      GrowthCase("undo-insertions", "One of n insertions undone, a group.", size: 2000, short: 400) { bench in
        let context = try bench.container().newBackgroundContext()
        try context.performAndWait {
          let undoManager = UndoManager()
          undoManager.groupsByEvent = false
          context.undoManager = undoManager
          undoManager.beginUndoGrouping()
          context.insertTracks(0..<bench.size)
          context.processPendingChanges()
          undoManager.endUndoGrouping()
          bench.measure(units: bench.size) { context.undo() }
          try bench.expect(context.insertedObjects.count, 0)
        }
      },
      GrowthCase("obtain-ids", "A permanent ID obtained, n unsaved.", size: 1000, short: 300) { bench in
        let context = try bench.container().newBackgroundContext()
        try context.performAndWait {
          let tracks = context.insertTracks(0..<bench.size)
          try bench.measure(units: bench.size) {
            for track in tracks { try context.obtainPermanentIDs(for: [track]) }
          }
          try bench.expect(tracks.contains { $0.objectID.isTemporaryID }, false)
        }
      },
      GrowthCase("insert-delete", "An object inserted, saved and deleted, n at once.", size: 2000, short: 400)
      {
        bench in
        let context = try bench.container().newBackgroundContext()
        try context.performAndWait {
          try bench.measure(units: bench.size) {
            let tracks = context.insertTracks(0..<bench.size)
            try context.save()
            for track in tracks { context.delete(track) }
            try context.save()
          }
          try bench.expect(context.count(for: NSFetchRequest<Track>.tracks()), 0)
        }
      },
      GrowthCase("unique-conflicts", "An object that meets a saved key, n in a save.", size: 1000, short: 200)
      {
        bench in
        let context = try bench.container().newBackgroundContext()
        try context.performAndWait {
          context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
          for _ in 0..<2 {
            for number in 0..<bench.size { Account(context: context).key = "Key \(number)" }
            if context.registeredObjects.count == bench.size {
              try context.save()
            } else {
              try bench.measure(units: bench.size) { try context.save() }
            }
          }
          try bench.expect(context.count(for: NSFetchRequest<Account>(entityName: "Account")), bench.size)
        }
      },
      GrowthCase("let-go", "A link of a chain of n let go.", size: 2000, short: 500, law: .uncached) {
        bench in
        let context = try bench.container().newBackgroundContext()
        try context.performAndWait {
          func chain() throws -> Link {
            let links = (0..<bench.size).map { _ in Link(context: context) }
            for (link, next) in zip(links, links.dropFirst()) { link.next = next }
            try context.save()
            return links[0]
          }
          var first: Link? = try chain()
          try bench.expect(first?.next != nil, true)
          bench.measure(units: bench.size) {
            first = nil
            context.processPendingChanges()
            context.reset()
          }
        }
      },
      GrowthCase(
        "scattered-fault", "One of 50 faults filled here and there, of n that a fetch has made.",
        size: 10_000,
        short: 2000, law: .uncached
      ) { bench in
        let context = try bench.containerOfTracks().newBackgroundContext()
        try context.performAndWait {
          let request = NSFetchRequest<Track>.tracks()
          request.includesPropertyValues = false
          request.returnsObjectsAsFaults = true
          let tracks = try context.fetch(request)
          var sum = 0
          bench.measure(units: 50) {
            for number in 0..<50 { sum += Int(tracks[number * 7919 % bench.size].number) }
          }
          try bench.expect(sum, (0..<50).reduce(0) { $0 + $1 * 7919 % bench.size })
        }
      },
    ]
  }

  /// Runs a body in a context that holds as many tracks as the size says, with their values.
  private static func _withRegistered(
    _ bench: GrowthBench, _ body: (NSManagedObjectContext, [Track]) throws -> Void
  ) throws {
    let context = try bench.containerOfTracks().newBackgroundContext()
    try context.performAndWait {
      let tracks = try context.fetch(.tracks())
      try withExtendedLifetime(tracks) { try body(context, tracks) }
    }
  }
}

extension NSPersistentStoreCoordinator {
  /// A context on a private queue.
  func newContext() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = self
    return context
  }
}

extension NSManagedObjectContext {
  /// A context on a private queue that saves into this one.
  func newChild() -> NSManagedObjectContext {
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = self
    return child
  }
}
