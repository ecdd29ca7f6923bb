// swift-tools-version: 6.2
import PackageDescription

// What the services among the examples have in common, and no part of Core Data: a small server for HTTP, and the manners
// that a proxy and a container's host expect. Your own service uses the web framework that you like.
let package = Package(
  name: "HTTPService",
  products: [.library(name: "HTTPService", targets: ["HTTPService"])],
  targets: [.target(name: "HTTPService")]
)
