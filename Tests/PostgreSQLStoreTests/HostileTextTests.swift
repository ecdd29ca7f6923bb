import CoreData
import CoreDataPostgreSQL
import Foundation
import PostgreSQLServer
import Testing

/// Text that would change a statement if it were part of it.
@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct HostileTextTests {
  private static let _texts = [
    "'; DROP TABLE person; --", "\"", "'", "\\", "$1", "?", "?{s}", "$$", "$derive$", "%", "_", "E'\\''",
    "\u{1}", "--",
    "/*", "\u{FEFF}", "NULL", "{a,b}", "{\"a\"}", ")", ";",
  ]

  @Test(arguments: _texts) func `a value is what it was, wherever it stands`(_ text: String) throws {
    let stack = try ServerStack(options: [NSPersistentHistoryTrackingKey: true])
    let context = stack.context()
    context.transactionAuthor = text
    try context.performAndWait {
      let person = context.make("Person", ["firstName": text, "age": 1])
      context.make("Tag", ["name": text])
      try context.save()
      for format in [
        "firstName == %@", "firstName CONTAINS %@", "firstName BEGINSWITH[cd] %@", "firstName IN {%@, 'z'}",
      ] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.predicate = NSPredicate(format: format, text)
        #expect(try context.fetch(request) == [person], "\(format)")
      }
      let update = NSBatchUpdateRequest(entityName: "Person")
      update.predicate = NSPredicate(format: "firstName == %@", text)
      update.propertiesToUpdate = ["firstName": text + text]
      try context.execute(update)
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.predicate = NSPredicate(format: "firstName == %@", text + text)
      #expect(try context.count(for: request) == 1)
      // Looked up by the constraint on the name.
      context.make("Tag", ["name": text])
      #expect(throws: CocoaError.self) { try context.save() }
    }
  }

  @Test(arguments: ["==", "!=", "<", "CONTAINS", "BEGINSWITH[cd]", "ENDSWITH", "LIKE", "MATCHES"])
  func `a zero byte in a constant is an error that says so`(_ comparison: String) throws {
    let context = try ServerStack().context()
    context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.predicate = NSPredicate(format: "firstName \(comparison) %@", "a\0b")
      let error = #expect(throws: (any Error).self) { try context.count(for: request) }
      #expect(error.map { "\($0)".contains("zero byte") } ?? false, "\(String(describing: error))")
    }
  }

  @Test(arguments: _texts)
  func `a table and a column may have any name`(_ name: String) throws {
    let model = TestModel.make()
    let person = model.entitiesByName["Person"]!
    person.userInfo = ["postgresql.name": "table " + name]
    person.attributesByName["firstName"]!.userInfo = ["postgresql.name": "column " + name]
    let stack = try ServerStack(model)
    let context = stack.context()
    try context.performAndWait {
      context.make("Person", ["firstName": "a", "age": 1])
      try context.save()
      #expect(try context.texts("Person", "firstName", "firstName BEGINSWITH 'a'") == ["a"])
      #expect(try context.texts("Person", "firstName", "firstName == 'a' AND age IN {1, 2}") == ["a"])
      let update = NSBatchUpdateRequest(entityName: "Person")
      update.predicate = NSPredicate(format: "firstName == 'a' AND age == 1")
      update.propertiesToUpdate = ["firstName": "b"]
      try context.execute(update)
      let request = NSFetchRequest<NSDictionary>(entityName: "Person")
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = ["firstName"]
      request.predicate = NSPredicate(format: "firstName == 'b' AND age > 0")
      #expect(try context.fetch(request).map { $0["firstName"] as? String } == ["b"])
    }
  }
}

/// Names of schemas and tables that look like several quoted names.
@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct HostileNameTests {
  private static let _names = [
    "a.b", "a\".\"b", "\".\"", "a\"", "\"a", "a b", "'",
    "\\", "\u{301}", "\"\u{301}", "'\u{301}", "\\\u{301}'", "é", "\u{1F468}\u{200D}\u{1F469}", "\"\"",
  ]

  @Test(arguments: _names) func `a schema and a table may have any name`(_ name: String) throws {
    let server = try #require(PostgreSQLServer.shared)
    var components = URLComponents(url: server.newURL(), resolvingAgainstBaseURL: false)!
    let schema = components.queryItems!.first { $0.name == "schema" }!.value! + name
    components.queryItems!.removeAll { $0.name == "schema" }
    components.queryItems!.append(URLQueryItem(name: "schema", value: schema))
    let url = components.url!
    func model(_ more: [String]) -> NSManagedObjectModel {
      let model = TestModel.make()
      model.entitiesByName["Tag"]!.userInfo = ["postgresql.name": name]
      model.entitiesByName["Tag"]!.properties += more.map { TestModel.attribute($0, .stringAttributeType) }
      return model
    }
    let first = try ServerStack(model([]), at: url)
    let context = first.context()
    try context.performAndWait {
      let person = context.make("Person", ["firstName": "p"])
      person.setValue(Set([context.make("Tag", ["name": "a"])]), forKey: "tags")
      try context.save()
    }
    try first.coordinator.remove(first.store)
    let second = try ServerStack(
      model(["added"]), at: url,
      options: [
        NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
      ]
    ).context()
    try second.performAndWait {
      second.make("Tag", ["name": "b", "added": "b"])
      try second.save()
      #expect(try second.texts("Tag", "name") == ["a", "b"])
      #expect(try second.all("Tag", "people.@count == 1").count == 1)
    }
  }
}

extension HostileNameTests {
  @Test func `tables with long names have sequences of their own`() throws {
    let server = try #require(PostgreSQLServer.shared)
    var components = URLComponents(url: server.newURL(), resolvingAgainstBaseURL: false)!
    let schema = components.queryItems!.first { $0.name == "schema" }!.value! + "a\".\"b"
    components.queryItems!.removeAll { $0.name == "schema" }
    components.queryItems!.append(URLQueryItem(name: "schema", value: schema))
    let model = TestModel.make()
    for entity in ["Tag", "Note"] {
      model.entitiesByName[entity]!.userInfo = [
        "postgresql.name": String(repeating: "x", count: 52) + entity
      ]
    }
    let stack = try ServerStack(model, at: components.url!)
    let names = try ServerSession(stack).number(
      "SELECT count(*) FROM pg_sequences WHERE schemaname = $1::text AND sequencename LIKE 'xxx%\\_id\\_seq'",
      schema)
    #expect(names == 2)
  }
}
