// Imports transit stops in the background, with progress, under a list that stays live. The design is one word:
//
//   swift run Transit [single|shared|nested2|nested3|sharedStore|bigNerdRanch] [number of stops]

import CoreData
import CoreDataStack
import Foundation

func transit() -> NSManagedObjectModel {
  let types: [(String, NSAttributeType)] = [
    ("identifier", .stringAttributeType), ("name", .stringAttributeType), ("latitude", .doubleAttributeType),
    ("longitude", .doubleAttributeType),
  ]
  let stop = NSEntityDescription()
  stop.name = "Stop"
  stop.properties = types.map { name, type in
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    return attribute
  }
  let model = NSManagedObjectModel()
  model.entities = [stop]
  return model
}

/// A city on a grid.
func stop(_ number: Int) -> [String: Any] {
  let street = ["Harbour", "Market", "Mill", "Castle", "Station", "Chapel", "River", "Garden"][number % 8]
  return [
    "identifier": "S\(number)", "name": "\(street) Street \(number / 8)",
    "latitude": 52.4 + Double(number % 100) / 1000,
    "longitude": 13.3 + Double(number / 100) / 1000,
  ]
}

func draw(_ progress: Progress, _ shown: Int) {
  let width = 40
  let done = Int(progress.fractionCompleted * Double(width))
  let bar = String(repeating: "#", count: done) + String(repeating: ".", count: width - done)
  print("[\(bar)] \(progress.completedUnitCount) imported, the list shows \(shown)")
}

@MainActor func run() async throws {
  let words = CommandLine.arguments.dropFirst()
  let pattern = words.first.map { StackPattern(rawValue: $0) } ?? .nested3
  guard let pattern else {
    print(
      "There is no design '\(words.first!)'. There are: \(StackPattern.allCases.map(\.rawValue).joined(separator: ", "))"
    )
    exit(64)
  }
  let total = words.dropFirst().first.flatMap { Int($0) } ?? 12_793
  let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
    "Transit-\(UUID().uuidString)")
  defer { try? FileManager.default.removeItem(at: directory) }
  let stack = try await pattern.makeStack(
    model: transit(), at: .file(directory.appendingPathComponent("Transit.sqlite")))

  let request = NSFetchRequest<NSManagedObject>(entityName: "Stop")
  request.sortDescriptors = ["name", "identifier"].map { NSSortDescriptor(key: $0, ascending: true) }
  let list = FetchedResultsController(fetchRequest: request, managedObjectContext: stack.mainContext)
  try list.performFetch()

  let progress = Progress(totalUnitCount: Int64(total))
  let begin = Date()
  for batch in stride(from: 0, to: total, by: 1000) {
    let numbers = batch..<min(batch + 1000, total)
    try await stack.performWork { context in
      for number in numbers {
        NSEntityDescription.insertNewObject(forEntityName: "Stop", into: context).setValuesForKeys(
          stop(number))
      }
    }
    progress.completedUnitCount += Int64(numbers.count)
    draw(progress, list.count)
  }
  let seconds = (Date().timeIntervalSince(begin) * 100).rounded() / 100
  print(
    "\(pattern.rawValue): \(total) stops in \(seconds) s; first by name: \(list.first?.value(forKey: "name") ?? "-")"
  )
}

try await run()
