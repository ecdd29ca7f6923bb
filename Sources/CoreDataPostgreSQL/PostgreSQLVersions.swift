/// Versions of the parts of a store that do not depend on its model, kept in its metadata.
enum PostgreSQLVersions {
  static let layoutKey = "PostgreSQLLayout"
  static let functionsKey = "PostgreSQLFunctions"
  /// Version of the store's own tables. Since 2 they have the epochs of the model, and receipts carry one.
  static let layout = 2
}
