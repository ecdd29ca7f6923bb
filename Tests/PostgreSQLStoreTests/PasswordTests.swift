import CoreData
import CoreDataPostgreSQL
import Foundation
import PostgreSQLServer
import Testing

/// The password in a store's URL, which no error, description or property of a store may show.
@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct PasswordTests {
  private static let _password = "s3cr3t-w0rd"

  /// Where a URL has the password.
  enum Place: CaseIterable { case authority, query, both }

  private func _url(
    _ place: Place, schema: String? = nil, host: String? = nil, _ extra: [URLQueryItem] = []
  ) throws -> URL {
    let server = try #require(PostgreSQLServer.shared)
    var components = try #require(URLComponents(url: server.newURL(), resolvingAgainstBaseURL: false))
    if place != .query {
      components.password = Self._password
      if components.user == nil { components.user = "coredata" }
      if components.host == nil { components.host = "" }
    }
    if place != .authority {
      components.queryItems?.append(URLQueryItem(name: "password", value: Self._password))
    }
    components.queryItems =
      (components.queryItems ?? []).map { item in
        if item.name == "schema", let schema { return URLQueryItem(name: "schema", value: schema) }
        if item.name == "host", let host { return URLQueryItem(name: "host", value: host) }
        return item
      } + extra
    return try #require(components.url)
  }

  /// Everything that an error says.
  private func _text(_ error: any Error) -> String {
    let error = error as NSError
    var text = "\(error) \(error.localizedDescription) \(error.debugDescription) \(String(reflecting: error))"
    for (key, value) in error.userInfo {
      text += " \(key) \(value) \(String(reflecting: value))"
      if let url = value as? URL { text += " \(url.absoluteString)" }
      if let inner = value as? any Error { text += _text(inner) }
      for inner in value as? [any Error] ?? [] { text += _text(inner) }
    }
    return text
  }

  private func _expectFailure(_ name: String, _ body: () throws -> Void) {
    do {
      try body()
      Issue.record("\(name) succeeds")
    } catch {
      #expect(!_text(error).contains(Self._password), "\(name)")
    }
  }

  private func _open(
    _ url: URL, _ model: NSManagedObjectModel = TestModel.make(), _ options: [String: Any] = [:]
  )
    throws -> ServerStack
  {
    try ServerStack(model, at: url, options: options)
  }

  @Test(arguments: Place.allCases)
  func `no error shows it`(_ place: Place) throws {
    _expectFailure("no server") { _ = try _open(try _url(place, host: "/nowhere")) }
    _expectFailure("a schema that is the server's own") { _ = try _open(try _url(place, schema: "pg_x")) }
    _expectFailure("an option of libpq that there is not") {
      _ = try _open(try _url(place, [URLQueryItem(name: "nonsense", value: "1")]))
    }
    _expectFailure("options") {
      _ = try _open(try _url(place, [URLQueryItem(name: "options", value: "-c x")]))
    }
    _expectFailure("a wrong scheme") {
      var components = try #require(URLComponents(url: _url(place), resolvingAgainstBaseURL: false))
      components.scheme = "mysql"
      _ = try _open(try #require(components.url))
    }
    _expectFailure("a role that there is not") {
      // A pooler has a role of its own.
      let url = try #require(PostgreSQLServer.shared).directURL(_url(place))
      var components = try #require(URLComponents(url: url, resolvingAgainstBaseURL: false))
      components.user = "nobody-there"
      if components.host == nil { components.host = "" }
      _ = try _open(try #require(components.url))
    }
    _expectFailure("no store to read") {
      _ = try _open(try _url(place), TestModel.make(), [NSReadOnlyPersistentStoreOption: true])
    }
    let url = try _url(place)
    _expectFailure("metadata of nothing") {
      _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(
        ofType: NSPostgreSQLStoreType, at: url, options: nil)
    }
    let stack = try _open(url)
    let other = NSManagedObjectModel()
    other.entities = [TestModel.entity("Other")]
    _expectFailure("another model") { _ = try _open(url, other) }
    _expectFailure("another model, without a mapping") {
      _ = try _open(url, other, [NSMigratePersistentStoresAutomaticallyOption: true])
    }
    _expectFailure("a store that is added twice") {
      _ = try stack.coordinator.addPersistentStore(
        ofType: NSPostgreSQLStoreType, configurationName: nil, at: url, options: nil)
    }
    _expectFailure("a move to a file that cannot be made") {
      _ = try stack.coordinator.migratePersistentStore(
        stack.store, to: URL(fileURLWithPath: "/nowhere/x.sqlite"), options: nil, type: .sqlite)
    }
    _expectFailure("a move onto a store") {
      _ = try stack.coordinator.migratePersistentStore(
        stack.store, to: try _open(try _url(place)).url, options: nil, type: .postgreSQL)
    }
    let session = try ServerSession(stack.url)
    let context = stack.context()
    try session.connection.execute("DROP SCHEMA \(session.schema) CASCADE")
    _expectFailure("a fetch") { try context.performAndWait { _ = try context.all("Person") } }
    _expectFailure("a save") {
      try context.performAndWait {
        context.make("Person", ["age": 1])
        try context.save()
      }
    }
  }

  @Test(arguments: Place.allCases)
  func `nothing of an open store shows it`(_ place: Place) throws {
    let stack = try _open(try _url(place))
    let context = stack.context()
    let id = try context.performAndWait {
      let person = context.make("Person", ["age": 1])
      try context.save()
      return person.objectID
    }
    let texts = [
      "\(stack.store)", stack.store.debugDescription, "\(stack.coordinator)",
      stack.store.url?.absoluteString ?? "", "\(stack.coordinator.url(for: stack.store))", "\(id)",
      id.uriRepresentation().absoluteString, "\(stack.store.metadata ?? [:])", "\(context)",
      stack.store.identifier ?? "",
    ]
    #expect(texts.filter { $0.contains(Self._password) } == [])
  }
}
