// swift-tools-version: 6.2
import PackageDescription

// A data layer in a module of its own, with the class files that Xcode generates and a team checks in, and a
// program that uses it.

let package = Package(
  name: "FieldGuide",
  dependencies: [.package(name: "CoreData", path: "../..")],
  targets: [
    .target(
      name: "FieldGuideData",
      dependencies: [.product(name: "CoreData", package: "CoreData")],
      plugins: [.plugin(name: "CoreDataModelPlugin", package: "CoreData")]),
    .executableTarget(
      name: "FieldGuide",
      dependencies: ["FieldGuideData", .product(name: "CoreData", package: "CoreData")]),
  ]
)
