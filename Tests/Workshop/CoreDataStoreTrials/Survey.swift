import CoreData
import Foundation

/// One store of a collection with all trials, as a line of a table.
package struct Survey {
  package let row: String
  /// The findings of the trials, in words.
  package private(set) var differences: [String] = []

  package static let header = """
    | store | version | model | entities | rows | cells equal | round trip | tables as made here |
    | --- | --- | --- | --- | --- | --- | --- | --- |

    """

  package init(_ store: CorpusStore) {
    do {
      let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
        ofType: NSSQLiteStoreType, at: store.url)
      let version = (metadata["NSPersistenceFrameworkVersion"] as? NSNumber)?.intValue ?? 0
      let model = try NSManagedObjectModel.load(fromStoreAt: store.url)
      let origin = model.isReconstructedFromTables ? "tables" : "inside"
      let (copy, reference) = (try StoreCopy(of: store.url), try StoreCopy(of: store.url))
      let before = try copy.contents()
      let read = try ReadTrial(copy.url, model: model, reference: reference.url)
      var found = read.differences
      if try copy.contents() != before { found.append("reading changed a file") }
      let trip = Self._roundTrip(store, model, &found)
      let schema = try Self._schema(store, model, version, &found)
      differences = found
      row =
        "| \(store.name) | \(version) | \(origin) | \(read.entities) | \(read.rows) | "
        + "\(read.differences.isEmpty ? "all \(read.cells)" : "\(read.differences.count) differ") | \(trip) | \(schema) |"
    } catch {
      row = "| \(store.name) | | | | | refused with error \((error as NSError).code) | | |"
      differences = [error.debugText]
    }
  }

  private static func _roundTrip(_ store: CorpusStore, _ model: NSManagedObjectModel, _ found: inout [String])
    -> String
  {
    if model.isReconstructedFromTables { return "read-only" }
    do {
      let copy = try StoreCopy(of: store.url)
      let trip = try RoundTrip(copy.url, model: model)
      found += trip.differences
      return trip.differences.isEmpty
        ? "exact (\(trip.inserted) in, \(trip.updated) changed, \(trip.deleted) out)"
        : "\(trip.differences.count) differ"
    } catch {
      found.append("\(error)")
      return "refused with error \((error as NSError).code)"
    }
  }

  private static func _schema(
    _ store: CorpusStore, _ model: NSManagedObjectModel, _ version: Int, _ found: inout [String]
  ) throws -> String {
    if model.isReconstructedFromTables { return "" }
    let trial = try SchemaTrial(store.url, model: model, frameworkVersion: version)
    let rules = trial.rules.map(\.rawValue).joined(separator: ", ")
    if trial.isEqual { return rules.isEmpty ? "equal" : "equal but for: \(rules)" }
    found += trial.missing.map { "- \($0)" } + trial.extra.map { "+ \($0)" }
    if trial.missing.isEmpty && trial.extra.isEmpty { return "equal but for: order" }
    return "\(trial.missing.count + trial.extra.count) differ"
  }
}
