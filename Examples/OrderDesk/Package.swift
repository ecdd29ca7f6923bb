// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "OrderDesk",
  dependencies: [.package(name: "CoreData", path: "../..")],
  targets: [
    .executableTarget(
      name: "OrderDesk",
      dependencies: [
        .product(name: "CoreData", package: "CoreData"),
        .product(name: "CoreDataPostgreSQL", package: "CoreData"),
      ],
      plugins: [.plugin(name: "CoreDataModelPlugin", package: "CoreData")])
  ]
)
