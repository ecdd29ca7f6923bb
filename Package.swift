// swift-tools-version: 6.2
import PackageDescription

/// Every target is built alike: Swift 6 mode, existential types spelled `any`.
let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
]

let package = Package(
  name: "CoreData",
  products: [
    .library(name: "CoreData", targets: ["CoreData"]),
    .library(name: "CoreDataStack", targets: ["CoreDataStack"]),
    .executable(name: "coredata", targets: ["coredata"]),
    .plugin(name: "CoreDataModelPlugin", targets: ["CoreDataModelPlugin"]),
    .plugin(name: "CoreDataAdoptPlugin", targets: ["CoreDataAdoptPlugin"]),
  ],
  targets: [
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CSwiftRuntime"),
    .target(name: "SQLiteBinding", dependencies: ["CSQLite"], swiftSettings: settings),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .target(name: "ZlibBinding", dependencies: ["CZlib"], swiftSettings: settings),
    .target(name: "PredicateLanguage", swiftSettings: settings),
    .target(name: "ModelSchema", swiftSettings: settings),
    .target(name: "ModelFiles", dependencies: ["ModelSchema"], swiftSettings: settings),
    .target(name: "ModelCodegen", dependencies: ["ModelSchema"], swiftSettings: settings),
    .executableTarget(
      name: "coredata-codegen", dependencies: ["ModelFiles", "ModelCodegen", "ModelSchema"],
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
    .target(
      name: "CoreData",
      dependencies: [
        "CSwiftRuntime", "SQLiteBinding", "ZlibBinding", "PredicateLanguage", "ModelSchema", "ModelFiles",
      ],
      swiftSettings: settings),
    // Works on the system's Core Data where there is one.
    .target(
      name: "CoreDataStack",
      dependencies: [
        .target(name: "CoreData", condition: .when(platforms: [.linux, .android, .windows, .wasi, .openbsd]))
      ],
      swiftSettings: settings),
    // Trials of the engine on store files, its own and Apple's: what tests, scripts and docs/Interop.md rest
    // on.
    .target(
      name: "StoreTrials", dependencies: ["CoreData", "ModelFiles", "SQLiteBinding"], swiftSettings: settings),
    .executableTarget(
      name: "store-trials", dependencies: ["StoreTrials", "ToolKit"], swiftSettings: settings),
    .target(name: "ToolKit", swiftSettings: settings),
    .target(
      name: "StackShootout", dependencies: ["CoreData", "CSQLite", "ToolKit"],
      swiftSettings: settings),
    .target(
      name: "ModelTools",
      dependencies: [
        "ModelCodegen", "ModelFiles", "ModelSchema", "PredicateLanguage", "SQLiteBinding", "ToolKit",
        "ZlibBinding",
      ],
      swiftSettings: settings),
    .target(
      name: "StoreTools",
      dependencies: ["CoreData", "ModelFiles", "ModelSchema", "SQLiteBinding", "ToolKit"],
      swiftSettings: settings),
    .executableTarget(
      name: "coredata", dependencies: ["ModelTools", "StackShootout", "StoreTools", "ToolKit"],
      swiftSettings: settings),
    .testTarget(
      name: "SQLiteBindingTests", dependencies: ["SQLiteBinding"], swiftSettings: settings),
    .testTarget(
      name: "PredicateLanguageTests", dependencies: ["PredicateLanguage"],
      swiftSettings: settings),
    .testTarget(name: "ModelSchemaTests", dependencies: ["ModelSchema"], swiftSettings: settings),
    .testTarget(
      name: "ModelFilesTests", dependencies: ["ModelFiles", "ModelSchema"],
      swiftSettings: settings),
    .testTarget(
      name: "ModelCodegenTests", dependencies: ["ModelCodegen", "ModelFiles", "ModelSchema"],
      swiftSettings: settings),
    .testTarget(
      name: "ModelToolsTests",
      dependencies: ["ModelTools", "ModelFiles", "ModelSchema", "ModelCodegen", "SQLiteBinding", "ToolKit"],
      swiftSettings: settings),
    .testTarget(
      name: "StoreTrialsTests", dependencies: ["StoreTrials", "CoreData", "SQLiteBinding", "store-trials"],
      swiftSettings: settings),
    .testTarget(
      name: "StoreToolsTests",
      dependencies: ["StoreTools", "CoreData", "ModelFiles", "ModelSchema", "SQLiteBinding", "ToolKit"],
      swiftSettings: settings),
    .testTarget(name: "ToolKitTests", dependencies: ["ToolKit"], swiftSettings: settings),
    .testTarget(
      name: "StackShootoutTests", dependencies: ["StackShootout", "ToolKit", "coredata"],
      swiftSettings: settings),
    .testTarget(
      name: "CoreDataStackTests", dependencies: ["CoreDataStack", "CoreData", "coredata"],
      swiftSettings: settings),
    // Classes written by hand and generated ones, as a program's target has them.
    .testTarget(
      name: "SampleModelTests", dependencies: ["CoreDataStack", "CoreData"], swiftSettings: settings,
      plugins: ["CoreDataModelPlugin"]),
    .testTarget(
      name: "CoreDataTests",
      dependencies: [
        "CoreData", "ModelFiles", "ModelSchema", "PredicateLanguage", "SQLiteBinding", "ZlibBinding",
      ],
      swiftSettings: settings),
  ]
)
