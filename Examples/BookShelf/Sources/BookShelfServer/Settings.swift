import CoreData
import Foundation

/// Settings from the environment: the address to listen on and the path of the store.
struct Settings {
  let host: String
  let port: UInt16
  let storeURL: URL

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// - Throws: `Failure` for an invalid value.
  init(_ environment: [String: String]) throws {
    // Reachable from this machine only by default. To accept other machines, as in a container, set 0.0.0.0.
    host = environment["BOOKSHELF_HOST"] ?? "127.0.0.1"
    let port = environment["BOOKSHELF_PORT"] ?? "8080"
    guard let number = UInt16(port) else {
      throw Failure(
        description: "BOOKSHELF_PORT is '\(port)'. Give a number from 0, for any free port, to 65535.")
    }
    self.port = number
    storeURL =
      environment["BOOKSHELF_STORE"].map { URL(fileURLWithPath: $0) }
      ?? NSPersistentContainer.defaultDirectoryURL().appendingPathComponent("Catalogue.sqlite")
  }
}
