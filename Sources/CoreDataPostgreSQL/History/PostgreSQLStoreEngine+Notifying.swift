import CoreDataPostgreSQLBinding

// Telling other programs of saves as they happen.

extension PostgreSQLStoreEngine {
  /// Channel of the server on which saves are told of: the store's schema.
  var channel: String {
    // The server refuses longer names. Two stores that share one look once too often.
    var name = "coredata:" + address.schema
    while name.utf8.count > PostgreSQLNames.maximumLength { name.removeLast() }
    return name
  }

  /// Has the server tell those who listen of the transaction, once it is committed.
  func notify(on connection: PostgreSQLConnection) throws {
    var parameters = PostgreSQLParameters()
    parameters.add(channel)
    try connection.run("SELECT pg_notify($1::text, '')", parameters)
  }
}
