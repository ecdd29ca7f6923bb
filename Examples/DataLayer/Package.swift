// swift-tools-version: 6.2
import PackageDescription

// The data layer of an app for iPhone and Mac, and its tests, which also run on Linux. On Apple's platforms,
// CoreData is the system's framework and Xcode compiles the model; elsewhere this project provides both.

#if canImport(Darwin)
let plugins: [Target.PluginUsage] = []
#else
let plugins: [Target.PluginUsage] = [.plugin(name: "CoreDataModelPlugin", package: "CoreData")]
#endif

let package = Package(
  name: "DataLayer",
  platforms: [.macOS(.v14), .iOS(.v17)],
  products: [.library(name: "Library", targets: ["Library"])],
  dependencies: [.package(name: "CoreData", path: "../..")],
  targets: [
    .target(
      name: "Library",
      dependencies: [
        .product(
          name: "CoreData", package: "CoreData",
          condition: .when(platforms: [.linux, .android, .windows, .openbsd]))
      ],
      resources: [.process("Library.xcdatamodeld")], plugins: plugins),
    .testTarget(
      name: "LibraryTests",
      dependencies: ["Library", .product(name: "CoreDataTesting", package: "CoreData")],
      exclude: ["__Snapshots__"], resources: [.copy("Fixtures")]),
  ]
)
