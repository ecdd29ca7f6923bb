import CoreDataStoreTools
import CoreDataToolKit

/// How records are read: the model, their entity, the keys, and where they come from.
package struct RecordInput: Sendable, Codable, Equatable {
  /// Where records come from.
  package enum Origin: Sendable, Codable, Equatable {
    /// A file, or "-".
    case file(path: String)
    /// So many objects with plausible values.
    case made(count: Int)
    /// All objects of a store, or of "-".
    case store(path: String)
  }

  /// A model, or a store that has one inside.
  var modelPath: String
  /// The entity of the records; of a store's, the one that is listed.
  var entity: String
  /// Attributes as `number` or `Customer.number`.
  var keys: [String]
  var origin: Origin
  /// The form of what the runs read.
  var form = ExchangeForm.ndjson
  /// Properties that may be empty although the model says that they are mandatory, as `Order.number`.
  var relaxed: [String] = []

  /// Whether the records are of all entities of the model.
  var spansEntities: Bool { if case .store = origin { true } else { false } }

  func plan() throws -> RecordPlan {
    try RecordPlan(
      modelPath: modelPath, entity: entity, keys: keys, spansEntities: spansEntities, relaxed: relaxed)
  }

  /// Reads the records that a run imports.
  func makeWork(_ path: String) throws -> RecordWork {
    let plan = try plan()
    return RecordWork(plan: plan, feed: try RecordReader(plan: plan).read(SpooledInput(path: path), form))
  }
}
