/// How the importer decides between making an object and changing one.
package enum ImportMode: String, Sendable, CaseIterable, Codable {
  /// One fetch for each line, as the original import did it.
  case findOrCreate = "find-or-create"
  /// One fetch with IN for each batch of lines between two saves.
  case bulk
  /// No look-up: each line inserts an object.
  case insert
}
