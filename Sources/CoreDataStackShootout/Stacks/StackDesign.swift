/// The stack designs that are compared.
package enum StackDesign: String, Sendable, CaseIterable, Codable {
  case main
  case nested2
  case nested3
  case shared
  case sharedStore = "shared-store"

  /// A short title for tables and pages.
  package var title: String {
    switch self {
    case .main: "Main context alone"
    case .nested2: "Background context under main"
    case .nested3: "Writer, main, worker"
    case .shared: "Two contexts, one coordinator"
    case .sharedStore: "Two coordinators, one file"
    }
  }

  /// A one-sentence description.
  package var summary: String {
    switch self {
    case .main:
      "The import runs in the main-queue context itself: what not to do."
    case .nested2:
      "The main context is connected to the store and the importing context is its child; main saves to disk."
    case .nested3:
      "A private writer context on the store, main as its child, the importing worker as main's child; "
        + "each save climbs one level and only the writer meets the disk."
    case .shared:
      "Independent main and background contexts on one coordinator; each save is merged into main."
    case .sharedStore:
      "Two stacks that share nothing but the file; after each save main drops what it knew, then counts the rows "
        + "and fetches the first fifty again, as a list on screen would. Under a live list it merges the save instead."
    }
  }
}
