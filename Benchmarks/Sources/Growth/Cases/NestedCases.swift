import CoreData
import Foundation

/// Contexts whose parents hold many unsaved objects.
extension GrowthCase {
  static var nested: [GrowthCase] {
    [
      GrowthCase(
        "child-save", "A child's save of one change, n unsaved in the parent.", size: 1000, short: 300
      ) {
        bench in
        try _withUnsavedParent(bench) { child in
          let track = try child.fetch(.tracks(NSPredicate(format: "number == 5")))[0]
          try bench.measure(units: 100) {
            for _ in 0..<100 {
              track.plays += 1
              try child.save()
            }
          }
        }
      },
      GrowthCase("child-equal", "A child's fetch by title, n unsaved in the parent.", size: 1000, short: 300)
      {
        bench in
        try _withUnsavedParent(bench) { child in
          func count(_ number: Int) throws -> Int {
            try child.fetch(.tracks(NSPredicate(format: "title == %@", "Track \(number)"))).count
          }
          // The first one indexes the titles of what is unsaved.
          var found = try count(0)
          try bench.measure(units: 50) { for number in 0..<50 { found += try count(number) } }
          try bench.expect(found, 51)
        }
      },
      GrowthCase(
        "child-range", "A child's fetch of 20 by number, n unsaved in the parent.", size: 1000, short: 300,
        law: .uncached
      ) { bench in
        // The first looks at all, the second sorts them.
        try _withUnsavedParent(bench) { child in
          var found = 0
          try bench.measure(units: 200) {
            for number in 0..<200 {
              let range = NSPredicate(format: "number >= %d AND number < %d", number, number + 20)
              found += try child.fetch(.tracks(range)).count
            }
          }
          try bench.expect(found, 4000)
        }
      },
      GrowthCase(
        "withdraw", "A child's change refreshed away in the parent, n changes.", size: 1000, short: 300,
        law: .linear
      ) { bench in
        // The child rereads meanwhile, in groups: each reads the parent's remaining changes.
        let parent = try bench.containerOfTracks().newBackgroundContext()
        let child = parent.newChild()
        try child.performAndWait {
          for track in try child.fetch(.tracks()) { track.plays = -1 }
          try child.save()
        }
        try parent.performAndWait {
          let tracks = try parent.fetch(.tracks())
          bench.measure(units: bench.size) {
            for track in tracks { parent.refresh(track, mergeChanges: false) }
          }
          try bench.expect(parent.hasChanges, false)
        }
      },
    ]
  }

  /// Runs a body in a child of a context that holds as many unsaved tracks as the size says.
  private static func _withUnsavedParent(
    _ bench: GrowthBench, _ body: (NSManagedObjectContext) throws -> Void
  ) throws {
    let parent = try bench.container().newBackgroundContext()
    let child = parent.newChild()
    try child.performAndWait {
      child.insertTracks(0..<bench.size)
      try child.save()
      child.reset()
      try body(child)
    }
  }
}
