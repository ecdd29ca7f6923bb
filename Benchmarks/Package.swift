// swift-tools-version: 6.2
import PackageDescription

// Measured work, a separate package so that the main package never depends on it: Scripts/benchmark.

/// Every Swift target is built alike.
let settings: [SwiftSetting] = [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")]

/// Whether Benchmark and Growth also measure stores on a PostgreSQL server. Their scripts ask for that with
/// '--store postgresql' only: a client of PostgreSQL would add 7 MB to each process that is measured on SQLite.
let measuresServers = Context.environment["BENCHMARK_POSTGRESQL"] != nil

let package = Package(
  name: "Benchmarks",
  dependencies: [.package(name: "CoreData", path: "..")],
  targets: [
    // Processes, times, memory and SQLite's C API.
    .target(
      name: "Measuring", dependencies: [.product(name: "CoreData", package: "CoreData")],
      swiftSettings: settings),
    // The floor on PostgreSQL.
    .target(name: "CPostgreSQLFloor", linkerSettings: [.linkedLibrary("pq")]),
    .executableTarget(
      name: "Benchmark",
      dependencies: ["Measuring", .product(name: "CoreData", package: "CoreData")]
        + (measuresServers
          ? ["CPostgreSQLFloor", .product(name: "CoreDataPostgreSQL", package: "CoreData")] : []),
      exclude: measuresServers ? [] : ["PostgreSQL"],
      swiftSettings: settings + (measuresServers ? [.define("POSTGRESQL")] : []),
      plugins: [.plugin(name: "CoreDataModelPlugin", package: "CoreData")]),
    // What a program waits for when it starts, and what it holds then: Scripts/benchmark start.
    .executableTarget(
      name: "Starting",
      dependencies: [.product(name: "CoreData", package: "CoreData")],
      swiftSettings: settings,
      plugins: [.plugin(name: "CoreDataModelPlugin", package: "CoreData")]),
    .executableTarget(
      name: "EmptyProgram",
      swiftSettings: settings),
    // What a store of many rows costs: Scripts/benchmark rows.
    .executableTarget(
      name: "Rows",
      dependencies: ["Measuring", .product(name: "CoreData", package: "CoreData")],
      swiftSettings: settings,
      plugins: [.plugin(name: "CoreDataModelPlugin", package: "CoreData")]),
    // How costs grow with the work: Scripts/benchmark growth.
    .executableTarget(
      name: "Growth",
      dependencies: [
        "Measuring", .product(name: "CoreData", package: "CoreData"),
        .product(name: "SwiftData", package: "CoreData"),
      ] + (measuresServers ? [.product(name: "CoreDataPostgreSQL", package: "CoreData")] : []),
      swiftSettings: settings + (measuresServers ? [.define("POSTGRESQL")] : []),
      plugins: [.plugin(name: "CoreDataModelPlugin", package: "CoreData")]),
    // What reading the versions of a large model costs: Scripts/benchmark models.
    .executableTarget(
      name: "Models",
      dependencies: ["Measuring", .product(name: "CoreData", package: "CoreData")],
      swiftSettings: settings),
    // What SwiftData costs beside Core Data's API: Scripts/benchmark swiftdata.
    .executableTarget(
      name: "SwiftDataComparison",
      dependencies: [
        .product(name: "CoreData", package: "CoreData"), .product(name: "SwiftData", package: "CoreData"),
      ],
      swiftSettings: settings),
  ])
