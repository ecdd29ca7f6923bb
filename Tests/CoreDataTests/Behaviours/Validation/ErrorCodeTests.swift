import CoreData
import Testing

/// Programs compare codes as numbers, and log them: each has the number of Apple's documentation.
@Suite struct ErrorCodeTests {
  private static let _numbers: [(Int, Int)] = [
    (NSManagedObjectValidationError, 1550), (NSManagedObjectConstraintValidationError, 1551),
    (NSValidationMultipleErrorsError, 1560), (NSValidationMissingMandatoryPropertyError, 1570),
    (NSValidationRelationshipLacksMinimumCountError, 1580),
    (NSValidationRelationshipExceedsMaximumCountError, 1590),
    (NSValidationRelationshipDeniedDeleteError, 1600), (NSValidationNumberTooLargeError, 1610),
    (NSValidationNumberTooSmallError, 1620), (NSValidationDateTooLateError, 1630),
    (NSValidationDateTooSoonError, 1640), (NSValidationInvalidDateError, 1650),
    (NSValidationStringTooLongError, 1660), (NSValidationStringTooShortError, 1670),
    (NSValidationStringPatternMatchingError, 1680), (NSValidationInvalidURIError, 1690),
    (NSManagedObjectContextLockingError, 132000), (NSPersistentStoreCoordinatorLockingError, 132010),
    (NSManagedObjectReferentialIntegrityError, 133000), (NSManagedObjectExternalRelationshipError, 133010),
    (NSManagedObjectMergeError, 133020), (NSManagedObjectConstraintMergeError, 133021),
    (NSPersistentStoreInvalidTypeError, 134000), (NSPersistentStoreTypeMismatchError, 134010),
    (NSPersistentStoreIncompatibleSchemaError, 134020), (NSPersistentStoreSaveError, 134030),
    (NSPersistentStoreIncompleteSaveError, 134040), (NSPersistentStoreSaveConflictsError, 134050),
    (NSCoreDataError, 134060), (NSPersistentStoreOperationError, 134070),
    (NSPersistentStoreOpenError, 134080), (NSPersistentStoreTimeoutError, 134090),
    (NSPersistentStoreUnsupportedRequestTypeError, 134091),
    (NSPersistentStoreIncompatibleVersionHashError, 134100), (NSMigrationError, 134110),
    (NSMigrationConstraintViolationError, 134111), (NSMigrationCancelledError, 134120),
    (NSMigrationMissingSourceModelError, 134130), (NSMigrationMissingMappingModelError, 134140),
    (NSMigrationManagerSourceStoreError, 134150), (NSMigrationManagerDestinationStoreError, 134160),
    (NSEntityMigrationPolicyError, 134170), (NSSQLiteError, 134180), (NSInferredMappingModelError, 134190),
    (NSExternalRecordImportError, 134200), (NSPersistentHistoryTokenExpiredError, 134301),
    (NSManagedObjectModelReferenceNotFoundError, 134504),
    (NSStagedMigrationFrameworkVersionMismatchError, 134505),
    (NSStagedMigrationBackwardMigrationError, 134506),
  ]

  @Test(arguments: _numbers)
  func `a code has its documented number`(code: Int, number: Int) {
    #expect(code == number)
  }

  @Test func `the codes of CocoaError are those of the constants`() {
    #expect(CocoaError.Code.persistentStoreSave.rawValue == NSPersistentStoreSaveError)
    #expect(CocoaError.Code.managedObjectMerge.rawValue == NSManagedObjectMergeError)
    #expect(CocoaError.Code.managedObjectConstraintMerge.rawValue == NSManagedObjectConstraintMergeError)
    #expect(CocoaError.Code.validationMissingMandatoryProperty.rawValue == 1570)
    #expect(CocoaError.Code.persistentStoreOpen.rawValue == NSPersistentStoreOpenError)
    #expect(CocoaError.Code.migrationMissingSourceModel.rawValue == NSMigrationMissingSourceModelError)
  }
}
