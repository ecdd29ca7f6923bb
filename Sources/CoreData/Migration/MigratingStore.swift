import CoreDataModelSchema
import Foundation

/// A store opened with another model version than it was saved with, and its kind's way of migrating it.
///
/// The parts common to all kinds, finding the models and the steps between them, are in `AutomaticMigration`
/// and `StagedMigration`.
package protocol MigratingStore {
  var url: URL { get }
  /// The store's type.
  var type: String { get }
  /// The store's location in messages.
  var place: String { get }
  var metadata: [String: Any] { get }
  var options: [AnyHashable: Any]? { get }
  /// Whether programs of several versions may use the store at once: it is a server's, not a file.
  var isServed: Bool { get }

  /// The store's copy of its model; nil without a readable one.
  func keptSchema() throws -> ModelSchema?

  /// Whether the store keeps what another version leaves out for programs that have it.
  func keepsWhatIsLeftOut(from source: ModelSchema, to frozen: FrozenModel) throws -> Bool

  /// Returns the metadata, unless another process has migrated the store while this one waited.
  func metadataIfUnchanged() throws -> [String: Any]?

  /// Rewrites the tables for another version of the model, in one transaction.
  ///
  /// - Throws: A Cocoa error: 134111 if objects violate a uniqueness constraint, 134110 if objects lack a
  ///   mandatory value or for any other database error.
  func rewrite(from source: ModelSchema, to frozen: FrozenModel, _ model: NSManagedObjectModel) throws

  /// Lets `body` create a store at a URL, whose content then replaces this one's in one transaction. Does
  /// nothing if another process has migrated the store.
  func replaceContent(_ body: (URL) throws -> Void) throws

  /// Copies the store unchanged, inside `replaceContent`.
  func copy(to url: URL) throws

  /// Like `rewrite`, for a copy.
  func rewriteCopy(at url: URL, from source: ModelSchema, to model: NSManagedObjectModel) throws

  /// Adds the program's own metadata to a copy.
  func addMetadata(_ own: [String: Any], at url: URL) throws
}

extension MigratingStore {
  /// Returns a Cocoa error about the store.
  package func failure(_ code: Int, _ what: String, _ info: [String: Any] = [:]) -> any Error {
    var info = info
    info[NSURLErrorKey] = url
    info["metadata"] = metadata
    return CocoaError.coreData(code, "The store at \(place) \(what)", info)
  }

  /// The keys are those of Core Data's error; the underlying error names the missing values.
  package func failure(_ error: MissingValuesError) -> any Error {
    let cause = CocoaError.coreData(
      NSMigrationError, "\(error).",
      ["entity": error.entity, "attribute": error.attribute, "reason": MissingValuesError.reason])
    return failure(
      NSMigrationError,
      "could not be migrated: '\(error.entity).\(error.attribute)' is mandatory in the new version, has no default, and "
        + "there are objects without a value. Give it a default, make it optional, or add a mapping model.",
      [
        NSUnderlyingErrorKey: cause, "reason": "Cannot migrate store in-place: \(MissingValuesError.reason)",
        "sourceURL": url, "destinationURL": url,
      ])
  }

  /// Translates a database error: a violated uniqueness constraint of the new version, or any other.
  package func failure(_ error: any Error, isConstraint: Bool) -> any Error {
    failure(
      isConstraint ? NSMigrationConstraintViolationError : NSMigrationError,
      isConstraint
        ? "has objects that are in the way of a uniqueness constraint: \(error). Remove all but one of them first."
        : "could not be migrated: \(error).", [NSUnderlyingErrorKey: error])
  }

  /// - Throws: A Cocoa error with code 134140 if the mapping between two versions cannot be inferred.
  package func checkInference(from source: ModelSchema, to destination: ModelSchema) throws {
    do {
      try InferenceCheck.check(from: source, to: destination)
    } catch let underlying as CocoaError {
      let reasons = underlying.userInfo[NSLocalizedFailureReasonErrorKey] as? String ?? ""
      throw failure(
        NSMigrationMissingMappingModelError, "cannot be migrated without a mapping of its own: \(reasons).",
        [NSUnderlyingErrorKey: underlying, "reason": reasons])
    }
  }
}
