/// An error of SwiftData itself; stores and validation throw Cocoa errors.
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

  /// The predicate can be evaluated neither by a store nor in memory.
  public static let unsupportedPredicate = SwiftDataError(.unsupportedPredicate)
  /// The descriptor can't be used for sorting.
  public static let unsupportedSortDescriptor = SwiftDataError(.unsupportedSortDescriptor)
  /// The key path matches no stored property.
  public static let unsupportedKeyPath = SwiftDataError(.unsupportedKeyPath)
  /// A batched fetch that includes pending changes; not thrown here, since that is supported.
  public static let includePendingChangesWithBatchSize = SwiftDataError(.includePendingChangesWithBatchSize)
  /// A sorted fetch of identifiers that includes pending changes; not thrown here, since that is supported.
  public static let sortingPendingChangesWithIdentifiers = SwiftDataError(
    .sortingPendingChangesWithIdentifiers)
  /// The name of a configuration isn't a valid file name.
  public static let configurationFileNameContainsInvalidCharacters = SwiftDataError(
    .configurationFileNameContainsInvalidCharacters)
  /// The name of a configuration is too long for a file name.
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
  /// The schema isn't in the migration plan.
  public static let unknownSchema = SwiftDataError(.unknownSchema)
  /// The store's schema isn't in the migration plan.
  public static let unknownDataStoreSchema = SwiftDataError(.unknownDataStoreSchema)
  /// Transactions after the token have been deleted from the history.
  public static let historyTokenExpired = SwiftDataError(.historyTokenExpired)
  /// The history search is invalid.
  public static let invalidTransactionFetchRequest = SwiftDataError(.invalidTransactionFetchRequest)

  /// Whether both are of the same kind, regardless of details.
  public static func == (lhs: SwiftDataError, rhs: SwiftDataError) -> Bool { lhs._error == rhs._error }

  /// Hashes the kind.
  public func hash(into hasher: inout Hasher) { hasher.combine(_error) }

  /// Whether an error is a SwiftData error of the same kind; enables `catch SwiftDataError.unknownSchema`.
  public static func ~= (lhs: SwiftDataError, rhs: any Error) -> Bool { (rhs as? SwiftDataError) == lhs }
}

extension SwiftDataError: LocalizedError {
  /// The problem and its subject.
  public var errorDescription: String? {
    _explanation.map { "\(_error): \($0)" } ?? "\(_error)"
  }
}
