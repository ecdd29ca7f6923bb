import CoreData
import Foundation

/// Predicates with many values, and requests while something is not saved.
extension GrowthCase {
  static var predicates: [GrowthCase] {
    [
      GrowthCase("count-pending", "A count of 100 rows with one unsaved, n rows.", size: 10_000, short: 1000)
      {
        bench in
        let context = try bench.containerOfTracks().newBackgroundContext()
        try context.performAndWait {
          context.insertTracks(-1..<0)
          let range = NSFetchRequest<Track>.tracks(NSPredicate(format: "number < 99"))
          var found = 0
          try bench.measure(units: 100) { for _ in 0..<100 { found += try context.count(for: range) } }
          try bench.expect(found, 10_000)
        }
      },
      GrowthCase("page-pending", "A page of 20 with one unsaved, n rows.", size: 10_000, short: 1000) {
        bench in
        let context = try bench.containerOfTracks().newBackgroundContext()
        try context.performAndWait {
          context.insertTracks(-1..<0)
          let page = NSFetchRequest<Track>.tracks()
          page.fetchLimit = 20
          var found = 0
          try bench.measure(units: 100) { for _ in 0..<100 { found += try context.fetch(page).count } }
          try bench.expect(found, 2000)
        }
      },
      GrowthCase("evaluate-in", "A value looked for in a collection of n.", size: 1000, short: 300) { bench in
        let context = try bench.container().newBackgroundContext()
        try context.performAndWait {
          let tracks = context.insertTracks(0..<1000)
          let titles = (0..<bench.size).map { "Track \($0 * 2)" }
          let predicate = NSPredicate(format: "title IN %@", titles)
          // The collection is indexed once it has been searched a few times.
          for track in tracks.prefix(50) { _ = predicate.evaluate(with: track) }
          var found = 0
          bench.measure(units: 1000) {
            for track in tracks where predicate.evaluate(with: track) { found += 1 }
          }
          try bench.expect(found, min(500, bench.size))
        }
      },
      GrowthCase(
        "fetch-in-pending", "A value of IN in a fetch with 200 unsaved, n values.", size: 1000, short: 300
      ) {
        bench in
        let context = try bench.containerOfTracks().newBackgroundContext()
        try context.performAndWait {
          context.insertTracks(-200..<0)
          let numbers = Array(-100..<bench.size - 100)
          let request = NSFetchRequest<Track>.tracks(NSPredicate(format: "number IN %@", numbers))
          request.returnsObjectsAsFaults = true
          var found = 0
          try bench.measure(units: bench.size) { found = try context.fetch(request).count }
          try bench.expect(found, bench.size)
        }
      },
      GrowthCase(
        "fetch-in-folded", "A row or value of IN[c], 10,000 rows and n values.", size: 300, short: 30
      ) {
        bench in
        let context = try bench.container().newBackgroundContext()
        try context.performAndWait {
          context.insertTracks(0..<10_000)
          try context.save()
          let titles = (0..<bench.size).map { $0 < 30 ? "TRACK \($0)" : "NONE \($0)" }
          let request = NSFetchRequest<Track>.tracks(NSPredicate(format: "title IN[c] %@", titles))
          var found = 0
          // Each row and each value is looked at once.
          try bench.measure(units: 10_000 + bench.size) { found = try context.fetch(request).count }
          try bench.expect(found, 30)
        }
      },
    ]
  }
}
