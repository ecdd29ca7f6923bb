import Foundation
import SwiftData

/// Models of SwiftData, whose relationships are arrays.
extension GrowthCase {
  static var models: [GrowthCase] {
    [
      GrowthCase("model-insert", "A model inserted and saved, n at once.", size: 1000, short: 200) { bench in
        let context = ModelContext(try bench.modelContainer())
        try bench.measure(units: bench.size) {
          context.insertSongs(0..<bench.size)
          try context.save()
        }
        try bench.expect(context.fetchCount(FetchDescriptor<Song>()), bench.size)
      },
      GrowthCase(
        "model-change", "A model changed and saved, n registered.", size: 1000, short: 200, law: .uncached
      ) { bench in
        let context = try bench.contextOfSongs()
        let songs = try context.fetch(FetchDescriptor<Song>(sortBy: [SortDescriptor(\.number)]))
        try bench.measure(units: 100) {
          for number in 0..<100 {
            songs[number].plays += 1
            try context.save()
          }
        }
        try bench.expect(songs.reduce(0) { $0 + $1.plays }, 100)
      },
      GrowthCase(
        "model-append", "A member appended to an array of n, and the array counted.", size: 500, short: 100,
        law: .linear
      ) { bench in
        // The array that is read is a value: the next append copies it.
        let (context, record) = try bench.contextOfRecord()
        var counted = 0
        bench.measure(units: 50) {
          for number in 0..<50 {
            record.songs.append(Song(number: number, title: "New"))
            counted += record.songs.count
          }
        }
        try bench.expect(counted, 50 * bench.size + 50 * 51 / 2)
        try bench.expect(context.hasChanges, true)
      },
      GrowthCase(
        "model-owner", "A song's record set to one with n songs, and saved.", size: 500, short: 100
      ) { bench in
        let (context, record) = try bench.contextOfRecord()
        try bench.measure(units: 50) {
          for number in 0..<50 {
            let song = Song(number: number, title: "New")
            context.insert(song)
            song.record = record
            try context.save()
          }
        }
        try bench.expect(record.songs.count, bench.size + 50)
      },
      GrowthCase(
        "model-pending", "A page of 20 models with one unsaved, n rows.", size: 10_000, short: 1000
      ) { bench in
        let context = try bench.contextOfSongs()
        context.insertSongs(0..<1)
        var found = 0
        try bench.measure(units: 100) {
          for number in 0..<100 {
            let (low, high) = (number * 5, number * 5 + 20)
            found += try context.fetch(
              FetchDescriptor<Song>(
                predicate: #Predicate { $0.number >= low && $0.number < high },
                sortBy: [SortDescriptor(\.number)])
            ).count
          }
        }
        try bench.expect(found, 2001)
      },
      GrowthCase(
        "model-delete", "A model deleted by delete(model:), all n.", size: 5000, short: 500
      ) { bench in
        let context = try bench.contextOfSongs()
        try bench.measure(units: bench.size) {
          try context.delete(model: Song.self, where: #Predicate { $0.number >= 0 })
          try context.save()
        }
        try bench.expect(context.fetchCount(FetchDescriptor<Song>()), 0)
      },
      GrowthCase(
        "model-history", "SwiftData's transactions since a token, n before it.", size: 500, short: 100
      ) { bench in
        let context = ModelContext(try bench.modelContainer())
        let song = context.insertSongs(0..<1)[0]
        for _ in 0..<bench.size {
          song.plays += 1
          try context.save()
        }
        guard let token = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).last?.token
        else { throw GrowthBench.Failure(description: "there is no history") }
        for _ in 0..<20 {
          song.plays += 1
          try context.save()
        }
        var found = 0
        try bench.measure(units: 20) {
          for _ in 0..<20 {
            found += try context.fetchHistory(
              HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > token })
            ).count
          }
        }
        try bench.expect(found, 400)
      },
    ]
  }
}

@Model final class Record {
  var title: String
  @Relationship(inverse: \Song.record) var songs: [Song] = []

  init(title: String) { self.title = title }
}

@Model final class Song {
  #Index<Song>([\.number])
  var number: Int
  var plays: Int = 0
  var title: String
  var record: Record?

  init(number: Int, title: String) {
    self.number = number
    self.title = title
  }
}

extension GrowthBench {
  fileprivate func modelContainer() throws -> ModelContainer {
    try ModelContainer(for: Song.self, Record.self, configurations: ModelConfiguration(url: newPlace()))
  }

  /// A context over such a store, and a record that has all songs.
  fileprivate func contextOfRecord() throws -> (ModelContext, Record) {
    let context = try contextOfSongs()
    let record = Record(title: "A")
    context.insert(record)
    record.songs = try context.fetch(FetchDescriptor<Song>())
    try context.save()
    return (context, record)
  }

  /// A context over a store with as many songs as the size says, numbered from 0.
  fileprivate func contextOfSongs() throws -> ModelContext {
    let container = try modelContainer()
    let filling = ModelContext(container)
    filling.autosaveEnabled = false
    filling.insertSongs(0..<size)
    try filling.save()
    let context = ModelContext(container)
    context.autosaveEnabled = false
    return context
  }
}

extension ModelContext {
  /// Inserts a song for each number.
  @discardableResult
  fileprivate func insertSongs(_ numbers: Range<Int>) -> [Song] {
    numbers.map { number in
      let song = Song(number: number, title: "Song \(number)")
      insert(song)
      return song
    }
  }
}
