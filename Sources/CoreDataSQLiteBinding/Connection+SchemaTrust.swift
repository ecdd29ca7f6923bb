import CoreDataCSQLite

/// What of a file's schema may run on a connection that trusts it.
final class SchemaGuard {
  /// Triggers whose text is known.
  let trusted: Set<String>
  /// Functions that only the program's own statements may call, in lower case.
  let guarded: Set<String>
  /// What makes other triggers and views unusable, by name.
  let reasons: [String: String]
  /// The trigger or view that the last statement was refused for.
  var refused: String?

  init(trusted: Set<String>, guarded: Set<String>, reasons: [String: String]) {
    self.trusted = trusted
    self.guarded = guarded
    self.reasons = reasons
  }
}

extension Connection {
  /// Lets triggers of the file use virtual tables, as those that maintain an R-tree must; a connection
  /// otherwise forbids it, because the contents of a file are not trusted.
  ///
  /// Nothing but these triggers gains by it: statements that would run another trigger or a view fail, and so
  /// do those that would call a function which is not marked innocuous, from wherever in the schema.
  ///
  /// - Parameters:
  ///   - triggers: The names of triggers whose whole text the caller knows.
  ///   - reasons: Why others cannot run, by their names, for the error.
  package func trustSchema(triggers: Set<String>, reasons: [String: String] = [:]) throws {
    var guarded: Set<String> = []
    // Functions without SQLITE_INNOCUOUS; those of JSON have no effects, and old versions do not mark them.
    try query(
      "SELECT lower(name) FROM pragma_function_list WHERE flags & 0x200000 = 0 AND name NOT LIKE 'json%'"
    ) {
      guarded.insert($0.string(0))
    }
    let schemaGuard = SchemaGuard(trusted: triggers, guarded: guarded, reasons: reasons)
    self.schemaGuard = schemaGuard
    let result = sqlite3_set_authorizer(
      handle,
      { context, action, _, second, _, source in
        guard let context else { return SQLITE_DENY }
        let schemaGuard = Unmanaged<SchemaGuard>.fromOpaque(context).takeUnretainedValue()
        if let source {
          let name = String(cString: source)
          guard schemaGuard.trusted.contains(name) else {
            schemaGuard.refused = name
            return SQLITE_DENY
          }
        }
        guard action == SQLITE_FUNCTION, let second else { return SQLITE_OK }
        return schemaGuard.guarded.contains(String(cString: second).lowercased()) ? SQLITE_DENY : SQLITE_OK
      }, Unmanaged.passUnretained(schemaGuard).toOpaque())
    guard result == SQLITE_OK else { throw SQLiteError(result, on: handle, sql: nil) }
    _ = coredata_set_trusted_schema(handle, 1)
  }

  /// Whether the schema is trusted.
  package var trustsSchema: Bool { schemaGuard != nil }

  /// Returns an error with what the authorizer refused, if it did.
  @inline(never)
  func explained(_ error: any Error) -> any Error {
    guard let error = error as? SQLiteError, error.primaryCode == SQLITE_AUTH, let schemaGuard,
      let name = schemaGuard.refused
    else { return error }
    schemaGuard.refused = nil
    let reason = schemaGuard.reasons[name] ?? "is none that Core Data makes for the model"
    return SQLiteError(code: error.code, message: "\(error.message): \(name) \(reason)", sql: error.sql)
  }

  /// Whether SQLite has a module of virtual tables.
  package func hasModule(_ name: String) throws -> Bool {
    try firstValue("SELECT 1 FROM pragma_module_list WHERE name = ?", [.text(name)]) != nil
  }
}
