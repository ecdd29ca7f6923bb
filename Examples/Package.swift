// swift-tools-version: 6.2
import PackageDescription

// Small command-line programs, each in one file beside its model. Their classes are generated. Run them with
// 'swift run Books', and so on.

let settings: [SwiftSetting] = [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")]

func example(_ name: String) -> Target {
  .executableTarget(
    name: name,
    dependencies: [
      .product(name: "CoreDataStacks", package: "CoreData"),
      // The system's product if available.
      .product(
        name: "CoreData", package: "CoreData",
        condition: .when(platforms: [.linux, .android, .windows, .wasi, .openbsd])),
    ],
    swiftSettings: settings, plugins: [.plugin(name: "CoreDataModelPlugin", package: "CoreData")])
}

func swiftDataExample(_ name: String) -> Target {
  .executableTarget(
    name: name,
    dependencies: [
      // The system's product if available.
      .product(
        name: "SwiftData", package: "CoreData",
        condition: .when(platforms: [.linux, .android, .windows, .wasi, .openbsd]))
    ],
    swiftSettings: settings)
}

let package = Package(
  name: "Examples",
  platforms: [.macOS(.v15), .iOS(.v18)],
  dependencies: [.package(name: "CoreData", path: "..")],
  targets: [
    swiftDataExample("Diary"), swiftDataExample("Guestbook"),
    example("Books"), example("EditScreen"), example("WriterMainWorker"), example("Transit"),
    example("TerminalList"), example("Upgrade"),
  ])
