// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "BookShelf",
  dependencies: [.package(name: "CoreData", path: "../.."), .package(path: "../HTTPService")],
  targets: [
    .executableTarget(
      name: "BookShelf",
      dependencies: [.product(name: "CoreData", package: "CoreData")],
      plugins: [.plugin(name: "CoreDataModelPlugin", package: "CoreData")]),
    // A service over HTTP, and clients that exercise it.
    .executableTarget(
      name: "BookShelfServer",
      dependencies: [
        .product(name: "CoreData", package: "CoreData"),
        .product(name: "HTTPService", package: "HTTPService"),
      ],
      plugins: [.plugin(name: "CoreDataModelPlugin", package: "CoreData")]),
    .executableTarget(name: "BookShelfVisitors", dependencies: ["BookShelfServer"]),
    // The model may also be declared as a resource.
    .executableTarget(
      name: "ReadingList",
      dependencies: [.product(name: "CoreData", package: "CoreData")],
      resources: [.process("Reading.xcdatamodeld")],
      plugins: [.plugin(name: "CoreDataModelPlugin", package: "CoreData")]),
  ]
)
