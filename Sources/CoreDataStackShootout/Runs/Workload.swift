/// What is imported, how, and how often.
package struct Workload: Sendable {
  /// Where the stops come from.
  package enum Source: Sendable, Equatable {
    case file(path: String)
    case generated(count: Int)
  }

  package var source: Source = .generated(count: 15000)
  package var mode = ImportMode.findOrCreate
  package var saveEvery = 250
  package var runs = 5
  /// Whether a fetched results controller of all stops by name is kept live on main.
  package var keepsLiveList = false
  package var stacks = StackDesign.allCases

  package init() {}

  /// `PRAGMA synchronous` of floor and stacks alike.
  package static let synchronous = "NORMAL"
}
