// Core Data's error codes in NSCocoaErrorDomain, with Apple's names and numbers.

/// Generic validation error.
public let NSManagedObjectValidationError = 1550
/// One or more uniqueness constraints were violated during validation.
public let NSManagedObjectConstraintValidationError = 1551
/// Several validation errors at once, listed under `NSDetailedErrorsKey`.
public let NSValidationMultipleErrorsError = 1560
/// A mandatory property is nil.
public let NSValidationMissingMandatoryPropertyError = 1570
/// A to-many relationship has too few members.
public let NSValidationRelationshipLacksMinimumCountError = 1580
/// A to-many relationship has too many members.
public let NSValidationRelationshipExceedsMaximumCountError = 1590
/// A relationship with delete rule Deny still has members.
public let NSValidationRelationshipDeniedDeleteError = 1600
/// A number is above its limit.
public let NSValidationNumberTooLargeError = 1610
/// A number is below its limit.
public let NSValidationNumberTooSmallError = 1620
/// A date is after its limit.
public let NSValidationDateTooLateError = 1630
/// A date is before its limit.
public let NSValidationDateTooSoonError = 1640
/// A value is not a valid date.
public let NSValidationInvalidDateError = 1650
/// A string is too long.
public let NSValidationStringTooLongError = 1660
/// A string is too short.
public let NSValidationStringTooShortError = 1670
/// A string does not match its pattern.
public let NSValidationStringPatternMatchingError = 1680
/// A URI cannot be stored.
public let NSValidationInvalidURIError = 1690
/// A context's lock could not be acquired.
public let NSManagedObjectContextLockingError = 132000
/// A coordinator's lock could not be acquired.
public let NSPersistentStoreCoordinatorLockingError = 132010
/// A requested object does not exist in the store.
public let NSManagedObjectReferentialIntegrityError = 133000
/// A relationship refers to an object in another store.
public let NSManagedObjectExternalRelationshipError = 133010
/// The merge policy could not complete a save because of concurrent changes.
///
/// ```swift
/// do {
///   try context.save()
/// } catch let error as CocoaError where error.code.rawValue == NSManagedObjectMergeError {
///   print(error.userInfo[NSPersistentStoreSaveConflictsErrorKey] ?? [])
/// }
/// ```
public let NSManagedObjectMergeError = 133020
/// The merge policy could not complete a save because of violated uniqueness constraints.
public let NSManagedObjectConstraintMergeError = 133021
/// No store type of that name is registered.
public let NSPersistentStoreInvalidTypeError = 134000
/// The file is a store of another type.
public let NSPersistentStoreTypeMismatchError = 134010
/// The store rejects the model.
public let NSPersistentStoreIncompatibleSchemaError = 134020
/// A save failed.
public let NSPersistentStoreSaveError = 134030
/// A save into several stores failed in some of them.
public let NSPersistentStoreIncompleteSaveError = 134040
/// A save encountered conflicting changes.
public let NSPersistentStoreSaveConflictsError = 134050
/// Generic Core Data error.
public let NSCoreDataError = 134060
/// A store operation failed.
public let NSPersistentStoreOperationError = 134070
/// The store could not be opened.
public let NSPersistentStoreOpenError = 134080
/// The store did not respond in time.
public let NSPersistentStoreTimeoutError = 134090
/// The store does not support the request.
public let NSPersistentStoreUnsupportedRequestTypeError = 134091
/// The store's entity version hashes differ from the model's.
public let NSPersistentStoreIncompatibleVersionHashError = 134100
/// Generic migration error.
public let NSMigrationError = 134110
/// Migrated rows violate a uniqueness constraint.
public let NSMigrationConstraintViolationError = 134111
/// The migration was cancelled.
public let NSMigrationCancelledError = 134120
/// No model was found for the source store.
public let NSMigrationMissingSourceModelError = 134130
/// No mapping model was found.
public let NSMigrationMissingMappingModelError = 134140
/// The migration's source store failed.
public let NSMigrationManagerSourceStoreError = 134150
/// The migration's destination store failed.
public let NSMigrationManagerDestinationStoreError = 134160
/// An entity migration policy failed.
public let NSEntityMigrationPolicyError = 134170
/// Generic SQLite error.
public let NSSQLiteError = 134180
/// No mapping model can be inferred.
public let NSInferredMappingModelError = 134190
/// Import from external records failed.
public let NSExternalRecordImportError = 134200
/// A history token is older than the history kept.
public let NSPersistentHistoryTokenExpiredError = 134301
/// A history token is of other stores than those asked; Core Data has no public name for this code.
let historyTokenStoreError = 134501
/// A model reference resolves to no model.
public let NSManagedObjectModelReferenceNotFoundError = 134504
/// A staged migration encountered another framework version.
public let NSStagedMigrationFrameworkVersionMismatchError = 134505
/// A staged migration would go backwards.
public let NSStagedMigrationBackwardMigrationError = 134506

// Keys in the errors' user info.

/// Array of the errors in a multiple-errors error.
///
/// ```swift
/// do {
///   try context.save()
/// } catch let error as CocoaError where error.code == .validationMultipleErrors {
///   for detail in error.userInfo[NSDetailedErrorsKey] as? [any Error] ?? [] { print(detail) }
/// }
/// ```
public let NSDetailedErrorsKey = "NSDetailedErrors"
/// The object that failed validation.
///
/// ```swift
/// do {
///   try context.save()
/// } catch let error as CocoaError {
///   let object = error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject
///   print(object?.objectID ?? "no object", error.userInfo[NSValidationKeyErrorKey] ?? "no property")
/// }
/// ```
public let NSValidationObjectErrorKey = "NSValidationErrorObject"
/// Name of the property that failed validation.
public let NSValidationKeyErrorKey = "NSValidationErrorKey"
/// The predicate that a value failed.
public let NSValidationPredicateErrorKey = "NSValidationErrorPredicate"
/// The value that failed validation.
public let NSValidationValueErrorKey = "NSValidationErrorValue"
/// The stores affected by an error.
public let NSAffectedStoresErrorKey = "NSAffectedStoresErrorKey"
/// The objects affected by an error.
public let NSAffectedObjectsErrorKey = "NSAffectedObjectsErrorKey"
/// The conflicts that failed a save.
public let NSPersistentStoreSaveConflictsErrorKey = "conflictList"
/// Domain of SQLite result codes in errors' user info.
public let NSSQLiteErrorDomain = "NSSQLiteErrorDomain"

/// Codes of Core Data errors without a public name.
enum CoreDataErrorCode {
  /// `save()` was called while the context is saving.
  static let recursiveSave = 132001
  /// A store was added to a coordinator twice.
  static let storeAddedTwice = 134081
}
