import CoreData
import CoreDataPostgreSQLBinding
import Foundation

/// Errors of a PostgreSQL store, apart from conflicts and constraint violations.
enum PostgreSQLStoreError: StoreFailure, Sendable, CustomStringConvertible {
  /// The URL is not that of a store.
  case address(String)
  /// An option has an invalid value.
  case option(String, reason: String)
  /// The server cannot be reached, or refuses the connection.
  case connection(PostgreSQLError)
  /// The schema contains no store, or not the expected one.
  case noStore(schema: String, reason: String)
  /// The schema lacks what the model needs, or the role lacks rights.
  case incomplete(schema: String, missing: [String])
  /// The model cannot be laid out in tables.
  case model(entity: String, property: String?, reason: String)
  /// The schema lacks a collation for localized order.
  case noCollation(PostgreSQLError)
  /// The store was opened for reading only.
  case readOnly(schema: String)
  /// A newer version of the model has made the store unusable for this one.
  case outdated(schema: String, epoch: Int64, needed: Int64, since: String?)
  /// Timed out waiting for a lock or a connection.
  case timeout(String)
  /// The engine was closed.
  case closed
  /// The server refused a statement.
  case server(PostgreSQLError)
  /// The connection was lost during the save's commit, and the outcome could not be determined.
  case unknownOutcome(PostgreSQLError)
  /// The program's own part of a save is not possible.
  case work(String)
  /// A query generation that the server no longer keeps.
  case generationGone(String)
  /// A row that is invalid for the model.
  case corruptRow(table: String, key: Int64, reason: String)
  /// A value that cannot be stored in this property.
  case unstorable(entity: String, property: String, reason: String)

  var cocoaCode: Int {
    switch self {
    case .address, .connection, .option: NSPersistentStoreOpenError
    case .noStore: NSPersistentStoreTypeMismatchError
    case .outdated: NSPersistentStoreIncompatibleVersionHashError
    case .model, .incomplete: NSPersistentStoreIncompatibleSchemaError
    case .readOnly: CocoaError.Code.fileWriteNoPermission.rawValue
    case .timeout: NSPersistentStoreTimeoutError
    case .closed, .server, .noCollation, .work: NSPersistentStoreOperationError
    case .generationGone: NSPersistentStoreOperationError
    case .unknownOutcome: NSPersistentStoreSaveError
    case .corruptRow: CocoaError.Code.fileReadCorruptFile.rawValue
    case .unstorable: NSManagedObjectReferentialIntegrityError
    }
  }

  private var _reported: PostgreSQLError? {
    switch self {
    case .connection(let error), .server(let error), .unknownOutcome(let error), .noCollation(let error):
      error
    default: nil
    }
  }

  /// Adds the server's SQLSTATE to the user info, under `PostgreSQLStateErrorKey`.
  func describe(in info: inout [String: Any]) {
    guard let error = _reported else { return }
    info[NSUnderlyingErrorKey] = NSError(
      domain: PostgreSQLErrorDomain, code: 0,
      userInfo: [NSLocalizedDescriptionKey: "\(error)", PostgreSQLStateErrorKey: error.state ?? ""])
  }

  var description: String {
    switch self {
    case .address(let text): text
    case .option(let name, let reason): "\(name): \(reason)"
    case .connection(let error): "no connection to the PostgreSQL server: \(error.message)"
    case .noStore(let schema, let reason):
      "the schema '\(schema)' holds no store that can be opened: \(reason)"
    case .incomplete(let schema, let missing):
      "the schema '\(schema)' is not what this model needs: \(missing.prefix(20).joined(separator: "; "))"
        + (missing.count > 20 ? "; and \(missing.count - 20) more" : "")
        + ". 'coredata postgres schema' prints what it must have"
    case .model(let entity, let property, let reason):
      "\(entity)\(property.map { "." + $0 } ?? ""): \(reason)"
    case .noCollation(let error):
      "the store cannot sort by the rules of a language (\(error.message)): the server has no ICU, or the store was "
        + "created for another locale. Sort with 'compare:' or 'caseInsensitiveCompare:', or have the schema's "
        + "owner create the collation"
    case .readOnly(let schema): "the store in the schema '\(schema)' was opened for reading only"
    case .outdated(let schema, let epoch, let needed, let since):
      "this program's version of the model is number \(epoch) of the store in the schema '\(schema)', which "
        + "needs number \(needed) since \(since ?? "a migration"). Start the program that has it"
    case .timeout(let reason): "the store is busy: \(reason)"
    case .closed: "the store was removed or closed; add it again before using its objects"
    case .server(let error): "\(error)"
    case .unknownOutcome(let error):
      "the connection was lost while the save was committed, and the server cannot be asked whether it was "
        + "(\(error.message)). Read the objects again before saving once more"
    case .work(let reason): "a save with SQL cannot do this: \(reason)"
    case .generationGone(let reason):
      "the query generation is gone (\(reason)); pin the context to the current one"
    case .corruptRow(let table, let key, let reason): "row \(key) of \(table) cannot be read: \(reason)"
    case .unstorable(let entity, let property, let reason):
      "\(entity).\(property) cannot be stored: \(reason)"
    }
  }

  /// What opening a store would add or replace, and the role may not.
  static func needsOwner(_ what: String, schema: String, _ error: PostgreSQLError) -> PostgreSQLStoreError {
    .noStore(
      schema: schema, reason: "\(what) (\(error.message)); have the schema's owner open the store once")
  }

  /// A row of an entity that the program's model does not have: a newer version of the model has added it.
  static func unknownEntity(_ number: Int64, table: String, key: Int64) -> PostgreSQLStoreError {
    .corruptRow(
      table: table, key: key,
      reason:
        "the model has no entity number \(number); if a newer version of it has, start the newer program")
  }

  /// Returns what the connection's error is for the store; other errors unchanged.
  static func translated(_ error: any Error) -> any Error {
    do {
      return try translating { throw error }
    } catch {
      return error
    }
  }

  /// Runs `body` and converts the connection's errors to store errors.
  static func translating<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as PostgreSQLError {
      if error.isBusy { throw PostgreSQLStoreError.timeout(error.message) }
      if error.isMissingObject, PostgreSQLCollations.isNamed(in: error.message) {
        throw PostgreSQLStoreError.noCollation(error)
      }
      throw error.state == nil ? PostgreSQLStoreError.connection(error) : PostgreSQLStoreError.server(error)
    } catch let error as PostgreSQLDeadlineError {
      throw PostgreSQLStoreError.timeout("\(error)")
    } catch let error as PostgreSQLPool.ExhaustedError {
      throw PostgreSQLStoreError.timeout("\(error)")
    } catch is PostgreSQLPool.ClosedError {
      throw PostgreSQLStoreError.closed
    }
  }
}

/// Domain of the errors that a PostgreSQL server reports, which are underlying errors of Core Data's.
public let PostgreSQLErrorDomain = "PostgreSQLErrorDomain"

/// Key for the SQLSTATE in the user info of such an error: five characters, or empty if the connection
/// failed.
public let PostgreSQLStateErrorKey = "PostgreSQLState"
