import CoreData
import CoreDataModelFiles
import CoreDataModelSchema
import CoreDataToolKit
import Foundation

/// The model for reading a store, and its origin.
package struct StoreModel {
  package let schema: ModelSchema
  /// In words, for users.
  package let origin: String
  /// Differences from the store's version hashes; nil if they match, or there are none.
  package let differences: String?
  /// Whether it is a real model, not one guessed from tables.
  package var isExact = true

  /// Loads the model in a file; of several versions the one with which the store was written.
  ///
  /// - Parameters:
  ///   - path: `.xcdatamodeld`, `.xcdatamodel`, `.momd`, `.mom`, or another store.
  ///   - metadata: The store's metadata.
  /// - Throws: `ToolFailure`.
  package static func load(_ path: String, for metadata: [String: Any]) throws(ToolFailure) -> StoreModel {
    let input = try SpooledInput(path: path)
    do throws(ToolFailure) {
      return try _load(input.path, metadata)
    } catch {
      throw input.naming(error)
    }
  }

  private static func _load(_ path: String, _ metadata: [String: Any]) throws(ToolFailure) -> StoreModel {
    if FileExamination.isDatabase(path) {
      let other = try StoreModel.inside(path)
      return StoreModel(
        schema: other.schema, origin: "from the store \(path)",
        differences: try _differences(other.schema, metadata),
        isExact: other.isExact)
    }
    let current: ModelSchema
    do {
      current = try ModelFile.load(path: path)
    } catch {
      // A directory of several versions without a current one may still contain the right one.
      if let match = try _matchingVersion(path, metadata) { return match }
      let isMissing = (error as? ModelFileError)?.reason == "there is no such file"
      throw isMissing
        ? ToolFailure(.noInput, "There is no file '\(path)'.") : ToolFailure(.badInput, "\(error).")
    }
    let differences = try _differences(current, metadata)
    if differences != nil, let match = try _matchingVersion(path, metadata) { return match }
    return StoreModel(schema: current, origin: "from \(path)", differences: differences)
  }

  private static func _matchingVersion(_ path: String, _ metadata: [String: Any]) throws(ToolFailure)
    -> StoreModel?
  {
    guard metadata["NSStoreModelVersionHashes"] is [String: Any],
      let versions = try? ModelVersions(path: path)
    else {
      return nil
    }
    for version in versions.versions {
      guard let schema = try? ModelFile.load(path: version.path) else { continue }
      if try _differences(schema, metadata) == nil {
        return StoreModel(schema: schema, origin: "from \(path), version '\(version.name)'", differences: nil)
      }
    }
    return nil
  }

  private static func _differences(
    _ schema: ModelSchema, _ metadata: [String: Any]
  ) throws(ToolFailure) -> String? {
    do {
      return try StoreFileFacts.versionDifferences(model: schema, metadata: metadata)
    } catch {
      throw ToolFailure(.badInput, "The model cannot be used: \(error).")
    }
  }

  /// The model stored in a store.
  ///
  /// - Throws: `ToolFailure`.
  static func inside(_ path: String) throws(ToolFailure) -> StoreModel {
    do {
      let found = try StoreFileFacts.model(path: path)
      return StoreModel(
        schema: found.schema,
        origin: found.isExact
          ? "inside the store"
          : "put together from the tables, for the store holds none: all names but those of entities "
            + "are guesses",
        differences: nil, isExact: found.isExact)
    } catch {
      throw StoreInput.failure(error, path)
    }
  }

  /// For commands that write: a model reconstructed from tables is not sufficient.
  package func expectExact(_ path: String) throws(ToolFailure) {
    guard !isExact else { return }
    throw ToolFailure(
      .badInput,
      "'\(path)' holds no model, and what its tables tell is not enough to write by. Give the model: "
        + "'--model FILE'.")
  }
}
