// swift-tools-version: 6.2
import PackageDescription

// The data layer of a long-lived application: ten model versions, a custom migrator, repositories, and test
// doubles of contexts.

let package = Package(
  name: "JournalApp",
  dependencies: [.package(name: "CoreData", path: "../..")],
  targets: [
    .executableTarget(
      name: "JournalApp",
      dependencies: [.product(name: "CoreData", package: "CoreData")],
      plugins: [.plugin(name: "CoreDataModelPlugin", package: "CoreData")])
  ]
)
