import Foundation

/// The address of a store: server, database, and schema.
///
/// `postgresql://user@host:port/database?schema=name&…`; every other query item is a keyword of libpq, such
/// as `sslmode`, `passfile`, `service`, `connect_timeout`, or `host` for a socket's directory or several
/// hosts, of which the one that can be written is used. `pooler=transaction` declares a pooler in front of the server that assigns a session to each
/// transaction.
package struct PostgreSQLAddress: Sendable, Equatable {
  /// libpq's keywords with their values.
  package let settings: [String: String]
  package let schema: String
  /// Whether sessions last for one transaction only, so that they cannot hold state.
  package let isPooled: Bool
  /// The address without password, for messages and as the store's URL.
  let url: URL
  /// The schema of a store whose entity numbers a new store here continues: one that a migration fills, whose
  /// content then replaces that store's.
  let numbersFrom: String?

  /// How soon a network that lost its other end is noticed: 15 s for what was sent, a minute for a statement that is
  /// waited for.
  private static let _network = [
    "connect_timeout": "10", "tcp_user_timeout": "15000", "keepalives_idle": "30",
    "keepalives_interval": "10", "keepalives_count": "3",
  ]

  /// Whether several hosts are given, of which one is written.
  var hasSeveralHosts: Bool {
    ["host", "hostaddr"].contains { settings[$0]?.contains(",") ?? false }
  }

  /// The query item of `numbersFrom`, which only migrations set.
  static let numbersItem = "coredata_numbers"

  /// - Throws: `PostgreSQLStoreError.address` for a URL that is not that of a PostgreSQL database.
  package init(_ url: URL) throws {
    func refuse(_ reason: String) -> PostgreSQLStoreError {
      .address(
        "\(reason). A store's URL has the form postgresql://user@host:5432/database?schema=name")
    }
    guard let components = URLComponents(url: url, resolvingAgainstBaseURL: false),
      ["postgresql", "postgres"].contains(components.scheme?.lowercased())
    else { throw refuse("'\(url.scheme ?? "")' is no scheme of a PostgreSQL URL") }
    var settings = ["application_name": "CoreData", "client_encoding": "UTF8"]
    var schema = "coredata"
    var isPooled = false
    var numbersFrom: String?
    for item in components.queryItems ?? [] {
      guard let value = item.value else { throw refuse("'\(item.name)' has no value") }
      switch item.name {
      case "schema": schema = value
      case Self.numbersItem: numbersFrom = value
      case "pooler":
        guard value == "transaction" else {
          throw refuse("'\(value)' is no mode of a pooler that the store knows: there is 'transaction'")
        }
        isPooled = true
      case "client_encoding":
        guard ["UTF8", "UTF-8"].contains(value.uppercased()) else {
          throw refuse("the store's texts are in UTF8, and 'client_encoding' asks for \(value)")
        }
      case "options": throw refuse("'options' changes sessions in ways that the store does not allow for")
      default: settings[item.name] = value
      }
    }
    if let host = components.host, !host.isEmpty { settings["host"] = host }
    if let port = components.port { settings["port"] = String(port) }
    if let user = components.user, !user.isEmpty { settings["user"] = user }
    if let password = components.password { settings["password"] = password }
    let path = components.path.drop { $0 == "/" }
    if !path.isEmpty { settings["dbname"] = String(path) }
    guard !schema.isEmpty, schema.utf8.count <= 63, !schema.contains("\0"),
      !schema.lowercased().hasPrefix("pg_"), schema != "public", schema != "information_schema"
    else {
      throw refuse(
        "'\(schema)' cannot be a store's schema: it must be one of the store's own, of at most 63 bytes")
    }
    settings.merge(Self._network) { given, _ in given }
    self.settings = settings
    self.schema = schema
    self.numbersFrom = numbersFrom
    self.isPooled = isPooled
    self.url = url.withoutPasswords
  }
}
