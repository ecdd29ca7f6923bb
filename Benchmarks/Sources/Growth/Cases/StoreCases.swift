import CoreData
import Foundation

/// Requests on stores of many rows, and what they hold.
extension GrowthCase {
  static var stores: [GrowthCase] {
    [
      GrowthCase("history-since", "The transactions since a token, n before it.", size: 1000, short: 200) {
        bench in
        let context = try bench.container(history: true).newBackgroundContext()
        try context.performAndWait {
          let track = context.insertTracks(0..<1)[0]
          for _ in 0..<bench.size {
            track.plays += 1
            try context.save()
          }
          let coordinator = context.persistentStoreCoordinator!
          let token = coordinator.currentPersistentHistoryToken(fromStores: nil)
          for _ in 0..<20 {
            track.plays += 1
            try context.save()
          }
          var found = 0
          try bench.measure(units: 20) {
            for _ in 0..<20 {
              let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
              let result = try context.execute(request) as? NSPersistentHistoryResult
              found += (result?.result as? [NSPersistentHistoryTransaction])?.count ?? 0
            }
          }
          try bench.expect(found, 400)
        }
      },
      GrowthCase(
        "batch-size", "A row of a fetch with fetchBatchSize, of which 20 are read.", size: 20_000, short: 2000
      ) { bench in
        // Holds a fault for each row.
        let context = try bench.containerOfTracks().newBackgroundContext()
        try context.performAndWait {
          let request = NSFetchRequest<Track>.tracks()
          request.fetchBatchSize = 20
          request.returnsObjectsAsFaults = true
          var found = 0
          try bench.measure(units: bench.size) {
            let tracks = try context.fetch(request)
            found = tracks.count
            _ = tracks[found / 2].title
          }
          try bench.expect(found, bench.size)
        }
      },
      GrowthCase(
        "batch-delete", "A row deleted by a batch request, all n, of an entity with relationships.",
        size: 10_000, short: 1000
      ) { bench in
        // Holds 26 bytes a row: the rules must know what is deleted along.
        let context = try bench.containerOfTracks().newBackgroundContext()
        try context.performAndWait {
          let tracks = NSFetchRequest<any NSFetchRequestResult>(entityName: "Track")
          try bench.measure(units: bench.size) {
            _ = try context.execute(NSBatchDeleteRequest(fetchRequest: tracks))
          }
          try bench.expect(context.count(for: .tracks()), 0)
        }
      },
      GrowthCase(
        "captions", "The caption of a photo with an image of a megabyte in a file.", size: 8, short: 4,
        holds: false
      ) { bench in
        let context = try bench.container().newBackgroundContext()
        try context.performAndWait {
          for number in 0..<bench.size {
            let photo = Photo(context: context)
            photo.caption = "Photo \(number)"
            photo.image = Data(repeating: UInt8(number % 256), count: 1_000_000)
            try context.save()
            context.reset()
          }
          let request = NSFetchRequest<Photo>(entityName: "Photo")
          request.returnsObjectsAsFaults = false
          var letters = 0
          try bench.measure(units: bench.size) {
            for photo in try context.fetch(request) { letters += photo.caption!.count }
          }
          try bench.expect(letters >= bench.size * 7, true)
        }
      },
    ]
  }
}
