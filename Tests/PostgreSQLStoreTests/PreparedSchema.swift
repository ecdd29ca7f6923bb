import CoreData
import Foundation
import PostgreSQLServer
import Testing

@testable import CoreDataPostgreSQL

/// A schema created by the script, with a role that has only the rights which the script grants.
struct PreparedSchema {
  let session: ServerSession
  let role: String
  let url: URL
  /// URL for the owner.
  let owner: URL

  init(_ model: NSManagedObjectModel) throws {
    // The pooler knows only one role.
    let server = try #require(PostgreSQLServer.shared)
    owner = server.directURL(server.newURL())
    session = try ServerSession(owner)
    let schema = PostgreSQLNames.plain(session.schema)
    role = "\(schema) app"
    try session.connection.execute("CREATE ROLE \(PostgreSQLNames.quoted(role)) LOGIN")
    try session.connection.execute(PostgreSQLScript(model, schema: schema, role: role).text)
    try session.connection.execute("SET search_path TO \(session.schema)")
    var components = URLComponents(url: owner, resolvingAgainstBaseURL: false)!
    components.user = role
    url = components.url!
  }
}
