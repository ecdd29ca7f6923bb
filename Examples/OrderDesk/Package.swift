// swift-tools-version: 6.2
import PackageDescription

let dependencies: [Target.Dependency] = [
  .product(name: "CoreData", package: "CoreData"),
  .product(name: "CoreDataPostgreSQL", package: "CoreData"),
  .product(name: "HTTPService", package: "HTTPService"),
]
let plugins: [Target.PluginUsage] = [.plugin(name: "CoreDataModelPlugin", package: "CoreData")]

let package = Package(
  name: "OrderDesk",
  dependencies: [.package(name: "CoreData", path: "../.."), .package(path: "../HTTPService")],
  targets: [
    .executableTarget(name: "OrderDesk", dependencies: dependencies, plugins: plugins),
    // The program's next version, whose model has a second version. Of its sources only the model is a file of its own; in a
    // project of your own the next version is the next commit.
    .executableTarget(
      name: "OrderDeskNext", dependencies: dependencies, swiftSettings: [.define("NEXT")], plugins: plugins),
  ]
)
