// Imports transit stops in the background, with progress, below a list that stays live. One argument selects
// the design:
//
//   swift run Transit [single|shared|nested2|nested3|sharedStore|bigNerdRanch] [number of stops]

import CoreData
import CoreDataStacks
import Foundation

extension Stop {
  /// Fills in the stop of this number in a city on a grid.
  func fill(_ number: Int) {
    let street = ["Harbour", "Market", "Mill", "Castle", "Station", "Chapel", "River", "Garden"][number % 8]
    identifier = "S\(number)"
    name = "\(street) Street \(number / 8)"
    latitude = 52.4 + Double(number % 100) / 1000
    longitude = 13.3 + Double(number / 100) / 1000
  }
}

func draw(_ progress: Progress, _ shown: Int) {
  let width = 40
  let done = Int(progress.fractionCompleted * Double(width))
  let bar = String(repeating: "#", count: done) + String(repeating: ".", count: width - done)
  print("[\(bar)] \(progress.completedUnitCount) imported, the list shows \(shown)")
}

func fail(_ message: String) -> Never {
  FileHandle.standardError.write(Data("error: \(message)\n".utf8))
  exit(64)
}

@MainActor func run() async throws {
  let words = CommandLine.arguments.dropFirst()
  let design = words.first ?? StackPattern.nested3.rawValue
  guard let pattern = StackPattern(rawValue: design) else {
    let known = StackPattern.allCases.map(\.rawValue).joined(separator: ", ")
    fail("There is no design '\(design)'. There are: \(known).")
  }
  let count = words.dropFirst().first ?? "12793"
  guard let total = Int(count), total > 0 else { fail("'\(count)' is no number of stops.") }

  let directory = FileManager.default.temporaryDirectory.appendingPathComponent("Transit-\(UUID())")
  defer { try? FileManager.default.removeItem(at: directory) }
  let stack = try await pattern.makeStack(
    model: Bundle.main.managedObjectModel(name: "Transit"),
    at: .file(directory.appendingPathComponent("Transit.sqlite")))

  let request = NSFetchRequest<Stop>(entityName: "Stop")
  request.sortDescriptors = ["name", "identifier"].map { NSSortDescriptor(key: $0, ascending: true) }
  let list = FetchedResultsController(fetchRequest: request, managedObjectContext: stack.mainContext)
  try list.performFetch()

  let progress = Progress(totalUnitCount: Int64(total))
  let clock = ContinuousClock()
  let begin = clock.now
  for first in stride(from: 0, to: total, by: 1000) {
    let numbers = first..<min(first + 1000, total)
    try await stack.performWork { context in
      for number in numbers { Stop(context: context).fill(number) }
    }
    progress.completedUnitCount += Int64(numbers.count)
    draw(progress, list.count)
  }
  let time = (clock.now - begin).formatted(.units(allowed: [.milliseconds]))
  print("\(pattern.rawValue): \(total) stops in \(time); first by name: \(list.first?.name ?? "-")")
}

try await run()
