// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

/// Where the system has no Core Data.
let withoutCoreData: [Platform] = [.linux, .android, .windows, .wasi, .openbsd]

/// Every target is built alike: Swift 6 mode, existential types spelled `any`. Release builds are optimized for size, which
/// takes a client half the time to build; what must be fast is inlined by name (docs/decisions/0016-one-module.md).
let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .unsafeFlags(
    ["-Osize"], .when(platforms: withoutCoreData, configuration: .release)),
]

let package = Package(
  name: "CoreData",
  // For the products that work with Apple's Core Data, too; they have no effect elsewhere.
  platforms: [.macOS(.v12), .iOS(.v15), .tvOS(.v15), .watchOS(.v8)],
  products: [
    .library(name: "CoreData", targets: ["CoreData"]),
    .library(name: "CoreDataStacks", targets: ["CoreDataStacks"]),
    .library(name: "MainThreadWatch", targets: ["MainThreadWatch"]),
    .library(name: "CoreDataTesting", targets: ["CoreDataTesting"]),
    .library(name: "CoreDataPostgreSQLTesting", targets: ["CoreDataPostgreSQLTesting"]),
    .library(name: "SwiftData", targets: ["SwiftData"]),
    .library(name: "CoreDataPostgreSQL", targets: ["CoreDataPostgreSQL"]),
    .executable(name: "coredata", targets: ["coredata"]),
    .executable(name: "coredata-explorer", targets: ["coredata-explorer"]),
    .executable(name: "coredata-postgresql", targets: ["coredata-postgresql"]),
    .plugin(name: "CoreDataModelPlugin", targets: ["CoreDataModelPlugin"]),
    .plugin(name: "CoreDataAdoptPlugin", targets: ["CoreDataAdoptPlugin", "CoreDataAdoptPreviewPlugin"]),
  ],
  targets: [
    .systemLibrary(
      name: "CoreDataCSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CoreDataCSwiftRuntime"),
    .target(name: "CoreDataSQLiteBinding", dependencies: ["CoreDataCSQLite"], swiftSettings: settings),
    .systemLibrary(name: "CoreDataCZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .target(name: "CoreDataZlibBinding", dependencies: ["CoreDataCZlib"], swiftSettings: settings),
    .target(name: "CoreDataPredicateLanguage", swiftSettings: settings),
    .target(name: "CoreDataModelSchema", swiftSettings: settings),
    .target(
      name: "CoreDataModelFiles", dependencies: ["CoreDataModelSchema", "CoreDataPredicateLanguage"],
      swiftSettings: settings),
    // Tokens of Swift source, for the code generator and the macros.
    .target(name: "CoreDataSwiftLexer", swiftSettings: settings),
    .target(
      name: "CoreDataModelCodegen", dependencies: ["CoreDataModelSchema", "CoreDataSwiftLexer"],
      swiftSettings: settings),
    .executableTarget(
      name: "coredata-codegen",
      dependencies: ["CoreDataModelFiles", "CoreDataModelCodegen", "CoreDataModelSchema"],
      swiftSettings: settings),
    .plugin(
      name: "CoreDataModelPlugin", capability: .buildTool(), dependencies: ["coredata-codegen"]),
    .plugin(
      name: "CoreDataAdoptPlugin",
      capability: .command(
        intent: .custom(
          verb: "coredata-adopt", description: "Adapt source written for Apple's Core Data, with a preview."),
        permissions: [.writeToPackageDirectory(reason: "With --write, the sources are changed in place.")]),
      dependencies: ["coredata-codegen"]),
    .plugin(
      name: "CoreDataAdoptPreviewPlugin",
      capability: .command(
        intent: .custom(
          verb: "coredata-adopt-preview",
          description: "Show how to adapt source written for Apple's Core Data.")),
      dependencies: ["coredata-codegen"]),
    .target(
      name: "CoreData",
      dependencies: [
        "CoreDataCSwiftRuntime", "CoreDataSQLiteBinding", "CoreDataZlibBinding", "CoreDataPredicateLanguage",
        "CoreDataModelSchema", "CoreDataModelFiles",
      ],
      swiftSettings: settings),
    // Stores in a PostgreSQL database, for programs that import them. Without 'pkgConfig', as libmicrohttpd below.
    .systemLibrary(name: "CoreDataCPostgreSQL"),
    .target(
      name: "CoreDataPostgreSQLBinding", dependencies: ["CoreDataCPostgreSQL"], swiftSettings: settings),
    .target(
      name: "CoreDataPostgreSQL",
      dependencies: [
        "CoreData", "CoreDataModelFiles", "CoreDataModelSchema", "CoreDataPostgreSQLBinding",
        "CoreDataPredicateLanguage",
      ],
      swiftSettings: settings),
    // Models in a few lines, for programs and tests that make theirs in code.
    .target(
      name: "ModelMaking", dependencies: ["CoreData"], path: "Tests/ModelMaking", swiftSettings: settings),
    // Savers that are killed, for Scripts/stress torture-postgresql.
    .executableTarget(
      name: "postgresql-torture", dependencies: ["CoreData", "CoreDataPostgreSQL", "ModelMaking"],
      path: "Tests/Workshop/postgresql-torture", swiftSettings: settings),
    // Works on the system's Core Data where there is one.
    .target(
      name: "CoreDataStacks",
      dependencies: [
        .target(name: "CoreData", condition: .when(platforms: withoutCoreData))
      ],
      swiftSettings: settings),
    // Plausible values of attributes, on either Core Data.
    .target(
      name: "CoreDataSampleValues",
      dependencies: [
        .target(name: "CoreData", condition: .when(platforms: withoutCoreData))
      ],
      swiftSettings: settings),
    // Stores, fixtures and expectations for tests, with Swift Testing and XCTest, on either Core Data.
    .target(
      name: "CoreDataTesting",
      dependencies: [
        "CoreDataSampleValues",
        .target(name: "CoreData", condition: .when(platforms: withoutCoreData)),
      ],
      swiftSettings: settings),
    // Schemas of PostgreSQL for tests. A product of its own, so that other tests need no libpq.
    .target(
      name: "CoreDataPostgreSQLTesting",
      dependencies: [
        "CoreData", "CoreDataPostgreSQL", "CoreDataPostgreSQLBinding", "CoreDataTesting",
      ],
      swiftSettings: settings),
    .target(name: "SwiftData", dependencies: ["CoreData", "SwiftDataMacros"], swiftSettings: settings),
    // Trials of the engine on store files, its own and Apple's: what tests, scripts and docs/Interop.md rest
    // on.
    .target(
      name: "CoreDataStoreTrials",
      dependencies: [
        "CoreData", "CoreDataModelFiles", "CoreDataSQLiteBinding", "CoreDataToolKit", "ModelMaking",
      ],
      path: "Tests/Workshop/CoreDataStoreTrials", swiftSettings: settings),
    .executableTarget(
      name: "store-trials", dependencies: ["CoreDataStoreTrials", "CoreDataToolKit"],
      path: "Tests/Workshop/store-trials", swiftSettings: settings),
    // Kills and faults, for Scripts/stress torture. The C target has a VFS of its own, and is part of no product.
    .target(
      name: "CoreDataCTorture", dependencies: ["CoreDataCSQLite"], path: "Tests/Workshop/CoreDataCTorture",
      exclude: ["Preload"]),
    .target(
      name: "CoreDataStoreTorture",
      dependencies: [
        "CoreData", "CoreDataCTorture", "CoreDataSQLiteBinding", "CoreDataStoreTrials", "CoreDataToolKit",
        "ModelMaking",
      ],
      path: "Tests/Workshop/CoreDataStoreTorture", swiftSettings: settings),
    .executableTarget(
      name: "store-torture", dependencies: ["CoreDataStoreTorture", "CoreDataToolKit"],
      path: "Tests/Workshop/store-torture", swiftSettings: settings),
    .target(name: "CoreDataJSON", swiftSettings: settings),
    .target(name: "CoreDataCArguments"),
    .target(
      name: "CoreDataToolKit", dependencies: ["CoreDataCArguments", "CoreDataJSON"], swiftSettings: settings),
    // What work costs the main thread, also for programs that measure themselves. Needs Foundation only.
    .target(name: "MainThreadWatch", swiftSettings: settings),
    .target(
      name: "CoreDataStackShootout",
      dependencies: [
        "CoreData", "CoreDataCSQLite", "CoreDataModelSchema", "CoreDataSQLiteBinding", "CoreDataSampleValues",
        "CoreDataStoreTools", "CoreDataToolKit", "MainThreadWatch",
      ],
      swiftSettings: settings),
    .target(
      name: "CoreDataModelTools",
      dependencies: [
        "CoreDataModelCodegen", "CoreDataModelFiles", "CoreDataModelSchema", "CoreDataPredicateLanguage",
        "CoreDataSQLiteBinding", "CoreDataToolKit",
        "CoreDataZlibBinding",
      ],
      swiftSettings: settings),
    .target(
      name: "CoreDataStoreTools",
      dependencies: [
        "CoreData", "CoreDataModelCodegen", "CoreDataModelFiles", "CoreDataModelSchema",
        "CoreDataPredicateLanguage", "CoreDataSQLiteBinding", "CoreDataToolKit", "CoreDataZlibBinding",
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "coredata",
      dependencies: ["CoreDataModelTools", "CoreDataStackShootout", "CoreDataStoreTools", "CoreDataToolKit"],
      swiftSettings: settings),
    // Many contexts at once for a long time, for Scripts/stress load. Counts what the whole process holds.
    .target(
      name: "CoreDataLoadTrials",
      dependencies: [
        "AllocatedMemory", "CoreData", "CoreDataCSQLite", "CoreDataStacks", "CoreDataStackShootout",
        "CoreDataToolKit", "MainThreadWatch", "SwiftData",
      ],
      path: "Tests/Workshop/CoreDataLoadTrials", swiftSettings: settings),
    .executableTarget(
      name: "load-trials", dependencies: ["CoreDataLoadTrials", "CoreDataToolKit"],
      path: "Tests/Workshop/load-trials", swiftSettings: settings),
    .executableTarget(
      name: "load-trials-postgresql",
      dependencies: ["CoreDataLoadTrials", "CoreDataPostgreSQL", "CoreDataToolKit"],
      path: "Tests/Workshop/load-trials-postgresql", swiftSettings: settings),
    // Pages over a store. A program of its own, so that nothing else needs libmicrohttpd. Without 'pkgConfig', which
    // would have every client package warned where the library is missing.
    .systemLibrary(name: "CoreDataCMicroHTTPD"),
    .target(
      name: "CoreDataMicroHTTPDBinding", dependencies: ["CoreDataCMicroHTTPD"], swiftSettings: settings),
    .target(
      name: "CoreDataExplorer",
      dependencies: [
        "CoreData", "CoreDataMicroHTTPDBinding", "CoreDataModelSchema", "CoreDataModelTools",
        "CoreDataSQLiteBinding", "CoreDataStoreTools", "CoreDataToolKit",
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "coredata-explorer", dependencies: ["CoreDataExplorer", "CoreDataToolKit"],
      swiftSettings: settings),
    // Schemas of stores in PostgreSQL. A program of its own, so that nothing else needs libpq.
    .target(
      name: "CoreDataPostgreSQLTools",
      dependencies: [
        "CoreData", "CoreDataModelTools", "CoreDataPostgreSQL", "CoreDataPostgreSQLBinding",
        "CoreDataStackShootout", "CoreDataToolKit",
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "coredata-postgresql", dependencies: ["CoreDataPostgreSQLTools", "CoreDataToolKit"],
      swiftSettings: settings),
    // All commands in one program, which Scripts/release installs as 'coredata'.
    .executableTarget(
      name: "coredata-all",
      dependencies: [
        "CoreDataExplorer", "CoreDataModelTools", "CoreDataPostgreSQLTools", "CoreDataStackShootout",
        "CoreDataStoreTools", "CoreDataToolKit",
      ],
      swiftSettings: settings),
    // Stores for Scripts/check explorer, and a second process that writes to them.
    .executableTarget(
      name: "explorer-trials", dependencies: ["CoreData", "ModelMaking"],
      path: "Tests/Workshop/explorer-trials",
      swiftSettings: settings),
    // The macros of SwiftData, expanded without swift-syntax: reading and writing of declarations as a library that tests
    // can use, and the program that the compiler runs. Built by clients of product SwiftData only.
    .target(
      name: "SwiftDataExpansion", dependencies: ["CoreDataJSON", "CoreDataSwiftLexer"],
      swiftSettings: settings),
    .macro(name: "SwiftDataMacros", dependencies: ["SwiftDataExpansion"], swiftSettings: settings),
    // Has the tests trap on contexts used off their queue, however they are started.
    .target(name: "ConcurrencyTraps", path: "Tests/ConcurrencyTraps"),
    // Temporary directories, real files and repeatable random numbers for several test targets.
    .target(
      name: "TestSupport", dependencies: ["CoreDataModelSchema", "CoreDataToolKit"],
      path: "Tests/TestSupport",
      swiftSettings: settings),
    .testTarget(
      name: "SQLiteBindingTests", dependencies: ["CoreDataSQLiteBinding", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "PredicateLanguageTests", dependencies: ["CoreDataPredicateLanguage", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "ModelSchemaTests", dependencies: ["CoreDataModelSchema", "TestSupport"], swiftSettings: settings),
    .testTarget(
      name: "ModelFilesTests", dependencies: ["CoreDataModelFiles", "CoreDataModelSchema", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "ModelCodegenTests",
      dependencies: ["CoreDataModelCodegen", "CoreDataModelFiles", "CoreDataModelSchema", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "SwiftDataMacrosTests", dependencies: ["SwiftDataExpansion", "CoreDataJSON", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "ModelToolsTests",
      dependencies: [
        "CoreDataModelTools", "CoreDataModelFiles", "CoreDataModelSchema", "CoreDataModelCodegen",
        "CoreDataSQLiteBinding", "CoreDataToolKit",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "StoreTrialsTests",
      dependencies: [
        "CoreDataStoreTrials", "CoreData", "CoreDataSQLiteBinding", "TestSupport", "store-trials",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "StoreToolsTests",
      dependencies: [
        "CoreDataStoreTools", "CoreData", "CoreDataModelFiles", "CoreDataModelSchema",
        "CoreDataSQLiteBinding", "CoreDataToolKit", "TestSupport",
      ],
      swiftSettings: settings),
    // The built tool, as a shell runs it.
    .testTarget(
      name: "CommandLineTests",
      dependencies: [
        "coredata", "CoreData", "CoreDataModelFiles", "CoreDataModelSchema", "CoreDataSQLiteBinding",
        "TestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "ExplorerTests",
      dependencies: [
        "CoreDataExplorer", "CoreDataMicroHTTPDBinding", "CoreData", "CoreDataSQLiteBinding",
        "CoreDataToolKit", "TestSupport",
      ],
      exclude: ["Pages"], swiftSettings: settings),
    // A server for tests, which Scripts/lib/postgresql.bash starts.
    .target(
      name: "PostgreSQLServer", dependencies: ["TestSupport"], path: "Tests/PostgreSQLServer",
      swiftSettings: settings),
    .testTarget(
      name: "PostgreSQLStoreTests",
      dependencies: [
        "CoreData", "CoreDataPostgreSQL", "CoreDataPostgreSQLBinding", "CoreDataPostgreSQLTesting",
        "CoreDataPostgreSQLTools", "CoreDataTesting", "PostgreSQLServer", "TestSupport",
        "coredata", "coredata-explorer", "coredata-postgresql", "postgresql-torture",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "ToolKitTests", dependencies: ["CoreDataToolKit", "TestSupport"], swiftSettings: settings),
    .testTarget(
      name: "StackShootoutTests",
      dependencies: [
        "CoreDataStackShootout", "CoreDataToolKit", "MainThreadWatch", "coredata", "TestSupport",
      ],
      exclude: ["Reports"], swiftSettings: settings),
    .testTarget(
      name: "LoadTrialsTests", dependencies: ["CoreDataLoadTrials", "CoreDataToolKit", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "CoreDataStacksTests", dependencies: ["CoreDataStacks", "CoreData", "TestSupport", "coredata"],
      swiftSettings: settings),
    .testTarget(
      name: "CoreDataTestingTests", dependencies: ["CoreDataTesting", "CoreData"],
      exclude: ["__Snapshots__"], resources: [.copy("Fixtures")], swiftSettings: settings,
      plugins: ["CoreDataModelPlugin"]),
    // Classes written by hand and generated ones, as a program's target has them.
    .testTarget(
      name: "SampleModelTests", dependencies: ["CoreDataStacks", "CoreData"], swiftSettings: settings,
      plugins: ["CoreDataModelPlugin"]),
    // A second process on the stores of SwiftDataTests.
    .executableTarget(
      name: "swiftdata-neighbor", dependencies: ["CoreData"], path: "Tests/SwiftDataNeighbor",
      swiftSettings: settings),
    // What a server lives through, in a process of its own: Scripts/stress soak-swiftdata.
    .systemLibrary(name: "AllocatedMemory", path: "Tests/AllocatedMemory"),
    .executableTarget(
      name: "swiftdata-soak", dependencies: ["CoreDataLoadTrials", "CoreDataToolKit", "SwiftData"],
      path: "Tests/SwiftDataSoak", swiftSettings: settings),
    .testTarget(
      name: "SwiftDataTests",
      dependencies: [
        "SwiftData", "CoreData", "CoreDataPostgreSQL", "PostgreSQLServer", "TestSupport",
        "swiftdata-neighbor",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "CoreDataTests",
      dependencies: [
        "ConcurrencyTraps",
        "CoreData", "CoreDataCTorture", "CoreDataModelFiles", "CoreDataModelSchema", "CoreDataPostgreSQL",
        "CoreDataPredicateLanguage", "CoreDataSQLiteBinding", "CoreDataZlibBinding", "PostgreSQLServer",
        "TestSupport",
      ],
      swiftSettings: settings),
  ]
)
