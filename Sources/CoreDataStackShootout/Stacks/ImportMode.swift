/// How the importer decides between creating and updating an object.
package enum ImportMode: String, Sendable, CaseIterable, Codable {
  /// One fetch for each line, as in the original import.
  case findOrCreate = "find-or-create"
  /// One fetch with IN for each batch of lines between two saves.
  case bulk
  /// No look-up: each line inserts an object.
  case insert
}
