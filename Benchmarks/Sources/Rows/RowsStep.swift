import Measuring

/// What is done with a store of many rows, in this order, each step in processes of its own. `Scripts/benchmark rows --help` shows these
/// lines.
enum RowsStep: String, Codable, CaseIterable {
  /// Objects, a save and a reset every 2,000.
  case importObjects = "import"
  /// NSBatchInsertRequest, a million rows each, into a store of its own.
  case importBatch = "import-batch"
  /// Opening the store, and the first object.
  case open
  /// Count of all.
  case countAll = "count-all"
  /// Count of a thousandth, by an index.
  case countIndex = "count-index"
  /// Count by an attribute without an index.
  case countScan = "count-scan"
  /// 50 of a sensor by moment, by an index of both.
  case pageFirst = "page-first"
  /// 50 of all by sensor and moment, half the rows skipped.
  case pageMiddle = "page-middle"
  /// 50 in the middle, by the last key seen.
  case pageKey = "page-key"
  /// Sum and maximum of an attribute, computed by SQLite.
  case sum
  /// All objects, 10,000 at a time by key.
  case walk
  /// All object IDs in one array.
  case ids
  /// NSBatchUpdateRequest for a tenth.
  case updateTenth = "update-tenth"
  /// The same, which returns the IDs.
  case updateTenthIDs = "update-tenth-ids"
  /// A tenth fetched, deleted and saved, 1,000 objects at a time.
  case deleteObjects = "delete-objects"
  /// NSBatchDeleteRequest for a tenth.
  case deleteTenth = "delete-tenth"
  /// Lightweight migration: one attribute more.
  case addAttribute = "migrate-add"
  /// Lightweight migration: another type of an indexed attribute.
  case changeType = "migrate-type"

  /// Whether the step changes its store, which is then compared; its time includes closing the store.
  var changesStore: Bool {
    switch self {
    case .importObjects, .importBatch, .updateTenth, .updateTenthIDs, .deleteObjects, .deleteTenth,
      .addAttribute, .changeType:
      true
    default: false
    }
  }

  /// Whether an import's bound on memory holds.
  var isImport: Bool { self == .importObjects || self == .importBatch }

  /// Whether the time includes opening the store.
  var timesOpening: Bool { self == .open || self == .addAttribute || self == .changeType }

  /// Whether what the caller asks for is as large as the rows are many.
  var returnsRows: Bool { self == .ids || self == .updateTenthIDs }

  /// The model's version that the store has after the step.
  var versionAfter: ReadingVersion {
    switch self {
    case .addAttribute: .withQuality
    case .changeType: .ofOtherType
    default: .first
    }
  }
}

/// Versions of the readings' model.
enum ReadingVersion: Int, Codable {
  case first
  /// With an optional attribute more.
  case withQuality
  /// With sensors as doubles.
  case ofOtherType
}

/// The readings of 1,000 sensors, one a second each, in the order in which they came in: twenty of a sensor at a time.
enum ReadingValues {
  static let sensors = 1000
  /// Objects inserted between two saves.
  static let batch = 2000

  private static let _together = 20

  static func sensor(_ number: Int) -> Int { number / _together % sensors }
  /// Seconds since the reference date.
  static func moment(_ number: Int) -> Double {
    Double(number / (_together * sensors) * _together + number % _together)
  }
  static func value(_ number: Int) -> Double { Double(number &* 2_654_435_761 % 1_000_003) / 10_000 }
  /// One reading of seven has a note.
  static func hasNote(_ number: Int) -> Bool { number % 7 == 0 }
  static func note(_ number: Int) -> String { "checked \(number)" }

  /// The moment after which `pageKey` asks for a sensor's readings.
  static func middle(_ rows: Int) -> Double { moment(rows / 2) }
}

/// What a process is asked to do with a store of many rows; it travels as an argument.
struct RowsJob: Codable {
  var step: RowsStep
  var side: Side
  var rows: Int
  var directory: String

  /// The step's store.
  var path: String {
    "\(directory)/\(side.rawValue)-\(rows)\(step == .importBatch ? "-batch" : "").sqlite"
  }
}
