import Foundation

extension CocoaError.Code {
  /// Core Data error 1550.
  public static let managedObjectValidation = CocoaError.Code(rawValue: 1550)
  /// Core Data error 1560.
  public static let validationMultipleErrors = CocoaError.Code(rawValue: 1560)
  /// Core Data error 1570.
  public static let validationMissingMandatoryProperty = CocoaError.Code(rawValue: 1570)
  /// Core Data error 1580.
  public static let validationRelationshipLacksMinimumCount = CocoaError.Code(rawValue: 1580)
  /// Core Data error 1590.
  public static let validationRelationshipExceedsMaximumCount = CocoaError.Code(rawValue: 1590)
  /// Core Data error 1600.
  public static let validationRelationshipDeniedDelete = CocoaError.Code(rawValue: 1600)
  /// Core Data error 1610.
  public static let validationNumberTooLarge = CocoaError.Code(rawValue: 1610)
  /// Core Data error 1620.
  public static let validationNumberTooSmall = CocoaError.Code(rawValue: 1620)
  /// Core Data error 1630.
  public static let validationDateTooLate = CocoaError.Code(rawValue: 1630)
  /// Core Data error 1640.
  public static let validationDateTooSoon = CocoaError.Code(rawValue: 1640)
  /// Core Data error 1650.
  public static let validationInvalidDate = CocoaError.Code(rawValue: 1650)
  /// Core Data error 1660.
  public static let validationStringTooLong = CocoaError.Code(rawValue: 1660)
  /// Core Data error 1670.
  public static let validationStringTooShort = CocoaError.Code(rawValue: 1670)
  /// Core Data error 1680.
  public static let validationStringPatternMatching = CocoaError.Code(rawValue: 1680)
  /// Core Data error 132000.
  public static let managedObjectContextLocking = CocoaError.Code(rawValue: 132000)
  /// Core Data error 132010.
  public static let persistentStoreCoordinatorLocking = CocoaError.Code(rawValue: 132010)
  /// Core Data error 133000.
  public static let managedObjectReferentialIntegrity = CocoaError.Code(rawValue: 133000)
  /// Core Data error 133010.
  public static let managedObjectExternalRelationship = CocoaError.Code(rawValue: 133010)
  /// Core Data error 133020.
  public static let managedObjectMerge = CocoaError.Code(rawValue: 133020)
  /// Core Data error 133021.
  public static let managedObjectConstraintMerge = CocoaError.Code(rawValue: 133021)
  /// Core Data error 134000.
  public static let persistentStoreInvalidType = CocoaError.Code(rawValue: 134000)
  /// Core Data error 134010.
  public static let persistentStoreTypeMismatch = CocoaError.Code(rawValue: 134010)
  /// Core Data error 134020.
  public static let persistentStoreIncompatibleSchema = CocoaError.Code(rawValue: 134020)
  /// Core Data error 134030.
  public static let persistentStoreSave = CocoaError.Code(rawValue: 134030)
  /// Core Data error 134040.
  public static let persistentStoreIncompleteSave = CocoaError.Code(rawValue: 134040)
  /// Core Data error 134050.
  public static let persistentStoreSaveConflicts = CocoaError.Code(rawValue: 134050)
  /// Core Data error 134060.
  public static let coreData = CocoaError.Code(rawValue: 134060)
  /// Core Data error 134070.
  public static let persistentStoreOperation = CocoaError.Code(rawValue: 134070)
  /// Core Data error 134080.
  public static let persistentStoreOpen = CocoaError.Code(rawValue: 134080)
  /// Core Data error 134090.
  public static let persistentStoreTimeout = CocoaError.Code(rawValue: 134090)
  /// Core Data error 134091.
  public static let persistentStoreUnsupportedRequestType = CocoaError.Code(rawValue: 134091)
  /// Core Data error 134100.
  public static let persistentStoreIncompatibleVersionHash = CocoaError.Code(rawValue: 134100)
  /// Core Data error 134110.
  public static let migration = CocoaError.Code(rawValue: 134110)
  /// Core Data error 134120.
  public static let migrationCancelled = CocoaError.Code(rawValue: 134120)
  /// Core Data error 134130.
  public static let migrationMissingSourceModel = CocoaError.Code(rawValue: 134130)
  /// Core Data error 134140.
  public static let migrationMissingMappingModel = CocoaError.Code(rawValue: 134140)
  /// Core Data error 134150.
  public static let migrationManagerSourceStore = CocoaError.Code(rawValue: 134150)
  /// Core Data error 134160.
  public static let migrationManagerDestinationStore = CocoaError.Code(rawValue: 134160)
  /// Core Data error 134170.
  public static let entityMigrationPolicy = CocoaError.Code(rawValue: 134170)
  /// Core Data error 134180.
  public static let sqlite = CocoaError.Code(rawValue: 134180)
  /// Core Data error 134190.
  public static let inferredMappingModel = CocoaError.Code(rawValue: 134190)
  /// Core Data error 134200.
  public static let externalRecordImport = CocoaError.Code(rawValue: 134200)
}

extension CocoaError {
  /// Core Data error 1550.
  public static var managedObjectValidation: CocoaError.Code { .managedObjectValidation }
  /// Core Data error 1560.
  public static var validationMultipleErrors: CocoaError.Code { .validationMultipleErrors }
  /// Core Data error 1570.
  public static var validationMissingMandatoryProperty: CocoaError.Code {
    .validationMissingMandatoryProperty
  }
  /// Core Data error 1580.
  public static var validationRelationshipLacksMinimumCount: CocoaError.Code {
    .validationRelationshipLacksMinimumCount
  }
  /// Core Data error 1590.
  public static var validationRelationshipExceedsMaximumCount: CocoaError.Code {
    .validationRelationshipExceedsMaximumCount
  }
  /// Core Data error 1600.
  public static var validationRelationshipDeniedDelete: CocoaError.Code {
    .validationRelationshipDeniedDelete
  }
  /// Core Data error 1610.
  public static var validationNumberTooLarge: CocoaError.Code { .validationNumberTooLarge }
  /// Core Data error 1620.
  public static var validationNumberTooSmall: CocoaError.Code { .validationNumberTooSmall }
  /// Core Data error 1630.
  public static var validationDateTooLate: CocoaError.Code { .validationDateTooLate }
  /// Core Data error 1640.
  public static var validationDateTooSoon: CocoaError.Code { .validationDateTooSoon }
  /// Core Data error 1650.
  public static var validationInvalidDate: CocoaError.Code { .validationInvalidDate }
  /// Core Data error 1660.
  public static var validationStringTooLong: CocoaError.Code { .validationStringTooLong }
  /// Core Data error 1670.
  public static var validationStringTooShort: CocoaError.Code { .validationStringTooShort }
  /// Core Data error 1680.
  public static var validationStringPatternMatching: CocoaError.Code { .validationStringPatternMatching }
  /// Core Data error 132000.
  public static var managedObjectContextLocking: CocoaError.Code { .managedObjectContextLocking }
  /// Core Data error 132010.
  public static var persistentStoreCoordinatorLocking: CocoaError.Code { .persistentStoreCoordinatorLocking }
  /// Core Data error 133000.
  public static var managedObjectReferentialIntegrity: CocoaError.Code { .managedObjectReferentialIntegrity }
  /// Core Data error 133010.
  public static var managedObjectExternalRelationship: CocoaError.Code { .managedObjectExternalRelationship }
  /// Core Data error 133020.
  public static var managedObjectMerge: CocoaError.Code { .managedObjectMerge }
  /// Core Data error 133021.
  public static var managedObjectConstraintMerge: CocoaError.Code { .managedObjectConstraintMerge }
  /// Core Data error 134000.
  public static var persistentStoreInvalidType: CocoaError.Code { .persistentStoreInvalidType }
  /// Core Data error 134010.
  public static var persistentStoreTypeMismatch: CocoaError.Code { .persistentStoreTypeMismatch }
  /// Core Data error 134020.
  public static var persistentStoreIncompatibleSchema: CocoaError.Code { .persistentStoreIncompatibleSchema }
  /// Core Data error 134030.
  public static var persistentStoreSave: CocoaError.Code { .persistentStoreSave }
  /// Core Data error 134040.
  public static var persistentStoreIncompleteSave: CocoaError.Code { .persistentStoreIncompleteSave }
  /// Core Data error 134050.
  public static var persistentStoreSaveConflicts: CocoaError.Code { .persistentStoreSaveConflicts }
  /// Core Data error 134060.
  public static var coreData: CocoaError.Code { .coreData }
  /// Core Data error 134070.
  public static var persistentStoreOperation: CocoaError.Code { .persistentStoreOperation }
  /// Core Data error 134080.
  public static var persistentStoreOpen: CocoaError.Code { .persistentStoreOpen }
  /// Core Data error 134090.
  public static var persistentStoreTimeout: CocoaError.Code { .persistentStoreTimeout }
  /// Core Data error 134091.
  public static var persistentStoreUnsupportedRequestType: CocoaError.Code {
    .persistentStoreUnsupportedRequestType
  }
  /// Core Data error 134100.
  public static var persistentStoreIncompatibleVersionHash: CocoaError.Code {
    .persistentStoreIncompatibleVersionHash
  }
  /// Core Data error 134110.
  public static var migration: CocoaError.Code { .migration }
  /// Core Data error 134120.
  public static var migrationCancelled: CocoaError.Code { .migrationCancelled }
  /// Core Data error 134130.
  public static var migrationMissingSourceModel: CocoaError.Code { .migrationMissingSourceModel }
  /// Core Data error 134140.
  public static var migrationMissingMappingModel: CocoaError.Code { .migrationMissingMappingModel }
  /// Core Data error 134150.
  public static var migrationManagerSourceStore: CocoaError.Code { .migrationManagerSourceStore }
  /// Core Data error 134160.
  public static var migrationManagerDestinationStore: CocoaError.Code { .migrationManagerDestinationStore }
  /// Core Data error 134170.
  public static var entityMigrationPolicy: CocoaError.Code { .entityMigrationPolicy }
  /// Core Data error 134180.
  public static var sqlite: CocoaError.Code { .sqlite }
  /// Core Data error 134190.
  public static var inferredMappingModel: CocoaError.Code { .inferredMappingModel }
  /// Core Data error 134200.
  public static var externalRecordImport: CocoaError.Code { .externalRecordImport }
}
