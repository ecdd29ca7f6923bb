import CoreData
import CoreDataPostgreSQLBinding
import CoreDataPredicateLanguage
import Foundation

/// The transaction of a save into a PostgreSQL store, in which a program runs statements of its own.
///
/// `NSManagedObjectContext.save(in:_:)` hands it to its block. Use it in that block, on its thread. It is invalid
/// afterwards.
///
/// Statements have one command each and take parameters, `$1`, `$2` and so on. Commands that begin or end
/// transactions are refused, and so are savepoints. The role's `search_path` applies; `schema` is the quoted name
/// of the store's schema.
public final class PostgreSQLSaveTransaction {
  /// The save; nil once it is over.
  private var _save: PostgreSQLSave?
  /// What the first statement that failed has met: the server has given up the transaction then.
  private(set) var failure: (any Error)?
  private(set) var overwritten: [ObjectKey] = []

  /// Quoted name of the store's schema.
  public let schema: String

  init(_ save: PostgreSQLSave) {
    _save = save
    schema = PostgreSQLNames.quoted(save.engine.address.schema)
  }

  /// Ends the use of the transaction.
  func end() { _save = nil }

  /// Runs a statement.
  ///
  /// - Parameters:
  ///   - statement: One SQL command, with `$1` and so on for the values.
  ///   - values: `nil`, texts, integers, floating-point numbers, `Decimal`, `Bool`, `Date` (as `timestamptz`), `UUID`,
  ///     `Data`, `URL` (as text), Foundation's objects for these, and managed objects or their IDs, as their primary key (`bigint`); objects that
  ///     the save inserts have one, too. A text takes the type that the statement has in its place, such as
  ///     `jsonb`.
  /// - Returns: The number of rows that were inserted, updated, deleted or found.
  /// - Throws: A Cocoa error with the server's as the underlying one (see `PostgreSQLStateErrorKey`), or for a
  ///   command or value that is refused. The save fails as well, also if the block catches the error.
  @discardableResult
  public func run(_ statement: String, _ values: Any?...) throws -> Int {
    try _result(statement, values).affectedCount
  }

  /// Runs a statement and returns its rows, by the names of the columns.
  ///
  /// - Parameters:
  ///   - statement: One SQL command, with `$1` and so on for the values.
  ///   - values: As for `run(_:_:)`.
  /// - Returns: `Bool`, `Int64`, `Double`, `Decimal`, `String` (also `json`), `UUID`, `Data` and `Date`; without a key
  ///   for NULL. Cast columns of other types in the statement.
  /// - Throws: As `run(_:_:)`; a Cocoa error for a column of another type.
  public func rows(_ statement: String, _ values: Any?...) throws -> [[String: Any]] {
    let result = try _result(statement, values)
    return try StoreErrors.translating {
      let cells = try (0..<result.columnCount).map { try PostgreSQLCell(result, $0) }
      return try (0..<result.rowCount).map { row in
        var values: [String: Any] = [:]
        for (column, cell) in cells.enumerated() where !result.isNull(row, column) {
          values[cell.name] = try cell.value(row)
        }
        return values
      }
    }
  }

  /// Notes that statements have written rows of these objects, which the store's coordinator reads again when it
  /// needs them.
  ///
  /// Such a statement also steps the rows' `version`, or saves of others overwrite it without a conflict. Contexts
  /// are not told: refresh the objects there after the save.
  public func wrote(_ objectIDs: [NSManagedObjectID]) {
    overwritten += objectIDs.compactMap { _save?.objectKey(of: $0) }
  }

  private func _result(_ statement: String, _ values: [Any?]) throws -> PostgreSQLResult {
    do {
      if let failure { throw failure }
      guard let save = _save else { throw PostgreSQLStoreError.work("its transaction is over") }
      if let command = RefusedCommand.first(in: statement) {
        throw PostgreSQLStoreError.work(
          "'\(command)' may end its transaction, or outlast it on a connection that others use")
      }
      var parameters = PostgreSQLParameters()
      for (number, value) in values.enumerated() { try _add(value, number + 1, save, to: &parameters) }
      return try save.connection.run(
        _withoutZero(statement, "a statement"), parameters, isRepeated: false)
    } catch {
      if failure == nil { failure = error }
      return try StoreErrors.translating { try PostgreSQLStoreError.translating { throw error } }
    }
  }

  private func _add(
    _ value: Any?, _ number: Int, _ save: PostgreSQLSave, to parameters: inout PostgreSQLParameters
  ) throws {
    if let id = (value as? NSManagedObject)?.objectID ?? value as? NSManagedObjectID {
      return parameters.add(try _key(id, save))
    }
    switch PredicateValue(any: value) {
    case .null: parameters.addUntypedNull()
    case .string(let text): parameters.add(untyped: try _withoutZero(text, "value \(number) of a statement"))
    case .url(let url): parameters.add(untyped: url.absoluteString)
    case .bool(let flag): parameters.add(flag)
    case .int(let whole): parameters.add(whole)
    case .double(let real): parameters.add(real)
    case .decimal(let decimal): parameters.add(numeric: decimal.isNaN ? "NaN" : "\(decimal)")
    case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { parameters.add(uuid: $0) }
    case .data(let data): parameters.add(bytes: data)
    case .date(let seconds):
      guard let moment = PostgreSQLCell.moment(seconds) else {
        throw PostgreSQLStoreError.work("value \(number) of a statement is beyond the server's dates")
      }
      parameters.add(moment: moment)
    case .object, .collection, .dictionary:
      throw PostgreSQLStoreError.work(
        "value \(number) of a statement is of the type \(type(of: value!)), which none takes")
    }
  }

  /// Returns a text that libpq takes whole: it ends one at its first zero byte.
  private func _withoutZero(_ text: String, _ what: String) throws -> String {
    guard text.utf8.contains(0) else { return text }
    throw PostgreSQLStoreError.work("\(what) holds a zero byte, which PostgreSQL has in no text; take it out")
  }

  private func _key(_ id: NSManagedObjectID, _ save: PostgreSQLSave) throws -> Int64 {
    guard let key = save.objectKey(of: id)?.reference else {
      throw PostgreSQLStoreError.work(
        "\(id.uriRepresentation()) is neither stored in this store nor inserted by it")
    }
    return key
  }
}

/// Finds commands that do not belong in the transaction of a save.
enum RefusedCommand {
  private static let _words: Set<String> = [
    // Begin, divide or end a transaction.
    "ABORT", "BEGIN", "COMMIT", "END", "PREPARE", "RELEASE", "ROLLBACK", "SAVEPOINT", "START",
    // Outlast it on the connection, or take the connection over.
    "COPY", "DEALLOCATE", "DISCARD", "LISTEN", "RESET", "UNLISTEN",
  ]

  /// Returns the first word of a statement if it is such a command.
  static func first(in statement: String) -> String? {
    var rest = statement[...]
    let first = _nextWord(&rest)
    if _words.contains(first) { return first }
    // What is set for the transaction only ends with it.
    return first == "SET" && !["LOCAL", "CONSTRAINTS"].contains(_nextWord(&rest)) ? first : nil
  }

  private static func _nextWord(_ rest: inout Substring) -> String {
    while let first = rest.first {
      if first.isWhitespace || first == ";" {
        rest.removeFirst()
      } else if rest.hasPrefix("--") {
        rest = rest.drop { !$0.isNewline }
      } else if rest.hasPrefix("/*") {
        _dropComment(&rest)
      } else {
        break
      }
    }
    let word = rest.prefix { $0.isLetter }
    rest = rest[word.endIndex...]
    return word.uppercased()
  }

  /// Drops a comment, in which others may be nested.
  private static func _dropComment(_ rest: inout Substring) {
    var depth = 0
    repeat {
      if rest.hasPrefix("/*") {
        depth += 1
        rest.removeFirst(2)
      } else if rest.hasPrefix("*/") {
        depth -= 1
        rest.removeFirst(2)
      } else {
        rest.removeFirst()
      }
    } while depth > 0 && !rest.isEmpty
  }
}
