import CoreData
import CoreDataPostgreSQL
import CoreDataPostgreSQLBinding
import CoreDataStackShootout
import CoreDataToolKit
import Foundation

/// The stores of a shootout on a server: a schema for each, named after the run.
struct PostgreSQLSchemas: StorePlace {
  private let _url: URLComponents
  private let _version: Int
  let synchronous: String

  /// Connects once, so that a server that cannot be reached fails the command and not its first run.
  ///
  /// - Throws: `ToolFailure` with the server's message.
  init(_ text: String) throws {
    guard let url = URL(string: text), let components = URLComponents(string: text) else {
      throw ToolFailure(.usage, "The URL of '--store' has not the form postgresql://user@host/database.")
    }
    _url = components
    do {
      let connection = try PostgreSQLFloor.connection(to: PostgreSQLAddress(url))
      _version = connection.serverVersion
      synchronous = try connection.run("SELECT current_setting('synchronous_commit')").string(0, 0)
    } catch let error as PostgreSQLError {
      throw ToolFailure(.noInput, "'\(ServerStore.name(text))' cannot be reached: \(error.message)")
    } catch {
      throw ToolFailure(.usage, "'\(ServerStore.name(text))': \(error)")
    }
  }

  var floorTitle: String { "libpq" }
  var engine: String { "PostgreSQL \(_version / 10_000).\(_version % 10_000)" }
  var durability: String { "synchronous_commit=\(synchronous)" }

  func storeName(of subject: String, in directory: String) -> String {
    // The directory's name is unique to the run.
    let run = (directory as NSString).lastPathComponent
    return "\(run)_\(subject)".lowercased().replacing("-", with: "_")
  }

  func store(named name: String) throws -> ImportStore {
    var components = _url
    components.queryItems =
      (components.queryItems ?? []).filter { $0.name != "schema" } + [
        URLQueryItem(name: "schema", value: name)
      ]
    guard let url = components.url else {
      throw ToolFailure(.internalError, "There is no URL of the schema '\(name)'.")
    }
    return ImportStore(url: url, type: NSPostgreSQLStoreType)
  }

  func makeFloor(on store: ImportStore) throws -> any ImportFloor {
    // The store's own tables and indexes.
    let coordinator = try NSPersistentStoreCoordinator.forStops(in: store)
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    return try PostgreSQLFloor(PostgreSQLAddress(store.url))
  }

  func stops(in store: ImportStore) throws -> [Stop] {
    let address = try PostgreSQLAddress(store.url)
    let connection = try PostgreSQLFloor.connection(to: address)
    let result = try connection.run(
      "SELECT \"identifier\", \"name\", \"latitude\", \"longitude\" FROM \(PostgreSQLFloor.table(in: address)) ORDER BY \"id\""
    )
    return (0..<result.rowCount).map { row in
      Stop(
        identifier: result.string(row, 0), name: result.string(row, 1), latitude: result.double(row, 2),
        longitude: result.double(row, 3))
    }
  }

  func remove(_ store: ImportStore) throws {
    try NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
      .destroyPersistentStore(at: store.url, type: .postgreSQL)
  }
}
