// swift-tools-version: 6.0
// CoreDataModelPlugin of coredata VERSION (COMMIT) with its tool built already, for Linux on MACHINE: a package that uses it need not
// compile the tool. Elsewhere, use CoreDataModelPlugin of the package CoreData, which does the same:
//
//   .package(path: "coredata-plugin-VERSION-linux-MACHINE"),
//   …
//   plugins: [.plugin(name: "CoreDataPrebuiltModelPlugin", package: "coredata-plugin-VERSION-linux-MACHINE")]
import PackageDescription

let package = Package(
  name: "coredata-plugin-VERSION-linux-MACHINE",
  products: [
    .plugin(name: "CoreDataPrebuiltModelPlugin", targets: ["CoreDataPrebuiltModelPlugin"])
  ],
  targets: [
    .binaryTarget(name: "CoreDataPrebuiltCodegen", path: "coredata-codegen.artifactbundle"),
    .plugin(
      name: "CoreDataPrebuiltModelPlugin", capability: .buildTool(), dependencies: ["CoreDataPrebuiltCodegen"]
    ),
  ]
)
