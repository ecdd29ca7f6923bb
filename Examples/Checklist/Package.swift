// swift-tools-version: 6.2
import PackageDescription

// One package for an app on iOS and macOS and a tool on Linux. On Apple's platforms, CoreData is the system's
// framework and Xcode compiles the model; elsewhere this project provides both.

#if canImport(Darwin)
let plugins: [Target.PluginUsage] = []
#else
let plugins: [Target.PluginUsage] = [.plugin(name: "CoreDataModelPlugin", package: "CoreData")]
#endif

let package = Package(
  name: "Checklist",
  platforms: [.macOS(.v14), .iOS(.v17)],
  products: [.library(name: "Checklist", targets: ["Checklist"])],
  dependencies: [.package(name: "CoreData", path: "../..")],
  targets: [
    .target(
      name: "Checklist",
      dependencies: [
        .product(
          name: "CoreData", package: "CoreData",
          condition: .when(platforms: [.linux, .android, .windows, .openbsd]))
      ],
      resources: [.process("Checklist.xcdatamodeld")], plugins: plugins),
    .executableTarget(name: "ChecklistTool", dependencies: ["Checklist"]),
  ]
)
