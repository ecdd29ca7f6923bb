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
    .executable(name: "coredata", targets: ["coredata"]),
  ],
  targets: [
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .target(name: "SQLiteBinding", dependencies: ["CSQLite"], swiftSettings: settings),
    .target(name: "PredicateLanguage", swiftSettings: settings),
    .target(name: "ModelSchema", swiftSettings: settings),
    .target(name: "ModelFiles", dependencies: ["ModelSchema"], swiftSettings: settings),
    .target(
      name: "CoreData",
      dependencies: ["SQLiteBinding", "PredicateLanguage", "ModelSchema", "ModelFiles"],
      swiftSettings: settings),
    .target(name: "ToolKit", swiftSettings: settings),
    .target(
      name: "StackShootout", dependencies: ["CoreData", "CSQLite", "ToolKit"],
      swiftSettings: settings),
    .executableTarget(
      name: "coredata", dependencies: ["StackShootout", "ToolKit"], swiftSettings: settings),
    .testTarget(
      name: "SQLiteBindingTests", dependencies: ["SQLiteBinding"], swiftSettings: settings),
    .testTarget(
      name: "PredicateLanguageTests", dependencies: ["PredicateLanguage"],
      swiftSettings: settings),
    .testTarget(name: "ModelSchemaTests", dependencies: ["ModelSchema"], swiftSettings: settings),
    .testTarget(
      name: "ModelFilesTests", dependencies: ["ModelFiles", "ModelSchema"],
      swiftSettings: settings),
    .testTarget(name: "ToolKitTests", dependencies: ["ToolKit"], swiftSettings: settings),
    .testTarget(
      name: "StackShootoutTests", dependencies: ["StackShootout", "ToolKit", "coredata"],
      swiftSettings: settings),
    .testTarget(
      name: "CoreDataTests",
      dependencies: ["CoreData", "ModelSchema", "PredicateLanguage", "SQLiteBinding"],
      swiftSettings: settings),
  ]
)
