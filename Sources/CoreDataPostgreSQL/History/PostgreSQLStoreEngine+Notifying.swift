import CoreDataPostgreSQLBinding

// Notifications of saves to other programs.

extension PostgreSQLStoreEngine {
  /// The server's channel for saves of this store, named after its schema.
  var channel: String {
    // The server refuses longer names. Stores that share a truncated name poll unnecessarily.
    var name = "coredata:" + address.schema
    while name.utf8.count > PostgreSQLNames.maximumLength { name.removeLast() }
    return name
  }

  /// Has the server notify listeners of the transaction once it commits.
  func notify(on connection: PostgreSQLConnection) throws {
    var parameters = PostgreSQLParameters()
    parameters.add(channel)
    try connection.run("SELECT pg_catalog.pg_notify($1::text, '')", parameters)
  }
}
