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
  /// Form of the file; nil to tell it by name and content.
  var form: RecordReader.Form?

  /// Reads records from a file.
  func read(_ path: String, name: String? = nil) throws -> (RecordPlan, RecordFeed) {
    let plan = try RecordPlan(modelPath: modelPath, entity: entity, keys: keys)
    let feed = try RecordReader(plan: plan).read(path: path, name: name ?? path, form ?? .ndjson)
    return (plan, feed)
  }
}
