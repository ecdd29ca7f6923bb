/// What SwiftData itself has to complain of; what stores and validation complain of are Cocoa errors.
public struct SwiftDataError: Error, Hashable, Sendable {
  enum _Error: Hashable, Sendable {
    case unsupportedPredicate, unsupportedSortDescriptor, unsupportedKeyPath
    case includePendingChangesWithBatchSize, sortingPendingChangesWithIdentifiers
    case configurationFileNameContainsInvalidCharacters, configurationFileNameTooLong
    case configurationSchemaNotFoundInContainerSchema, duplicateConfiguration
    case loadIssueModelContainer, modelValidationFailure, missingModelContext
    case backwardMigration, unknownSchema, unknownDataStoreSchema
    case historyTokenExpired, invalidTransactionFetchRequest
  }

  let _error: _Error
  let _explanation: String?

  init(_ error: _Error, _ explanation: String? = nil) {
    _error = error
    _explanation = explanation
  }

  /// No store can evaluate the predicate, nor can it be evaluated in memory.
  public static let unsupportedPredicate = SwiftDataError(.unsupportedPredicate)
  /// Results can't be sorted by the descriptor.
  public static let unsupportedSortDescriptor = SwiftDataError(.unsupportedSortDescriptor)
  /// The key path stands for no stored property.
  public static let unsupportedKeyPath = SwiftDataError(.unsupportedKeyPath)
  /// A batched fetch that includes pending changes; not thrown here, where that works.
  public static let includePendingChangesWithBatchSize = SwiftDataError(.includePendingChangesWithBatchSize)
  /// A sorted fetch of identifiers that includes pending changes; not thrown here, where that works.
  public static let sortingPendingChangesWithIdentifiers = SwiftDataError(
    .sortingPendingChangesWithIdentifiers)
  /// The name of a configuration can't be a file's.
  public static let configurationFileNameContainsInvalidCharacters = SwiftDataError(
    .configurationFileNameContainsInvalidCharacters)
  /// The name of a configuration is too long for a file's.
  public static let configurationFileNameTooLong = SwiftDataError(.configurationFileNameTooLong)
  /// A configuration has an entity that the container's schema lacks.
  public static let configurationSchemaNotFoundInContainerSchema = SwiftDataError(
    .configurationSchemaNotFoundInContainerSchema)
  /// Two configurations have the same name or the same file.
  public static let duplicateConfiguration = SwiftDataError(.duplicateConfiguration)
  /// A store can't be opened or migrated.
  public static let loadIssueModelContainer = SwiftDataError(.loadIssueModelContainer)
  /// A model's values can't be saved.
  public static let modelValidationFailure = SwiftDataError(.modelValidationFailure)
  /// A model belongs to no context.
  public static let missingModelContext = SwiftDataError(.missingModelContext)
  /// The store has a later version of the schema than the container.
  public static let backwardMigration = SwiftDataError(.backwardMigration)
  /// The schema is none of the migration plan's.
  public static let unknownSchema = SwiftDataError(.unknownSchema)
  /// The store's schema is none of the migration plan's.
  public static let unknownDataStoreSchema = SwiftDataError(.unknownDataStoreSchema)
  /// Transactions after the token have been deleted from the history.
  public static let historyTokenExpired = SwiftDataError(.historyTokenExpired)
  /// A history can't be searched so.
  public static let invalidTransactionFetchRequest = SwiftDataError(.invalidTransactionFetchRequest)

  /// Whether both are of the same kind, whatever they say about it.
  public static func == (lhs: SwiftDataError, rhs: SwiftDataError) -> Bool { lhs._error == rhs._error }

  /// Hashes the kind.
  public func hash(into hasher: inout Hasher) { hasher.combine(_error) }

  /// Whether an error is one of SwiftData's, of the same kind: what `catch SwiftDataError.unknownSchema` asks.
  public static func ~= (lhs: SwiftDataError, rhs: any Error) -> Bool { (rhs as? SwiftDataError) == lhs }
}

extension SwiftDataError: LocalizedError {
  /// What is wrong, and with what.
  public var errorDescription: String? {
    _explanation.map { "\(_error): \($0)" } ?? "\(_error)"
  }
}
