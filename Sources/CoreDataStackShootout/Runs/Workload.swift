import CoreDataToolKit

/// The import to run: its input, its mode and the number of runs.
package struct Workload: Sendable {
  /// The source of the stops.
  package enum Source: Sendable, Equatable {
    case file(path: String)
    case generated(count: Int)
    case records(RecordInput)
    case replay(ReplayInput)
  }

  package var source: Source = .generated(count: 15000)
  package var mode = ImportMode.findOrCreate
  package var saveEvery = 250
  package var runs = 5
  /// Whether a run keeps a fetched results controller of all stops by name live on main.
  package var keepsLiveList = false
  package var stacks = StackDesign.allCases
  /// The screens that are opened when everything is imported.
  var screens: [Screen] = []

  package init() {}

  /// Whether a recording is replayed, which has no floor.
  var isReplay: Bool { if case .replay = source { true } else { false } }

  /// A number of lines of the input, in words.
  func counted(_ count: Int) -> String {
    if isReplay { return CoreDataToolKit.counted(count, "event") }
    guard case .records(let input) = source else { return CoreDataToolKit.counted(count, "stop") }
    return CoreDataToolKit.counted(count, input.spansEntities ? "record" : "\(input.entity) record")
  }
}
