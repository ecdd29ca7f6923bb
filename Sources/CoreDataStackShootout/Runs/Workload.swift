import CoreDataToolKit
import Foundation

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

  /// Whether the stores are on a server.
  var isOnServer = false

  /// Whether the same work is also done without Core Data: not that of a recording, and records on a server only through it.
  var hasFloor: Bool {
    switch source {
    case .file, .generated: true
    case .records: !isOnServer
    case .replay: false
    }
  }

  /// Whether a recording is replayed.
  var isReplay: Bool { if case .replay = source { true } else { false } }

  /// The name of an input in reports: a file's last component, and a URL without its password.
  static func name(ofInput path: String) -> String {
    path == "-"
      ? "standard input"
      : ServerStore.isURL(path) ? ServerStore.name(path) : (path as NSString).lastPathComponent
  }

  /// A number of lines of the input, in words.
  func counted(_ count: Int) -> String {
    if isReplay { return CoreDataToolKit.counted(count, "event") }
    guard case .records(let input) = source else { return CoreDataToolKit.counted(count, "stop") }
    return CoreDataToolKit.counted(count, input.spansEntities ? "record" : "\(input.entity) record")
  }
}
