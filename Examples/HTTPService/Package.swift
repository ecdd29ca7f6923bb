// swift-tools-version: 6.2
import PackageDescription

// What the services among the examples have in common, and no part of Core Data: a small server for HTTP, and the manners
// that a proxy and a container's host expect. A service of one's own uses the web framework that it likes.
let package = Package(
  name: "HTTPService",
  products: [.library(name: "HTTPService", targets: ["HTTPService"])],
  targets: [.target(name: "HTTPService")]
)
