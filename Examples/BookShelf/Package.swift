// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "BookShelf",
  dependencies: [.package(name: "CoreData", path: "../..")],
  targets: [
    .executableTarget(
      name: "BookShelf",
      dependencies: [.product(name: "CoreData", package: "CoreData")],
      plugins: [.plugin(name: "CoreDataModelPlugin", package: "CoreData")])
  ]
)
