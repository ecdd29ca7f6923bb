import CoreData
import Foundation

/// Stores in memory, which tests run on.
extension GrowthCase {
  static var memoryStores: [GrowthCase] {
    [
      GrowthCase(
        "memory-fault", "A to-many of three read in memory, n rows.", size: 3000, short: 600,
        law: .uncached
      ) { bench in
        try _withAlbums(bench) { context in
          let albums = try context.fetch(NSFetchRequest<Album>(entityName: "Album"))
          // The first one indexes the to-ones of all rows.
          var found = albums[0].tracks!.count
          bench.measure(units: albums.count - 1) {
            for album in albums.dropFirst() { found += album.tracks!.count }
          }
          try bench.expect(found, bench.size)
        }
      },
      GrowthCase("memory-owned", "A fetch by a to-one in memory, n rows.", size: 3000, short: 600) { bench in
        try _withAlbums(bench) { context in
          let albums = try context.fetch(NSFetchRequest<Album>(entityName: "Album")).prefix(50)
          func count(_ album: Album) throws -> Int {
            try context.count(for: NSFetchRequest<Track>.tracks(NSPredicate(format: "album == %@", album)))
          }
          var found = try count(albums[0])
          try bench.measure(units: 49) { for album in albums.dropFirst() { found += try count(album) } }
          try bench.expect(found, 150)
        }
      },
      GrowthCase("memory-delete", "An object deleted and saved in memory, n rows.", size: 3000, short: 600) {
        bench in
        try _withAlbums(bench) { context in
          let albums = try context.fetch(NSFetchRequest<Album>(entityName: "Album")).prefix(100)
          func delete(_ albums: some Sequence<Album>) throws {
            for album in albums {
              context.delete(album)
              try context.save()
            }
          }
          try delete(albums.prefix(1))
          try bench.measure(units: 99) { try delete(albums.dropFirst()) }
        }
      },
      GrowthCase(
        "memory-genre", "One of n tracks given a genre in memory, one save.", size: 2000, short: 500,
        law: .uncached
      ) { bench in
        let context = try bench.container(NSInMemoryStoreType).newBackgroundContext()
        try context.performAndWait {
          let tracks = context.insertTracks(0..<bench.size)
          try context.save()
          try bench.measure(units: bench.size) {
            Genre(context: context).tracks = NSSet(array: tracks)
            try context.save()
          }
        }
      },
      GrowthCase("memory-in", "A value of IN in memory, n values and rows.", size: 1000, short: 300) {
        bench in
        try _withAlbums(bench) { context in
          let request = NSFetchRequest<Track>.tracks(
            NSPredicate(format: "title IN %@", (0..<bench.size).map { "Track \($0)" }))
          request.sortDescriptors = []
          var found = 0
          try bench.measure(units: bench.size) { found = try context.fetch(request).count }
          try bench.expect(found, bench.size)
        }
      },
    ]
  }

  /// Runs a body in a context over a store in memory, with as many tracks as the size says, three an album.
  private static func _withAlbums(
    _ bench: GrowthBench, _ body: (NSManagedObjectContext) throws -> Void
  ) throws {
    let context = try bench.container(NSInMemoryStoreType).newBackgroundContext()
    try context.performAndWait {
      var album: Album?
      for track in context.insertTracks(0..<bench.size) {
        if track.number % 3 == 0 { album = Album(context: context) }
        track.album = album
      }
      try context.save()
      context.reset()
      try body(context)
    }
  }
}
