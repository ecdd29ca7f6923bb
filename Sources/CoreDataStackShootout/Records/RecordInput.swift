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
  }

  /// A model, or a store that has one inside.
  var modelPath: String
  var entity: String
  /// Attributes as `number` or `Customer.number`.
  var keys: [String]
  var origin: Origin
  /// The form of what the runs read.
  var form = ExchangeForm.ndjson

  func plan() throws -> RecordPlan { try RecordPlan(modelPath: modelPath, entity: entity, keys: keys) }

  /// Reads the records that a run imports.
  func makeWork(_ path: String) throws -> RecordWork {
    let plan = try plan()
    return RecordWork(
      plan: plan, records: try RecordReader(plan: plan).read(SpooledInput(path: path), form).records)
  }
}
