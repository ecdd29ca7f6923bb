import Foundation

// Names of the error codes from before Swift 4, for source compatibility.

extension CocoaError.Code {
  /// Former name of `managedObjectValidation`.
  @available(*, deprecated, renamed: "managedObjectValidation")
  public static var managedObjectValidationError: CocoaError.Code { .managedObjectValidation }
  /// Former name of `validationMultipleErrors`.
  @available(*, deprecated, renamed: "validationMultipleErrors")
  public static var validationMultipleErrorsError: CocoaError.Code { .validationMultipleErrors }
  /// Former name of `validationMissingMandatoryProperty`.
  @available(*, deprecated, renamed: "validationMissingMandatoryProperty")
  public static var validationMissingMandatoryPropertyError: CocoaError.Code {
    .validationMissingMandatoryProperty
  }
  /// Former name of `validationRelationshipLacksMinimumCount`.
  @available(*, deprecated, renamed: "validationRelationshipLacksMinimumCount")
  public static var validationRelationshipLacksMinimumCountError: CocoaError.Code {
    .validationRelationshipLacksMinimumCount
  }
  /// Former name of `validationRelationshipExceedsMaximumCount`.
  @available(*, deprecated, renamed: "validationRelationshipExceedsMaximumCount")
  public static var validationRelationshipExceedsMaximumCountError: CocoaError.Code {
    .validationRelationshipExceedsMaximumCount
  }
  /// Former name of `validationRelationshipDeniedDelete`.
  @available(*, deprecated, renamed: "validationRelationshipDeniedDelete")
  public static var validationRelationshipDeniedDeleteError: CocoaError.Code {
    .validationRelationshipDeniedDelete
  }
  /// Former name of `validationNumberTooLarge`.
  @available(*, deprecated, renamed: "validationNumberTooLarge")
  public static var validationNumberTooLargeError: CocoaError.Code { .validationNumberTooLarge }
  /// Former name of `validationNumberTooSmall`.
  @available(*, deprecated, renamed: "validationNumberTooSmall")
  public static var validationNumberTooSmallError: CocoaError.Code { .validationNumberTooSmall }
  /// Former name of `validationDateTooLate`.
  @available(*, deprecated, renamed: "validationDateTooLate")
  public static var validationDateTooLateError: CocoaError.Code { .validationDateTooLate }
  /// Former name of `validationDateTooSoon`.
  @available(*, deprecated, renamed: "validationDateTooSoon")
  public static var validationDateTooSoonError: CocoaError.Code { .validationDateTooSoon }
  /// Former name of `validationInvalidDate`.
  @available(*, deprecated, renamed: "validationInvalidDate")
  public static var validationInvalidDateError: CocoaError.Code { .validationInvalidDate }
  /// Former name of `validationStringTooLong`.
  @available(*, deprecated, renamed: "validationStringTooLong")
  public static var validationStringTooLongError: CocoaError.Code { .validationStringTooLong }
  /// Former name of `validationStringTooShort`.
  @available(*, deprecated, renamed: "validationStringTooShort")
  public static var validationStringTooShortError: CocoaError.Code { .validationStringTooShort }
  /// Former name of `validationStringPatternMatching`.
  @available(*, deprecated, renamed: "validationStringPatternMatching")
  public static var validationStringPatternMatchingError: CocoaError.Code { .validationStringPatternMatching }
  /// Former name of `managedObjectContextLocking`.
  @available(*, deprecated, renamed: "managedObjectContextLocking")
  public static var managedObjectContextLockingError: CocoaError.Code { .managedObjectContextLocking }
  /// Former name of `persistentStoreCoordinatorLocking`.
  @available(*, deprecated, renamed: "persistentStoreCoordinatorLocking")
  public static var persistentStoreCoordinatorLockingError: CocoaError.Code {
    .persistentStoreCoordinatorLocking
  }
  /// Former name of `managedObjectReferentialIntegrity`.
  @available(*, deprecated, renamed: "managedObjectReferentialIntegrity")
  public static var managedObjectReferentialIntegrityError: CocoaError.Code {
    .managedObjectReferentialIntegrity
  }
  /// Former name of `managedObjectExternalRelationship`.
  @available(*, deprecated, renamed: "managedObjectExternalRelationship")
  public static var managedObjectExternalRelationshipError: CocoaError.Code {
    .managedObjectExternalRelationship
  }
  /// Former name of `managedObjectMerge`.
  @available(*, deprecated, renamed: "managedObjectMerge")
  public static var managedObjectMergeError: CocoaError.Code { .managedObjectMerge }
  /// Former name of `managedObjectConstraintMerge`.
  @available(*, deprecated, renamed: "managedObjectConstraintMerge")
  public static var managedObjectConstraintMergeError: CocoaError.Code { .managedObjectConstraintMerge }
  /// Former name of `persistentStoreInvalidType`.
  @available(*, deprecated, renamed: "persistentStoreInvalidType")
  public static var persistentStoreInvalidTypeError: CocoaError.Code { .persistentStoreInvalidType }
  /// Former name of `persistentStoreTypeMismatch`.
  @available(*, deprecated, renamed: "persistentStoreTypeMismatch")
  public static var persistentStoreTypeMismatchError: CocoaError.Code { .persistentStoreTypeMismatch }
  /// Former name of `persistentStoreIncompatibleSchema`.
  @available(*, deprecated, renamed: "persistentStoreIncompatibleSchema")
  public static var persistentStoreIncompatibleSchemaError: CocoaError.Code {
    .persistentStoreIncompatibleSchema
  }
  /// Former name of `persistentStoreSave`.
  @available(*, deprecated, renamed: "persistentStoreSave")
  public static var persistentStoreSaveError: CocoaError.Code { .persistentStoreSave }
  /// Former name of `persistentStoreIncompleteSave`.
  @available(*, deprecated, renamed: "persistentStoreIncompleteSave")
  public static var persistentStoreIncompleteSaveError: CocoaError.Code { .persistentStoreIncompleteSave }
  /// Former name of `persistentStoreSaveConflicts`.
  @available(*, deprecated, renamed: "persistentStoreSaveConflicts")
  public static var persistentStoreSaveConflictsError: CocoaError.Code { .persistentStoreSaveConflicts }
  /// Former name of `coreData`.
  @available(*, deprecated, renamed: "coreData")
  public static var coreDataError: CocoaError.Code { .coreData }
  /// Former name of `persistentStoreOperation`.
  @available(*, deprecated, renamed: "persistentStoreOperation")
  public static var persistentStoreOperationError: CocoaError.Code { .persistentStoreOperation }
  /// Former name of `persistentStoreOpen`.
  @available(*, deprecated, renamed: "persistentStoreOpen")
  public static var persistentStoreOpenError: CocoaError.Code { .persistentStoreOpen }
  /// Former name of `persistentStoreTimeout`.
  @available(*, deprecated, renamed: "persistentStoreTimeout")
  public static var persistentStoreTimeoutError: CocoaError.Code { .persistentStoreTimeout }
  /// Former name of `persistentStoreUnsupportedRequestType`.
  @available(*, deprecated, renamed: "persistentStoreUnsupportedRequestType")
  public static var persistentStoreUnsupportedRequestTypeError: CocoaError.Code {
    .persistentStoreUnsupportedRequestType
  }
  /// Former name of `persistentStoreIncompatibleVersionHash`.
  @available(*, deprecated, renamed: "persistentStoreIncompatibleVersionHash")
  public static var persistentStoreIncompatibleVersionHashError: CocoaError.Code {
    .persistentStoreIncompatibleVersionHash
  }
  /// Former name of `migration`.
  @available(*, deprecated, renamed: "migration")
  public static var migrationError: CocoaError.Code { .migration }
  /// Former name of `migrationCancelled`.
  @available(*, deprecated, renamed: "migrationCancelled")
  public static var migrationCancelledError: CocoaError.Code { .migrationCancelled }
  /// Former name of `migrationMissingSourceModel`.
  @available(*, deprecated, renamed: "migrationMissingSourceModel")
  public static var migrationMissingSourceModelError: CocoaError.Code { .migrationMissingSourceModel }
  /// Former name of `migrationMissingMappingModel`.
  @available(*, deprecated, renamed: "migrationMissingMappingModel")
  public static var migrationMissingMappingModelError: CocoaError.Code { .migrationMissingMappingModel }
  /// Former name of `migrationManagerSourceStore`.
  @available(*, deprecated, renamed: "migrationManagerSourceStore")
  public static var migrationManagerSourceStoreError: CocoaError.Code { .migrationManagerSourceStore }
  /// Former name of `migrationManagerDestinationStore`.
  @available(*, deprecated, renamed: "migrationManagerDestinationStore")
  public static var migrationManagerDestinationStoreError: CocoaError.Code {
    .migrationManagerDestinationStore
  }
  /// Former name of `entityMigrationPolicy`.
  @available(*, deprecated, renamed: "entityMigrationPolicy")
  public static var entityMigrationPolicyError: CocoaError.Code { .entityMigrationPolicy }
  /// Former name of `sqlite`.
  @available(*, deprecated, renamed: "sqlite")
  public static var sqliteError: CocoaError.Code { .sqlite }
  /// Former name of `inferredMappingModel`.
  @available(*, deprecated, renamed: "inferredMappingModel")
  public static var inferredMappingModelError: CocoaError.Code { .inferredMappingModel }
  /// Former name of `externalRecordImport`.
  @available(*, deprecated, renamed: "externalRecordImport")
  public static var externalRecordImportError: CocoaError.Code { .externalRecordImport }
}

extension CocoaError {
  /// Former name of `managedObjectValidation`.
  @available(*, deprecated, renamed: "managedObjectValidation")
  public static var managedObjectValidationError: CocoaError.Code { .managedObjectValidation }
  /// Former name of `validationMultipleErrors`.
  @available(*, deprecated, renamed: "validationMultipleErrors")
  public static var validationMultipleErrorsError: CocoaError.Code { .validationMultipleErrors }
  /// Former name of `validationMissingMandatoryProperty`.
  @available(*, deprecated, renamed: "validationMissingMandatoryProperty")
  public static var validationMissingMandatoryPropertyError: CocoaError.Code {
    .validationMissingMandatoryProperty
  }
  /// Former name of `validationRelationshipLacksMinimumCount`.
  @available(*, deprecated, renamed: "validationRelationshipLacksMinimumCount")
  public static var validationRelationshipLacksMinimumCountError: CocoaError.Code {
    .validationRelationshipLacksMinimumCount
  }
  /// Former name of `validationRelationshipExceedsMaximumCount`.
  @available(*, deprecated, renamed: "validationRelationshipExceedsMaximumCount")
  public static var validationRelationshipExceedsMaximumCountError: CocoaError.Code {
    .validationRelationshipExceedsMaximumCount
  }
  /// Former name of `validationRelationshipDeniedDelete`.
  @available(*, deprecated, renamed: "validationRelationshipDeniedDelete")
  public static var validationRelationshipDeniedDeleteError: CocoaError.Code {
    .validationRelationshipDeniedDelete
  }
  /// Former name of `validationNumberTooLarge`.
  @available(*, deprecated, renamed: "validationNumberTooLarge")
  public static var validationNumberTooLargeError: CocoaError.Code { .validationNumberTooLarge }
  /// Former name of `validationNumberTooSmall`.
  @available(*, deprecated, renamed: "validationNumberTooSmall")
  public static var validationNumberTooSmallError: CocoaError.Code { .validationNumberTooSmall }
  /// Former name of `validationDateTooLate`.
  @available(*, deprecated, renamed: "validationDateTooLate")
  public static var validationDateTooLateError: CocoaError.Code { .validationDateTooLate }
  /// Former name of `validationDateTooSoon`.
  @available(*, deprecated, renamed: "validationDateTooSoon")
  public static var validationDateTooSoonError: CocoaError.Code { .validationDateTooSoon }
  /// Former name of `validationInvalidDate`.
  @available(*, deprecated, renamed: "validationInvalidDate")
  public static var validationInvalidDateError: CocoaError.Code { .validationInvalidDate }
  /// Former name of `validationStringTooLong`.
  @available(*, deprecated, renamed: "validationStringTooLong")
  public static var validationStringTooLongError: CocoaError.Code { .validationStringTooLong }
  /// Former name of `validationStringTooShort`.
  @available(*, deprecated, renamed: "validationStringTooShort")
  public static var validationStringTooShortError: CocoaError.Code { .validationStringTooShort }
  /// Former name of `validationStringPatternMatching`.
  @available(*, deprecated, renamed: "validationStringPatternMatching")
  public static var validationStringPatternMatchingError: CocoaError.Code { .validationStringPatternMatching }
  /// Former name of `managedObjectContextLocking`.
  @available(*, deprecated, renamed: "managedObjectContextLocking")
  public static var managedObjectContextLockingError: CocoaError.Code { .managedObjectContextLocking }
  /// Former name of `persistentStoreCoordinatorLocking`.
  @available(*, deprecated, renamed: "persistentStoreCoordinatorLocking")
  public static var persistentStoreCoordinatorLockingError: CocoaError.Code {
    .persistentStoreCoordinatorLocking
  }
  /// Former name of `managedObjectReferentialIntegrity`.
  @available(*, deprecated, renamed: "managedObjectReferentialIntegrity")
  public static var managedObjectReferentialIntegrityError: CocoaError.Code {
    .managedObjectReferentialIntegrity
  }
  /// Former name of `managedObjectExternalRelationship`.
  @available(*, deprecated, renamed: "managedObjectExternalRelationship")
  public static var managedObjectExternalRelationshipError: CocoaError.Code {
    .managedObjectExternalRelationship
  }
  /// Former name of `managedObjectMerge`.
  @available(*, deprecated, renamed: "managedObjectMerge")
  public static var managedObjectMergeError: CocoaError.Code { .managedObjectMerge }
  /// Former name of `managedObjectConstraintMerge`.
  @available(*, deprecated, renamed: "managedObjectConstraintMerge")
  public static var managedObjectConstraintMergeError: CocoaError.Code { .managedObjectConstraintMerge }
  /// Former name of `persistentStoreInvalidType`.
  @available(*, deprecated, renamed: "persistentStoreInvalidType")
  public static var persistentStoreInvalidTypeError: CocoaError.Code { .persistentStoreInvalidType }
  /// Former name of `persistentStoreTypeMismatch`.
  @available(*, deprecated, renamed: "persistentStoreTypeMismatch")
  public static var persistentStoreTypeMismatchError: CocoaError.Code { .persistentStoreTypeMismatch }
  /// Former name of `persistentStoreIncompatibleSchema`.
  @available(*, deprecated, renamed: "persistentStoreIncompatibleSchema")
  public static var persistentStoreIncompatibleSchemaError: CocoaError.Code {
    .persistentStoreIncompatibleSchema
  }
  /// Former name of `persistentStoreSave`.
  @available(*, deprecated, renamed: "persistentStoreSave")
  public static var persistentStoreSaveError: CocoaError.Code { .persistentStoreSave }
  /// Former name of `persistentStoreIncompleteSave`.
  @available(*, deprecated, renamed: "persistentStoreIncompleteSave")
  public static var persistentStoreIncompleteSaveError: CocoaError.Code { .persistentStoreIncompleteSave }
  /// Former name of `persistentStoreSaveConflicts`.
  @available(*, deprecated, renamed: "persistentStoreSaveConflicts")
  public static var persistentStoreSaveConflictsError: CocoaError.Code { .persistentStoreSaveConflicts }
  /// Former name of `coreData`.
  @available(*, deprecated, renamed: "coreData")
  public static var coreDataError: CocoaError.Code { .coreData }
  /// Former name of `persistentStoreOperation`.
  @available(*, deprecated, renamed: "persistentStoreOperation")
  public static var persistentStoreOperationError: CocoaError.Code { .persistentStoreOperation }
  /// Former name of `persistentStoreOpen`.
  @available(*, deprecated, renamed: "persistentStoreOpen")
  public static var persistentStoreOpenError: CocoaError.Code { .persistentStoreOpen }
  /// Former name of `persistentStoreTimeout`.
  @available(*, deprecated, renamed: "persistentStoreTimeout")
  public static var persistentStoreTimeoutError: CocoaError.Code { .persistentStoreTimeout }
  /// Former name of `persistentStoreUnsupportedRequestType`.
  @available(*, deprecated, renamed: "persistentStoreUnsupportedRequestType")
  public static var persistentStoreUnsupportedRequestTypeError: CocoaError.Code {
    .persistentStoreUnsupportedRequestType
  }
  /// Former name of `persistentStoreIncompatibleVersionHash`.
  @available(*, deprecated, renamed: "persistentStoreIncompatibleVersionHash")
  public static var persistentStoreIncompatibleVersionHashError: CocoaError.Code {
    .persistentStoreIncompatibleVersionHash
  }
  /// Former name of `migration`.
  @available(*, deprecated, renamed: "migration")
  public static var migrationError: CocoaError.Code { .migration }
  /// Former name of `migrationCancelled`.
  @available(*, deprecated, renamed: "migrationCancelled")
  public static var migrationCancelledError: CocoaError.Code { .migrationCancelled }
  /// Former name of `migrationMissingSourceModel`.
  @available(*, deprecated, renamed: "migrationMissingSourceModel")
  public static var migrationMissingSourceModelError: CocoaError.Code { .migrationMissingSourceModel }
  /// Former name of `migrationMissingMappingModel`.
  @available(*, deprecated, renamed: "migrationMissingMappingModel")
  public static var migrationMissingMappingModelError: CocoaError.Code { .migrationMissingMappingModel }
  /// Former name of `migrationManagerSourceStore`.
  @available(*, deprecated, renamed: "migrationManagerSourceStore")
  public static var migrationManagerSourceStoreError: CocoaError.Code { .migrationManagerSourceStore }
  /// Former name of `migrationManagerDestinationStore`.
  @available(*, deprecated, renamed: "migrationManagerDestinationStore")
  public static var migrationManagerDestinationStoreError: CocoaError.Code {
    .migrationManagerDestinationStore
  }
  /// Former name of `entityMigrationPolicy`.
  @available(*, deprecated, renamed: "entityMigrationPolicy")
  public static var entityMigrationPolicyError: CocoaError.Code { .entityMigrationPolicy }
  /// Former name of `sqlite`.
  @available(*, deprecated, renamed: "sqlite")
  public static var sqliteError: CocoaError.Code { .sqlite }
  /// Former name of `inferredMappingModel`.
  @available(*, deprecated, renamed: "inferredMappingModel")
  public static var inferredMappingModelError: CocoaError.Code { .inferredMappingModel }
  /// Former name of `externalRecordImport`.
  @available(*, deprecated, renamed: "externalRecordImport")
  public static var externalRecordImportError: CocoaError.Code { .externalRecordImport }
}
