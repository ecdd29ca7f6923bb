/// A SQLite file in Apple's layout.
public let NSSQLiteStoreType = "SQLite"
/// Memory.
public let NSInMemoryStoreType = "InMemory"
/// One file, read and written whole.
public let NSBinaryStoreType = "Binary"
/// One file of XML, read and written whole.
public let NSXMLStoreType = "XML"

/// Metadata key of the store type.
public let NSStoreTypeKey = "NSStoreType"
/// Metadata key of the store's UUID.
public let NSStoreUUIDKey = "NSStoreUUID"
/// Metadata key of the entities' version hashes.
public let NSStoreModelVersionHashesKey = "NSStoreModelVersionHashes"
/// Metadata key of the model's version identifiers.
public let NSStoreModelVersionIdentifiersKey = "NSStoreModelVersionIdentifiers"
/// Metadata key of the model's checksum.
public let NSPersistentStoreModelVersionChecksumKey = "NSStoreModelVersionChecksumKey"

/// Option: saves fail and no byte of the file is written. A boolean.
///
/// ```swift
/// try coordinator.addPersistentStore(
///   type: .sqlite, at: storeURL, options: [NSReadOnlyPersistentStoreOption: true])
/// ```
public let NSReadOnlyPersistentStoreOption = "NSReadOnlyPersistentStoreOption"
/// Option: seconds to wait for a file that another process is writing.
///
/// ```swift
/// try coordinator.addPersistentStore(
///   type: .sqlite, at: storeURL, options: [NSPersistentStoreTimeoutOption: 10])
/// ```
public let NSPersistentStoreTimeoutOption = "NSPersistentStoreTimeoutOption"
/// Option: dictionary of SQLite pragmas, all values strings.
///
/// ```swift
/// try coordinator.addPersistentStore(
///   type: .sqlite, at: storeURL, options: [NSSQLitePragmasOption: ["synchronous": "FULL"]])
/// ```
public let NSSQLitePragmasOption = "NSSQLitePragmasOption"
/// Option: gather statistics for the query planner when opening. A boolean.
///
/// ```swift
/// description.setOption(true as NSNumber, forKey: NSSQLiteAnalyzeOption)
/// ```
public let NSSQLiteAnalyzeOption = "NSSQLiteAnalyzeOption"
/// Option: rebuild the file when opening, giving free space back. A boolean.
public let NSSQLiteManualVacuumOption = "NSSQLiteManualVacuumOption"
/// Option: open a store although its version hashes are not the model's. A boolean.
public let NSIgnorePersistentStoreVersioningOption = "NSIgnorePersistentStoreVersioningOption"
/// Option: migrate a store of another model version. A boolean.
///
/// ```swift
/// try coordinator.addPersistentStore(
///   type: .sqlite, at: storeURL,
///   options: [
///     NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
///   ])
/// ```
public let NSMigratePersistentStoresAutomaticallyOption = "NSMigratePersistentStoresAutomaticallyOption"
/// Option: infer the mapping of a migration. A boolean.
public let NSInferMappingModelAutomaticallyOption = "NSInferMappingModelAutomaticallyOption"
/// Option: most connections that read at a time.
public let NSPersistentStoreConnectionPoolMaxSizeKey = "NSPersistentStoreConnectionPoolMaxSize"
/// Option: destroy a store even if it cannot be opened. A boolean.
public let NSPersistentStoreForceDestroyOption = "NSPersistentStoreForceDestroyOption"
/// Option: check an XML store against its document type when it is read. Has no effect here: what a store of
/// a custom class reads is up to it.
public let NSValidateXMLStoreOption = "NSValidateXMLStoreOption"
/// Option: classes that a binary store may hold. Has no effect here.
public let NSBinaryStoreSecureDecodingClasses = "NSBinaryStoreSecureDecodingClasses"
/// Option: whether a binary store may hold objects of any class. Has no effect here.
public let NSBinaryStoreInsecureDecodingCompatibilityOption =
  "NSBinaryStoreInsecureDecodingCompatibilityOption"
/// Metadata key of the system versions that a store is for. Never set here.
public let NSPersistentStoreOSCompatibility = "NSPersistentStoreOSCompatibility"
/// Option: file protection class; has no effect here.
public let NSPersistentStoreFileProtectionKey = "NSPersistentStoreFileProtectionKey"
/// Option: keep a history of transactions. A boolean or a dictionary.
///
/// ```swift
/// description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
/// ```
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTrackingKey"
/// Option: post a notification when another coordinator or process has written. A boolean.
///
/// ```swift
/// description.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
/// ```
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey =
  "NSPersistentStoreRemoteChangeNotificationOptionKey"

/// Option with an `NSStagedMigrationManager`, by whose stages a store of an older version is migrated.
public let NSPersistentStoreStagedMigrationManagerOptionKey =
  "NSPersistentStoreStagedMigrationManagerOptionKey"

/// Option that allows parts of a lightweight migration to be put off. Accepted; nothing is ever put off here:
/// the whole migration happens in the one transaction in which the store is added.
public let NSPersistentStoreDeferredLightweightMigrationOptionKey =
  "NSPersistentStoreDeferredLightweightMigrationOptionKey"
