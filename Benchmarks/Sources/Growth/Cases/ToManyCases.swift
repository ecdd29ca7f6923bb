import CoreData
import Foundation

/// To-manys with many members.
extension GrowthCase {
  static var toManys: [GrowthCase] {
    [
      GrowthCase("add-count", "A member added to a to-many and the members counted.", size: 2000, short: 500)
      {
        bench in
        let context = try bench.container().newBackgroundContext()
        try context.performAndWait {
          let album = Album(context: context)
          let tracks = context.insertTracks(0..<bench.size)
          var sum = 0
          bench.measure(units: bench.size) {
            for track in tracks {
              album.addToTracks(track)
              sum += album.tracks!.count
            }
          }
          try bench.expect(sum, bench.size * (bench.size + 1) / 2)
        }
      },
      GrowthCase("add-save", "A member added to a to-many of n, and saved.", size: 2000, short: 500) {
        bench in
        let context = try bench.container().newBackgroundContext()
        try context.performAndWait {
          let album = try context.insertAlbum(of: bench.size)
          func add(_ count: Int) throws {
            for number in 0..<count {
              let track = Track(context: context)
              track.number = Int64(-number)
              album.addToTracks(track)
              try context.save()
            }
          }
          // The first one makes the members a set.
          try add(1)
          try bench.measure(units: 100) { try add(100) }
          try bench.expect(album.tracks!.count, bench.size + 101)
        }
      },
      GrowthCase(
        "merge-member", "A member that another context adds, merged and counted.", size: 2000, short: 500,
        law: .linear
      ) { bench in
        // A merge refreshes the owner, as in Core Data: its to-many becomes a fault, and is read again.
        let context = try bench.container().newBackgroundContext()
        let other = context.persistentStoreCoordinator!.newContext()
        let id = try context.performAndWait { try context.insertAlbum(of: bench.size).objectID }
        context.automaticallyMergesChangesFromParent = true
        let album = context.performAndWait { context.object(with: id) as! Album }
        try bench.expect(context.performAndWait { album.tracks!.count }, bench.size)
        var count = 0
        try bench.measure(units: 50) {
          for _ in 0..<50 {
            try other.performAndWait {
              Track(context: other).album = other.object(with: id) as? Album
              try other.save()
            }
            count = context.performAndWait { album.tracks!.count }
          }
        }
        try bench.expect(count, bench.size + 50)
      },
      GrowthCase(
        "merge-deletions", "A deletion merged, n in a save and n owners read.", size: 1000, short: 200,
        law: .uncached
      ) { bench in
        let context = try bench.container().newBackgroundContext()
        let other = context.persistentStoreCoordinator!.newContext()
        try other.performAndWait {
          for track in other.insertTracks(0..<2 * bench.size) where track.number % 2 == 0 {
            let album = Album(context: other)
            track.album = album
          }
          try other.save()
        }
        let albums = try context.performAndWait {
          let albums = try context.fetch(NSFetchRequest<Album>(entityName: "Album"))
          for album in albums { _ = album.tracks!.count }
          return albums
        }
        let save = _Save(of: other)
        try other.performAndWait {
          for track in try other.fetch(.tracks(NSPredicate(format: "album != nil"))) { other.delete(track) }
          try other.save()
        }
        try context.performAndWait {
          bench.measure(units: bench.size) { context.mergeChanges(fromContextDidSave: save.notification!) }
          try bench.expect(albums.contains { $0.tracks!.count > 0 }, false)
        }
      },
      GrowthCase(
        "ordered-index", "index(of:) in an ordered to-many of n, for each of its members.", size: 2000,
        short: 500
      ) { bench in
        try _withPlaylist(bench) { _, playlist in
          let entries = playlist.entries!.array
          var found = 0
          bench.measure(units: bench.size) {
            for entry in entries { found += playlist.entries!.index(of: entry) }
          }
          try bench.expect(found, bench.size * (bench.size - 1) / 2)
        }
      },
      GrowthCase(
        "ordered-append", "An entry appended to an ordered to-many of n, and saved.", size: 1000, short: 300,
        law: .linear
      ) { bench in
        // The order is an array that the program and the save get whole: 40 ns a member.
        try _withPlaylist(bench) { context, playlist in
          try bench.measure(units: 50) {
            for _ in 0..<50 {
              playlist.addToEntries(Entry(context: context))
              try context.save()
            }
          }
          try bench.expect(playlist.entries!.count, bench.size + 50)
        }
      },
      GrowthCase(
        "ordered-delete", "An entry of an ordered to-many deleted, all n, last first.", size: 1000, short: 300
      ) {
        bench in
        try _withPlaylist(bench) { context, playlist in
          let entries = playlist.entries!.array as! [Entry]
          try bench.measure(units: bench.size) {
            for entry in entries.reversed() { context.delete(entry) }
            try context.save()
          }
          try bench.expect(playlist.entries!.count, 0)
        }
      },
    ]
  }

  private static func _withPlaylist(
    _ bench: GrowthBench, _ body: (NSManagedObjectContext, Playlist) throws -> Void
  ) throws {
    let context = try bench.container().newBackgroundContext()
    try context.performAndWait {
      let playlist = Playlist(context: context)
      let entries = (0..<bench.size).map { _ in Entry(context: context) }
      playlist.entries = NSOrderedSet(array: entries)
      try context.save()
      try bench.expect(playlist.entries!.count, bench.size)
      try withExtendedLifetime(entries) { try body(context, playlist) }
    }
  }
}

/// The last save of a context, which is read once it is over.
private final class _Save: @unchecked Sendable {
  // Unchecked: written by the context's queue in a save, and read after it.
  var notification: Notification?

  init(of context: NSManagedObjectContext) {
    NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: context, queue: nil
    ) { [self] in notification = $0 }
  }
}

extension NSManagedObjectContext {
  /// Saves an album of as many tracks, and forgets the tracks.
  func insertAlbum(of size: Int) throws -> Album {
    let album = Album(context: self)
    for track in insertTracks(0..<size) { track.album = album }
    try save()
    refreshAllObjects()
    return album
  }
}
