import CoreData
import CoreDataPostgreSQL
import Foundation
import PostgreSQLServer
import Testing

/// Names and letters that a server or SQL itself gives a meaning to.
@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct OddNameTests {
  private static let _schemas = [
    "we\"ird", "Ünï cödé", "semi;colon", "back\\slash", "what?", "$1", "it's", "new\nline", "select", "a.b",
    String(repeating: "ö", count: 31), "dollar$$",
  ]

  /// The URL of a schema on the tests' server.
  private func _url(_ schema: some StringProtocol) throws -> URL {
    let server = try #require(PostgreSQLServer.shared)
    var components = try #require(URLComponents(url: server.newURL(), resolvingAgainstBaseURL: false))
    components.queryItems = components.queryItems?.map {
      $0.name == "schema" ? URLQueryItem(name: "schema", value: String(schema)) : $0
    }
    return try #require(components.url)
  }

  private func _model(_ version: Int) -> NSManagedObjectModel {
    let person = TestModel.entity("Person"), student = TestModel.entity("Student")
    person.properties = [TestModel.attribute("name", .stringAttributeType)]
    person.subentities = [student]
    let team = TestModel.entity("Team")
    team.properties = [TestModel.attribute("title", .stringAttributeType)]
    TestModel.relate(person, "teams", team, "members", toMany: (true, true))
    let count = NSDerivedAttributeDescription()
    count.name = "size"
    count.attributeType = .integer64AttributeType
    count.isOptional = true
    count.derivationExpression = NSExpression(format: "members.@count")
    team.properties.append(count)
    if version == 2 { TestModel.relate(team, "lead", person, "leads", toMany: (false, true)) }
    if version == 3 { person.properties.append(TestModel.attribute("alias", .stringAttributeType)) }
    let model = NSManagedObjectModel()
    model.entities = [person, student, team]
    return model
  }

  @Test(arguments: _schemas, [2, 3])
  func `a schema may have any name`(_ schema: String, _ version: Int) throws {
    let url = try _url(schema.dropLast(schema.utf8.count > 61 ? 1 : 0) + "\(version)")
    let options: [AnyHashable: Any] = [
      NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
      NSPersistentHistoryTrackingKey: true, NSPostgreSQLNotifiesOption: true,
    ]
    let first = try ServerStack(_model(1), at: url, options: options)
    defer {
      try? first.coordinator.destroyPersistentStore(at: url, type: .postgreSQL)
    }
    let context = first.context()
    try context.performAndWait {
      let student = context.make("Student", ["name": "Ärger"])
      context.make("Team", ["title": "one"]).setValue(Set([student]), forKey: "members")
      try context.save()
    }
    try first.coordinator.remove(first.store)
    let second = try ServerStack(_model(version), at: url, options: options)
    let other = second.context()
    try other.performAndWait {
      let found = try other.texts("Person", "name", "name CONTAINS[cd] 'ARG' AND ANY teams.title == 'one'")
      #expect(found == ["Ärger"])
      let sizes = try other.all("Team").map { $0.value(forKey: "size") as? Int }
      #expect(sizes == [1])
      let request = NSBatchUpdateRequest(entityName: "Person")
      request.propertiesToUpdate = ["name": NSExpression(format: "uppercase:(name)")]
      try other.execute(request)
    }
    try second.coordinator.remove(second.store)
  }

  @Test func `regular expressions know the letters of all scripts`() throws {
    let names = ["Ärger", "ÄRGER", "ärger", "Straße", "Дом", "дом", "a b", "abc", "日本", "1,5", "", "Ω1"]
    let context = try ServerStack(_model(1)).context()
    try context.performAndWait {
      for name in names { context.make("Person", ["name": name]) }
      try context.save()
      for format in [
        #"name MATCHES '\\w+'"#, #"name MATCHES[c] 'ärger'"#, #"name MATCHES[c] 'ДОМ'"#,
        #"name MATCHES '\\W*'"#, #"name MATCHES '[а-я]+'"#, #"name MATCHES[c] '[а-я]+'"#,
        #"name MATCHES '.*\\b1.*'"#,
      ] {
        let predicate = NSPredicate(format: format)
        let found = try context.texts("Person", "name", format)
        #expect(Set(found) == Set(names.filter { predicate.evaluate(with: ["name": $0]) }), "\(format)")
      }
    }
  }

  @Test func `groups of a regular expression mean what they mean in memory`() throws {
    let names = ["abab", "ab", "aab", "abc", "catdog", "cat", "dog", "dogs", "x1", "x2y", ""]
    let context = try ServerStack(_model(1)).context()
    try context.performAndWait {
      for name in names { context.make("Person", ["name": name]) }
      try context.save()
      for pattern in [
        "(ab)+", "(?:ab)+", "(cat|dog)", "(cat|dog)+s?", "a(?=b)b.*", "(?!cat).*", "(x[0-9])(y)?", "((a)b)*",
        "(a|aa)b(c)?",
      ] {
        let predicate = NSPredicate(format: "name MATCHES %@", pattern)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.predicate = predicate
        let found = try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }
        #expect(Set(found) == Set(names.filter { predicate.evaluate(with: ["name": $0]) }), "\(pattern)")
      }
    }
  }

  @Test func `attributes may be named like the server's columns`() throws {
    let names = ["ctid", "xmin", "xmax", "cmin", "cmax", "tableoid", "oid", "id", "entity", "version"]
    let entity = TestModel.entity("Item")
    entity.properties = names.map { TestModel.attribute($0, .stringAttributeType) }
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let context = try ServerStack(model).context()
    try context.performAndWait {
      context.make("Item", Dictionary(uniqueKeysWithValues: names.map { ($0, $0) }))
      try context.save()
      context.reset()
      for name in names {
        let found = try context.texts("Item", name, "\(name) == '\(name)'")
        #expect(found == [name])
      }
    }
  }
}
