import CoreDataToolKit
import Foundation

/// Work with many at once that goes on for any time.
protocol LoadScenario: Sendable {
  /// What main shows.
  var screen: any Screen { get }

  /// Contexts that are in use at once, besides that of the main queue.
  var contexts: Int { get }

  /// Works until a time of the monotonic clock, and returns when all threads have ended.
  func work(until deadline: UInt64) throws

  /// Returns once main shows all that was saved.
  func settle() throws
}

extension LoadScenario {
  func settle() throws { try screen.settle() }
}

/// What the main queue shows to a user. Not to be called on the main queue.
protocol Screen: Sendable {
  /// Sends a block to the context of the main queue.
  func perform(_ block: @escaping @Sendable () -> Void)

  /// Returns once the context has merged what was saved before, and saved what it has.
  func settle() throws

  /// Compares what is shown, the context and the store, to which nothing is written meanwhile.
  ///
  /// - Returns: What differs, a sentence each.
  func differences() throws -> [String]
}

/// The scenarios by name.
package enum ScenarioName: String, CaseIterable, Codable, Sendable {
  case liveList1 = "live-list-1"
  case liveList10 = "live-list-10"
  case liveList100 = "live-list-100"
  case liveList1000 = "live-list-1000"
  case storm
  case screens = "editing-screens"
  case follower
  case twoProcesses = "two-processes"
  case swiftData = "swiftdata"
  case serverList = "postgresql-live-list"
  case serverStorm = "postgresql-storm"

  /// Whether the store is on a PostgreSQL server.
  var needsServer: Bool { self == .serverList || self == .serverStorm }

  /// What happens, in one line.
  package var summary: String {
    switch self {
    case .liveList1, .liveList10, .liveList100, .liveList1000:
      "a list of 2,000 rows on main, under a context that saves \(counted(_size, "object")) at a time without pause"
    case .storm: "four threads serve requests, with a context each that merges automatically; a list on main"
    case .screens:
      "three screens edit in children of main, which saves, while an import runs on the coordinator"
    case .follower:
      "a history follower merges into main what two contexts save, one of them of another coordinator"
    case .twoProcesses:
      "a second process saves into the file; a follower merges that into main, new contexts read it"
    case .swiftData:
      "four workers write through SwiftData's actors, which come and go; the main context shows all notes"
    case .serverList: "as live-list-100, with the store on a PostgreSQL server"
    case .serverStorm: "as storm, with the store on a PostgreSQL server"
    }
  }

  /// What the scenario counts as an operation, in the plural.
  package var operation: String {
    switch self {
    case .liveList1, .liveList10, .liveList100, .liveList1000, .serverList: "saves"
    case .storm, .serverStorm: "requests"
    case .screens: "screens"
    case .follower, .swiftData: "saves"
    case .twoProcesses: "reads"
    }
  }

  /// Operations a second below which the scenario has failed: a twentieth of what a debug build on two
  /// processors does.
  var floor: Double {
    switch self {
    case .liveList1: 20
    case .liveList10: 10
    case .liveList100: 3
    case .liveList1000: 0.5
    case .storm, .follower, .swiftData: 10
    case .screens, .serverList, .serverStorm: 3
    case .twoProcesses: 20
    }
  }

  private var _size: Int {
    switch self {
    case .liveList1: 1
    case .liveList10: 10
    case .liveList1000: 1000
    default: 100
    }
  }

  /// Makes the store and the contexts. Not to be called on the main queue, which must be served.
  func make(on store: LoadStore, _ instruments: Instruments) throws -> any LoadScenario {
    switch self {
    case .liveList1, .liveList10, .liveList100, .liveList1000, .serverList:
      try LiveListScenario(store, size: _size, instruments)
    case .storm, .serverStorm: try StormScenario(store, instruments)
    case .screens: try ScreensScenario(store, instruments)
    case .follower: try FollowerScenario(store, instruments)
    case .twoProcesses: try NeighborScenario(store, instruments)
    case .swiftData: try ActorsScenario(store, instruments)
    }
  }
}
