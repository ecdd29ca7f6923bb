/// A SQLite file in Apple's layout.
public let NSSQLiteStoreType = "SQLite"
/// Memory.
public let NSInMemoryStoreType = "InMemory"
/// A single file, read and written as a whole.
public let NSBinaryStoreType = "Binary"
/// A single XML file, read and written as a whole.
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

/// Option: saves fail, and the file is never written. A boolean.
///
/// ```swift
/// try coordinator.addPersistentStore(
///   type: .sqlite, at: storeURL, options: [NSReadOnlyPersistentStoreOption: true])
/// ```
public let NSReadOnlyPersistentStoreOption = "NSReadOnlyPersistentStoreOption"
/// Option: seconds to wait for a file that another process has locked.
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
/// Option: collect statistics for the query planner when opening. A boolean.
///
/// ```swift
/// description.setOption(true as NSNumber, forKey: NSSQLiteAnalyzeOption)
/// ```
public let NSSQLiteAnalyzeOption = "NSSQLiteAnalyzeOption"
/// Option: vacuum the file when opening. A boolean.
public let NSSQLiteManualVacuumOption = "NSSQLiteManualVacuumOption"
/// Option: open a store even if its version hashes differ from the model's. A boolean.
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
/// Option: maximum number of concurrent reading connections.
public let NSPersistentStoreConnectionPoolMaxSizeKey = "NSPersistentStoreConnectionPoolMaxSize"
/// Option: destroy a store even if it cannot be opened. A boolean.
public let NSPersistentStoreForceDestroyOption = "NSPersistentStoreForceDestroyOption"
/// Option: validate an XML store against its document type when reading. Has no effect here: custom store
/// classes define how they read.
public let NSValidateXMLStoreOption = "NSValidateXMLStoreOption"
/// Option: classes allowed in a binary store. Has no effect here.
public let NSBinaryStoreSecureDecodingClasses = "NSBinaryStoreSecureDecodingClasses"
/// Option: whether a binary store may contain objects of any class. Has no effect here.
public let NSBinaryStoreInsecureDecodingCompatibilityOption =
  "NSBinaryStoreInsecureDecodingCompatibilityOption"
/// Metadata key of the system versions that a store supports. Never set here.
public let NSPersistentStoreOSCompatibility = "NSPersistentStoreOSCompatibility"
/// Option: file protection class; has no effect here.
public let NSPersistentStoreFileProtectionKey = "NSPersistentStoreFileProtectionKey"
/// Option: record a history of transactions. A boolean or a dictionary.
///
/// ```swift
/// description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
/// ```
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTrackingKey"
/// Option: post a notification when another coordinator or process has written to the store. A boolean.
///
/// ```swift
/// description.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
/// ```
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey =
  "NSPersistentStoreRemoteChangeNotificationOptionKey"

/// Option: a file to which is recorded what all contexts of the coordinator do, until its last store is removed. A path, in which
/// `%p` is the process's number, or a file's URL. Core Data has no such option.
///
/// `coredata trace show` sums a recording up, and `coredata shootout --replay` replays it. The environment variable
/// `COREDATA_RECORD` records all contexts of a program. A program makes one recording at a time.
///
/// ```swift
/// description.setOption("trace-%p.ndjson" as NSString, forKey: NSPersistentStoreRecordingFileOption)
/// ```
public let NSPersistentStoreRecordingFileOption = "NSPersistentStoreRecordingFileOption"
/// Option: record values, too: those of predicates and changes. A boolean. Core Data has no such option.
public let NSPersistentStoreRecordingValuesOption = "NSPersistentStoreRecordingValuesOption"

/// Option: an `NSStagedMigrationManager` whose stages migrate a store of an older version.
public let NSPersistentStoreStagedMigrationManagerOptionKey =
  "NSPersistentStoreStagedMigrationManagerOptionKey"

/// Option: allow parts of a lightweight migration to be deferred. Accepted, but never used: the whole
/// migration happens in the transaction that adds the store.
public let NSPersistentStoreDeferredLightweightMigrationOptionKey =
  "NSPersistentStoreDeferredLightweightMigrationOptionKey"
