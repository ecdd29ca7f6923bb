import CoreDataModelSchema
import Foundation

/// A store that is opened with another version of its model than it was saved with, as its kind migrates it.
///
/// What is the same for every kind, which models are meant and which way leads from one to the other, is
/// `AutomaticMigration`'s and `StagedMigration`'s.
package protocol MigratingStore {
  var url: URL { get }
  /// The store's type.
  var type: String { get }
  /// How messages call the store's place.
  var place: String { get }
  var metadata: [String: Any] { get }
  var options: [AnyHashable: Any]? { get }

  /// The copy of the model that the store keeps; nil where there is none that can be read.
  func keptSchema() throws -> ModelSchema?

  /// The metadata, unless another process has migrated the store while this one waited.
  func metadataIfUnchanged() throws -> [String: Any]?

  /// Rewrites the tables for another version of the model, in one transaction.
  ///
  /// - Throws: A Cocoa error: 134111 when objects violate a uniqueness constraint, 134110 when objects lack a mandatory
  ///   value or the database refuses.
  func rewrite(from source: ModelSchema, to frozen: FrozenModel, _ model: NSManagedObjectModel) throws

  /// Has `body` make a store at a URL, and puts its content in the place of this one's in one transaction. Nothing is done
  /// when another process has migrated the store.
  func replaceContent(_ body: (URL) throws -> Void) throws

  /// Copies the store as it is, inside `replaceContent`.
  func copy(to url: URL) throws

  /// As `rewrite`, of a copy.
  func rewriteCopy(at url: URL, from source: ModelSchema, to model: NSManagedObjectModel) throws

  /// Adds what a program has put into the metadata to those of a copy.
  func addMetadata(_ own: [String: Any], at url: URL) throws
}

extension MigratingStore {
  /// A Cocoa error about the store.
  package func failure(_ code: Int, _ what: String, _ info: [String: Any] = [:]) -> any Error {
    var info = info
    info[NSURLErrorKey] = url
    info["metadata"] = metadata
    return CocoaError.coreData(code, "The store at \(place) \(what)", info)
  }

  /// The keys are those of Core Data's error: what is missing stands in the underlying one.
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

  /// What a database says of objects that a uniqueness constraint of the new version forbids, or of anything else.
  package func failure(_ error: any Error, isConstraint: Bool) -> any Error {
    failure(
      isConstraint ? NSMigrationConstraintViolationError : NSMigrationError,
      isConstraint
        ? "has objects that are in the way of a uniqueness constraint: \(error). Remove all but one of them first."
        : "could not be migrated: \(error).", [NSUnderlyingErrorKey: error])
  }

  /// - Throws: A Cocoa error with code 134140 when the change between two versions cannot be inferred.
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
