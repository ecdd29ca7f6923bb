/// What explains a line of the verdict: a paragraph on the page, and the article of the documentation that says more.
enum Article: String, CaseIterable, Sendable {
  case designs, frames, totals, screens, batches, prefetching, indexes, replays

  var title: String {
    switch self {
    case .designs: "Which design"
    case .frames: "Main's frames"
    case .totals: "Totals"
    case .screens: "Screens beside an import"
    case .batches: "Batch sizes"
    case .prefetching: "Prefetching"
    case .indexes: "Fetch indexes"
    case .replays: "Replays"
    }
  }

  /// The article of the documentation.
  var document: String {
    switch self {
    case .designs: "Choosing a stack"
    case .frames, .totals, .screens, .replays: "The shootout"
    case .batches, .prefetching, .indexes: "Slow fetches"
    }
  }

  var text: String {
    switch self {
    case .designs:
      "Where a save writes decides what main has to do. Nested contexts hand changes up by values, main always has the latest, and a "
        + "writer below writes. Independent contexts write at once, and main merges each save. Two coordinators share no cached "
        + "rows: for imports beyond the memory, and for several processes. The recommendation asks for main's frames first, then "
        + "that main is free for half of the time, then for the total; of equal designs it takes the one with the fewest contexts and saves."
    case .frames:
      "A screen that is drawn sixty times a second has 16.7 ms for each picture. A block of main that takes longer drops frames: a list "
        + "stutters, a tap waits. Save fewer objects at once, or work in a background context."
    case .totals:
      "The median time until all is stored and main knows of it. The runs of all designs alternate, so that the machine was the same for "
        + "them; totals that differ by less than a tenth, or by less than the runs themselves, are equal."
    case .screens:
      "What a user waits for while an import runs: main's turn, and a connection to the store. Smaller saves and merges give main back sooner."
    case .batches:
      "A fetch with fetchBatchSize reads the IDs of all rows, and the rows themselves a page at a time when they are shown. Set it to the rows "
        + "on screen for lists that are scrolled."
    case .prefetching:
      "A row that shows what a relationship leads to reads it alone, one statement for each row. With "
        + "relationshipKeyPathsForPrefetching it is read for all rows in one."
    case .indexes:
      "Without an index that begins with what is compared and goes on with what is sorted, the database reads all rows, and sorts them before it "
        + "returns the first. Add a fetch index to the entity; an existing store gets it when it is migrated."
    case .replays:
      "Each context of the recording is one of the design, and each step begins when those have ended that had ended before it. Counts "
        + "that differ from the recording tell that something the program did is not in it, such as changes by other processes."
    }
  }

  /// What a changed screen is explained by.
  init(_ advice: ScreenAdvice) {
    self =
      advice.change.hasPrefix("prefetching")
      ? .prefetching : advice.change.hasPrefix("a fetch index") ? .indexes : .batches
  }
}
